package dev.onefold.core.keyed;

import dev.onefold.core.event.Tuple;

/// A row of a table.
///
/// @param table its number in the pipeline
/// @param key the texts of its key's components, in the pipeline's order
public record RowId(int table, Tuple key) implements Comparable<RowId> {
    @Override
    public int compareTo(RowId other) {
        return table == other.table ? key.compareTo(other.key) : Integer.compare(table, other.table);
    }
}
