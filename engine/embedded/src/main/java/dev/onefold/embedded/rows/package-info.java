/// The rows of a shard: off the Java heap, compact, appended and never changed in place.
@NullMarked
package dev.onefold.embedded.rows;

import org.jspecify.annotations.NullMarked;
