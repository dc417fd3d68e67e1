package dev.onefold.embedded.fold;

import dev.onefold.core.keyed.Head;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.KeyDifference;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Key;
import dev.onefold.embedded.rows.Keys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Compares the keys and the tables of a function with those of another fold of the same definition.
final class KeyComparison {
    private final KeyedFold served;
    private final KeyedFold recomputed;
    private final List<KeyDifference> differences = new ArrayList<>();

    KeyComparison(KeyedFold served, KeyedFold recomputed) {
        this.served = served;
        this.recomputed = recomputed;
    }

    /// The keys whose contexts differ, then the rows.
    List<KeyDifference> differences() {
        served.forEachKey(this::compare);
        recomputed.forEachKey(key -> {
            if (head(served, key) == null) {
                compare(key);
            }
        });
        List<Processing.Table> tables = served.processing().tables();
        for (int table = 0; table < tables.size(); table++) {
            compareRows(table, tables.get(table).name());
        }
        return differences;
    }

    private static @Nullable Head head(KeyedFold fold, byte[] key) {
        return fold.shardOf(key).head(key);
    }

    private void compare(byte[] key) {
        Head one = head(served, key);
        Head other = head(recomputed, key);
        byte[] context = one == null ? null : one.context();
        byte[] again = other == null ? null : other.context();
        if (!Arrays.equals(context, again)) {
            add(key, "context", context, again);
        }
    }

    private void compareRows(int table, String name) {
        served.forEachRow(table, null, row -> {
            byte[] other = content(recomputed, row);
            if (!Arrays.equals(row.content(), other)) {
                add(row.owner(), place(name, row.id()), row.content(), other);
            }
        });
        recomputed.forEachRow(table, null, row -> {
            if (content(served, row) == null) {
                add(row.owner(), place(name, row.id()), null, row.content());
            }
        });
    }

    private static byte @Nullable [] content(KeyedFold fold, Keys.TableRow row) {
        return fold.shardOf(row.owner()).content(row.owner(), row.id());
    }

    private static String place(String table, RowId row) {
        return table + " " + String.join(", ", row.key().parts());
    }

    private void add(byte[] key, String place, byte @Nullable [] one, byte @Nullable [] other) {
        differences.add(new KeyDifference(Key.parts(served.state().pipeline, key), place, json(one), json(other)));
    }

    private static String json(byte @Nullable [] content) {
        return content == null ? "" : Value.read(content).toJson();
    }
}
