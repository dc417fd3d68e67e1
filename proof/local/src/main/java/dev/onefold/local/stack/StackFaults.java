package dev.onefold.local.stack;

import dev.onefold.local.function.FunctionFaults;
import dev.onefold.local.gate.Faults;

/// What goes wrong on the way.
///
/// @param seed of all that is drawn
/// @param faults of requests to services
/// @param state of invocations of the function that takes the input: State or Collect
/// @param reduce of invocations of the other functions
/// @param mappings of event source mappings: the chance of each kind, from 0 to 1
public record StackFaults(long seed, Faults faults, FunctionFaults state, FunctionFaults reduce, double mappings) {
    /// Everything works.
    public static final StackFaults NONE = new StackFaults(0, Faults.NONE, FunctionFaults.NONE, FunctionFaults.NONE, 0);
}
