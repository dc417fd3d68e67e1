/// Seeded lives of a deployment on simulated services.
@NullMarked
package dev.onefold.simulator.deployment;

import org.jspecify.annotations.NullMarked;
