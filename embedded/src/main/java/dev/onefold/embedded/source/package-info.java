/// The sources of records: files that can be read again or grow and are rotated, and lines cut out of
/// streams.
@NullMarked
package dev.onefold.embedded.source;

import org.jspecify.annotations.NullMarked;
