package dev.onefold.core;

import dev.onefold.core.state.Contribution;
import java.util.List;

/// The row of a key.
///
/// @param key its parts
/// @param version as text; empty in a pipeline without versions
/// @param contribution what it contributes now
/// @param source where the record came from
/// @param offset of the record's first byte there
public record StoredRow(List<String> key, String version, Contribution contribution, String source, long offset) {
    public StoredRow {
        key = List.copyOf(key);
    }
}
