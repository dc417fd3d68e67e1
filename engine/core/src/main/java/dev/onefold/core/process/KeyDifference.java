package dev.onefold.core.process;

import java.util.List;

/// A difference between the stored state of a key and the result of folding its kept events.
///
/// @param key the parts of the key
/// @param what `context`, or the name of a table and the key of a row
/// @param stored the stored value, as JSON; empty if there is none
/// @param recomputed the recomputed value, as JSON; empty if there is none
public record KeyDifference(List<String> key, String what, String stored, String recomputed) {
    public KeyDifference {
        key = List.copyOf(key);
    }
}
