/// Seeded lives of a pipeline with a function per key.
@NullMarked
package dev.onefold.simulator.keyed;

import org.jspecify.annotations.NullMarked;
