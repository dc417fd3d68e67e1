/// What lies between a process and a simulated service.
@NullMarked
package dev.onefold.simulator.wire;

import org.jspecify.annotations.NullMarked;
