package dev.onefold.core.state;

import dev.onefold.core.event.Version;
import java.util.Comparator;
import java.util.List;

/// The row of a key.
///
/// @param key its parts
/// @param version the highest version that came
/// @param payload contribution of that version
/// @param source the source of the record
/// @param offset of the record's first byte there
public record Row(List<String> key, Version version, Contribution payload, String source, long offset) {
    /// By version, then by payload: the maximum of a key stays.
    public static final Comparator<Row> ORDER =
            Comparator.comparing(Row::version).thenComparing(Row::payload);

    public Row {
        key = List.copyOf(key);
    }

    /// The same with another payload.
    public Row with(Contribution other) {
        return new Row(key, version, other, source, offset);
    }

    /// Whether a version is higher than this row's.
    public boolean isOlderThan(Version other) {
        return !other.isNone() && other.compareTo(version) > 0;
    }
}
