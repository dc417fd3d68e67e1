/// Whole runs of the engine beside the floor: what the same work costs in plain Java without any guarantee. Never
/// shipped.
@NullMarked
package dev.onefold.benchmark;

import org.jspecify.annotations.NullMarked;
