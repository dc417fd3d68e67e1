/// The fourth room: deltas merged, and committed with their marks.
@NullMarked
package dev.onefold.core.reduce;

import org.jspecify.annotations.NullMarked;
