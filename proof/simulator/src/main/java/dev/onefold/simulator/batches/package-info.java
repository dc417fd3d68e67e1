/// Seeded lives of pipelines that make batches.
@NullMarked
package dev.onefold.simulator.batches;

import org.jspecify.annotations.NullMarked;
