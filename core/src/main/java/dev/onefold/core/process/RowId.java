package dev.onefold.core.process;

import dev.onefold.core.event.Tuple;
import java.util.Comparator;

/// A row of a table.
///
/// @param table its number in the pipeline
/// @param key the texts of its key's components, in the pipeline's order
public record RowId(int table, Tuple key) implements Comparable<RowId> {
    private static final Comparator<RowId> ORDER =
            Comparator.comparingInt(RowId::table).thenComparing(RowId::key);

    @Override
    public int compareTo(RowId other) {
        return ORDER.compare(this, other);
    }
}
