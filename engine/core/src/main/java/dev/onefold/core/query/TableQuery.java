package dev.onefold.core.query;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// A query of a function's tables.
///
/// @param tables names of the tables; the answer is one cut of all of them
/// @param key the parts of the pipeline's key whose rows are wanted; of a table that several keys write, the
///     first parts of the rows' own key, or all; empty: all rows
/// @param limit greatest number of rows of each table, 1 and more
public record TableQuery(List<String> tables, Optional<List<String>> key, long limit) {
    public TableQuery {
        tables = List.copyOf(Objects.requireNonNull(tables, "The tables are null"));
        key = key.map(List::copyOf);
        if (tables.isEmpty()) {
            throw new IllegalArgumentException("No table is named");
        }
        if (key.filter(List::isEmpty).isPresent()) {
            throw new IllegalArgumentException("The key has no part");
        }
        if (limit < 1) {
            throw new IllegalArgumentException("The limit is " + limit + "; it is 1 or more");
        }
    }
}
