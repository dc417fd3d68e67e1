package dev.onefold.core.process;

import dev.onefold.core.event.Version;
import dev.onefold.core.shape.Value;
import java.util.List;
import java.util.Optional;

/// The state of a key that a function folds, as people see it.
///
/// @param key the parts of the key
/// @param version the highest version that came
/// @param code version of the function that folded it last
/// @param kept number of kept events; a late event may still be folded before them
/// @param hasGaps whether versions between the lowest that is known and the highest have not come; empty
///     where that is not known, or where versions are times or have several parts
/// @param failed versions that came and contribute nothing, because the function failed
public record KeyState(
        List<String> key,
        Version version,
        int code,
        Value.Fields context,
        int kept,
        Optional<Boolean> hasGaps,
        List<Version> failed) {
    public KeyState {
        key = List.copyOf(key);
        failed = List.copyOf(failed);
    }
}
