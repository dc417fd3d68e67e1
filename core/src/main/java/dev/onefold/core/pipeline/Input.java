package dev.onefold.core.pipeline;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// What an event is, and what makes it the same again.
///
/// @param delete a record for which it holds deletes its key
/// @param filter a record for which it does not hold contributes nothing, yet replaces its predecessor
public record Input(
        Format format,
        Identity identity,
        @Nullable EventTime time,
        @Nullable Condition delete,
        @Nullable Condition filter) {

    /// Where a record says when it happened.
    public record EventTime(FieldPath field, TimeType type) {}

    /// How the bytes of a record are read.
    public sealed interface Format {
        /// One JSON object a record.
        record Json() implements Format {}

        /// One RFC 4180 line a record; without columns, the first line of each source names them.
        record Csv(char delimiter, List<String> columns) implements Format {
            public Csv {
                columns = List.copyOf(columns);
            }
        }
    }
}
