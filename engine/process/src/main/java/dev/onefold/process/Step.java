package dev.onefold.process;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// One event folded into its key: the next context, and the writes to tables in their order. Of several
/// writes to one row the last one counts. Immutable: each method returns another step.
public record Step<C extends Record>(C context, List<Write> writes) {
    public Step {
        Objects.requireNonNull(context, "The context is null");
        writes = List.copyOf(writes);
    }

    /// A step to a context that writes nothing.
    public static <C extends Record> Step<C> to(C context) {
        return new Step<>(context, List.of());
    }

    /// Puts a row into a table, in place of the row with the same key.
    ///
    /// @param table its name in the pipeline file
    public Step<C> put(String table, Record row) {
        return with(new Write.Put(table, row));
    }

    /// Removes the row with this key from a table, if it is there.
    ///
    /// @param table its name in the pipeline file
    /// @param key the values of the table's key, in the order in which the pipeline file has them
    public Step<C> remove(String table, Object... key) {
        return with(new Write.Remove(table, List.of(key)));
    }

    private Step<C> with(Write write) {
        List<Write> more = new ArrayList<>(writes);
        more.add(write);
        return new Step<>(context, more);
    }
}
