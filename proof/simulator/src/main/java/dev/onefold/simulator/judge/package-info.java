/// What an engine must answer, said by the oracle.
@NullMarked
package dev.onefold.simulator.judge;

import org.jspecify.annotations.NullMarked;
