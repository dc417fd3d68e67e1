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
    private final StepFunction function;
    private final Map<RowId, Row> rows = new TreeMap<>();

    private static final class Row {
        final byte @Nullable [] before;
        final @Nullable List<String> other; // Another key, which owns it.
        byte @Nullable [] now;

        Row(byte @Nullable [] before, @Nullable List<String> other) {
            this.before = before;
            this.other = other;
            this.now = before;
        }
    }

    TableRows(Store store, StepFunction function) {
        this.store = store;
        this.function = function;
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
                byte[] content = stored.get(row);
                boolean mayBeAnothers = content == null && function.isShared(row.table());
                rows.put(row, new Row(content, mayBeAnothers ? store.otherOwner(row) : null));
            }
        }
    }

    /// The content of a row that was loaded, as it is now; `null` if it is not there.
    byte @Nullable [] now(RowId row) {
        return Objects.requireNonNull(rows.get(row)).now;
    }

    /// Says which of some loaded rows another key owns; `null` if none.
    @Nullable
    String others(Collection<RowId> wanted) {
        for (RowId row : wanted) {
            List<String> other = function.isShared(row.table()) ? Objects.requireNonNull(rows.get(row)).other : null;
            if (other != null) {
                return "row " + String.join(", ", row.key().parts()) + " of table "
                        + function.processing().tables().get(row.table()).name() + ", which key "
                        + String.join(", ", other) + " owns";
            }
        }
        return null;
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
