/// The rows of a shard: off the Java heap, compact, appended and never changed in place. It is one idea: records of
/// three kinds in one store, with its segments, index and cleaning.
@NullMarked
package dev.onefold.embedded.rows;

import org.jspecify.annotations.NullMarked;
