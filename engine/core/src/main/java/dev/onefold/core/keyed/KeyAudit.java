package dev.onefold.core.keyed;

import dev.onefold.core.keyed.Change.RowChange;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Key;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Folds the kept events of a key again, and compares the result with the stored state.
public final class KeyAudit {
    private KeyAudit() {}

    /// A difference between the stored state of a key and the result of folding its kept events.
    ///
    /// @param key the parts of the key
    /// @param what `context`, or the name of a table and the key of a row
    /// @param stored the stored value, as JSON; empty if there is none
    /// @param recomputed the recomputed value, as JSON; empty if there is none
    public record Difference(List<String> key, String what, String stored, String recomputed) {
        public Difference {
            key = List.copyOf(key);
        }
    }

    /// The differences of a key; none if nothing is kept of it.
    ///
    /// @param key as an event has it
    public static List<Difference> of(StepFunction function, byte[] key, Head head, Store store) {
        return of(function, Key.parts(function.pipeline(), key), head, store);
    }

    private static List<Difference> of(StepFunction function, List<String> key, Head head, Store store) {
        Processing processing = function.processing();
        KeptEvents kept = new KeptEvents(head, store, processing.keep());
        if (processing.order() != Order.IN_ORDER || kept.window().count() == 0 || head.code() != processing.version()) {
            return List.of();
        }
        TableRows tables = new TableRows(store);
        Refold.Outcome outcome = new Refold(function, key, kept, tables, head.code()).of(kept.sorted());
        List<Difference> differences = new ArrayList<>();
        if (!Arrays.equals(outcome.context(), head.context())) {
            differences.add(new Difference(key, "context", json(head.context()), json(outcome.context())));
        }
        for (RowChange change : tables.changes(outcome.rows())) {
            String row = processing.tables().get(change.row().table()).name() + " "
                    + String.join(", ", change.row().key().parts());
            differences.add(new Difference(key, row, json(change.before()), json(change.after())));
        }
        return differences;
    }

    private static String json(byte @Nullable [] content) {
        return content == null
                ? ""
                : Value.read(Objects.requireNonNull(content)).toJson();
    }
}
