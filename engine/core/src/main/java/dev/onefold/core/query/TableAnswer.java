package dev.onefold.core.query;

import dev.onefold.core.shape.Value;
import java.util.List;

/// Rows of the tables of a function, of one consistent cut.
///
/// @param tables in the order in which they were asked for
/// @param cut the cut that it is of
public record TableAnswer(List<Table> tables, Answer.Cut cut) {
    public TableAnswer {
        tables = List.copyOf(tables);
    }

    /// The rows of a table, in the order of the UTF-8 bytes of their keys.
    ///
    /// @param columns the names of the components; those of its type if the function says it, else those of
    ///     the rows
    /// @param rows valid until the reader of the answer returns
    public record Table(String name, List<String> columns, List<Value.Fields> rows) {
        public Table {
            columns = List.copyOf(columns);
        }
    }
}
