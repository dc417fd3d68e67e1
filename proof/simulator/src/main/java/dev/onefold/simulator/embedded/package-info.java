/// Whole lives of the embedded engine on a simulated disk, judged by the oracle.
@NullMarked
package dev.onefold.simulator.embedded;

import org.jspecify.annotations.NullMarked;
