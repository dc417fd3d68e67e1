/// The simulator as a program.
@NullMarked
package dev.onefold.simulator;

import org.jspecify.annotations.NullMarked;
