package dev.onefold.process;

import java.util.List;
import java.util.Objects;

/// The change of one row of a table by one step.
public sealed interface Write {
    /// The table's name in the pipeline file.
    String table();

    /// The row is as given, whether or not one with its key was there.
    record Put(String table, Record row) implements Write {
        public Put {
            Objects.requireNonNull(table, "The table is null");
            Objects.requireNonNull(row, "The row is null");
        }
    }

    /// No row has this key.
    ///
    /// @param key the values of the table's key, in the order in which the pipeline file has them
    record Remove(String table, List<Object> key) implements Write {
        public Remove {
            Objects.requireNonNull(table, "The table is null");
            key = List.copyOf(key);
        }
    }
}
