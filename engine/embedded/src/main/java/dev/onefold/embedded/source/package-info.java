/// The sources of records: files that can be read again or grow and are rotated, and lines cut out of
/// streams.
///
/// It is one idea: where the records of a source begin and end, and how far they are read.
@NullMarked
package dev.onefold.embedded.source;

import org.jspecify.annotations.NullMarked;
