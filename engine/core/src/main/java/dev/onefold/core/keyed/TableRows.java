package dev.onefold.core.keyed;

import dev.onefold.core.keyed.Change.RowChange;
import dev.onefold.core.keyed.Kept.Image;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The rows of a key's tables, as they are stored and as they are now. Not thread-safe.
final class TableRows {
    private final Store store;
    private final Map<RowId, Row> rows = new TreeMap<>();

    private static final class Row {
        final byte @Nullable [] before;
        byte @Nullable [] now;

        Row(byte @Nullable [] before) {
            this.before = before;
            this.now = before;
        }
    }

    TableRows(Store store) {
        this.store = store;
    }

    /// Reads rows that were not read yet.
    void load(Collection<RowId> wanted) {
        if (wanted.isEmpty()) {
            return;
        }
        List<RowId> missing = new ArrayList<>(wanted.size());
        for (RowId row : wanted) {
            if (!rows.containsKey(row)) {
                missing.add(row);
            }
        }
        if (!missing.isEmpty()) {
            Map<RowId, byte[]> stored = store.rows(missing);
            for (RowId row : missing) {
                rows.put(row, new Row(stored.get(row)));
            }
        }
    }

    /// The content of a row that was loaded, as it is now; `null` if it is not there.
    byte @Nullable [] now(RowId row) {
        return Objects.requireNonNull(rows.get(row)).now;
    }

    /// Loaded rows as they are now.
    List<Image> images(Collection<RowId> wanted) {
        return wanted.stream().map(row -> new Image(row, now(row))).toList();
    }

    /// The changes that these writes to loaded rows would make to their current content.
    List<RowChange> changes(Map<RowId, byte @Nullable []> writes) {
        List<RowChange> changes = new ArrayList<>();
        writes.forEach((row, content) -> {
            byte[] now = now(row);
            if (!Arrays.equals(now, content)) {
                changes.add(new RowChange(row, now, content));
            }
        });
        return changes;
    }

    void write(Map<RowId, byte @Nullable []> writes) {
        writes.forEach((row, content) -> Objects.requireNonNull(rows.get(row)).now = content);
    }

    /// The changes from the stored rows to the current ones.
    List<RowChange> changes() {
        List<RowChange> changes = new ArrayList<>(rows.size());
        rows.forEach((row, content) -> {
            if (!Arrays.equals(content.before, content.now)) {
                changes.add(new RowChange(row, content.before, content.now));
            }
        });
        return changes;
    }
}
