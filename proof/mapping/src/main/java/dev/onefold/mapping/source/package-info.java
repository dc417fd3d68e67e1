/// What a mapping reads: the shards of a stream of Kinesis or of a table, as records in the JSON that a function gets.
@NullMarked
package dev.onefold.mapping.source;

import org.jspecify.annotations.NullMarked;
