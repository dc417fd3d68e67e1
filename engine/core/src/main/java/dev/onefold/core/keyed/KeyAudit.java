package dev.onefold.core.keyed;

import dev.onefold.core.keyed.Change.RowChange;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.core.process.KeyDifference;
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

    /// The differences of a key; none if nothing is kept of it.
    ///
    /// @param key as an event has it
    public static List<KeyDifference> of(StepFunction function, byte[] key, Head head, Store store) {
        return of(function, Key.parts(function.pipeline(), key), head, store);
    }

    private static List<KeyDifference> of(StepFunction function, List<String> key, Head head, Store store) {
        Processing processing = function.processing();
        KeptEvents kept = new KeptEvents(head, store, processing.keep());
        if (processing.order() != Order.IN_ORDER || kept.window().count() == 0 || head.code() != processing.version()) {
            return List.of();
        }
        TableRows tables = new TableRows(store);
        Refold.Outcome outcome = new Refold(function, key, kept, tables, head.code()).of(kept.sorted());
        List<KeyDifference> differences = new ArrayList<>();
        if (!Arrays.equals(outcome.context(), head.context())) {
            differences.add(new KeyDifference(key, "context", json(head.context()), json(outcome.context())));
        }
        for (RowChange change : tables.changes(outcome.rows())) {
            String row = processing.tables().get(change.row().table()).name() + " "
                    + String.join(", ", change.row().key().parts());
            differences.add(new KeyDifference(key, row, json(change.before()), json(change.after())));
        }
        return differences;
    }

    private static String json(byte @Nullable [] content) {
        return content == null
                ? ""
                : Value.read(Objects.requireNonNull(content)).toJson();
    }
}
