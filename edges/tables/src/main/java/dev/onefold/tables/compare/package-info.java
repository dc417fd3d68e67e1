/// Compares an engine's rows with the table that they come from, while both change, and repairs the
/// differences.
@NullMarked
package dev.onefold.tables.compare;

import org.jspecify.annotations.NullMarked;
