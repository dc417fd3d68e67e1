package dev.onefold.local.stack;

import dev.onefold.local.function.Misfortune;
import dev.onefold.local.gate.Faults;

/// What goes wrong on the way.
///
/// @param seed of all that is drawn
/// @param faults of requests
/// @param state of invocations of State
/// @param reduce of invocations of Reduce
/// @param nastiness of mappings, each kind of it: a chance from 0 to 1
public record Chaos(long seed, Faults faults, Misfortune state, Misfortune reduce, double nastiness) {
    /// Everything works.
    public static final Chaos NONE = new Chaos(0, Faults.NONE, Misfortune.NONE, Misfortune.NONE, 0);
}
