package dev.onefold.core.pipeline;

import java.util.List;

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
