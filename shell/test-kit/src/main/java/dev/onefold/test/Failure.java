package dev.onefold.test;

import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.shape.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A mistake of a function.
///
/// @param details for a person, in lines
record Failure(Kind kind, String details) {
    private static final int SHOWN_MAX = 5;

    /// The kind of a mistake.
    enum Kind {
        /// Equal arguments had different results.
        IMPURE,
        /// A call did not return in time.
        SLOW,
        /// It threw where it must not, or a context cannot be read.
        BROKEN,
        /// The stored state is not the result of the accepted events.
        WRONG,
        /// The result depends on the order of arrival, which the pipeline's order allows.
        ORDER,
        /// Two keys write one row, and which of them owns it depends on the order of arrival.
        OWNERS
    }

    /// The differences between two states of all keys; empty if there are none.
    ///
    /// @param keyParts function from a key to its parts
    static String differences(
            Processing processing,
            Function<Tuple, List<String>> keyParts,
            Map<Tuple, Folded> expected,
            Map<Tuple, Folded> actual) {
        List<String> found = new ArrayList<>();
        TreeSet<Tuple> keys = new TreeSet<>(expected.keySet());
        keys.addAll(actual.keySet());
        for (Tuple key : keys) {
            Folded right = expected.get(key);
            Folded is = actual.get(key);
            Map<RowId, byte[]> rightRows = right == null ? Map.of() : right.rows();
            Map<RowId, byte[]> rows = is == null ? Map.of() : is.rows();
            TreeSet<RowId> all = new TreeSet<>(rightRows.keySet());
            all.addAll(rows.keySet());
            for (RowId row : all) {
                String table = processing.tables().get(row.table()).name();
                add(found, "table " + table + ", row " + words(row.key().parts()), rightRows.get(row), rows.get(row));
            }
            add(
                    found,
                    "context of key " + words(keyParts.apply(key)),
                    right == null ? null : right.context(),
                    is == null ? null : is.context());
        }
        int more = found.size() - SHOWN_MAX;
        return found.stream().limit(SHOWN_MAX).collect(Collectors.joining())
                + (more > 0 ? "and " + more + " more\n" : "");
    }

    private static String words(List<String> parts) {
        return String.join(", ", parts);
    }

    private static void add(List<String> found, String what, byte @Nullable [] expected, byte @Nullable [] actual) {
        if (!Arrays.equals(expected, actual)) {
            found.add(what + "\n  expected  " + json(expected) + "\n  actual    " + json(actual) + "\n");
        }
    }

    private static String json(byte @Nullable [] content) {
        return content == null ? "none" : Value.read(content).toJson();
    }
}
