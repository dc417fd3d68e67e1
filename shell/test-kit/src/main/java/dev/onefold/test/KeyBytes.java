package dev.onefold.test;

import dev.onefold.core.keyed.Base;
import dev.onefold.core.keyed.Change;
import dev.onefold.core.keyed.Head;
import dev.onefold.core.keyed.Kept;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.keyed.Store;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The stored state of one key, as bytes. Not thread-safe.
final class KeyBytes implements Store {
    private byte @Nullable [] head;
    private byte @Nullable [] base;
    private final TreeMap<Long, byte[]> kept = new TreeMap<>();
    private final TreeMap<RowId, byte[]> rows = new TreeMap<>();

    @Override
    public List<Kept> kept(long from) {
        return kept.tailMap(from).values().stream().map(Kept::read).toList();
    }

    @Override
    public Base base() {
        return Base.read(Objects.requireNonNull(base, "There is no base"));
    }

    @Override
    public Map<RowId, byte[]> rows(Collection<RowId> wanted) {
        Map<RowId, byte[]> found = new HashMap<>(rows);
        found.keySet().retainAll(wanted);
        return found;
    }

    SortedMap<RowId, byte[]> rows() {
        return rows;
    }

    @Nullable
    Head head() {
        return head == null ? null : Head.read(head);
    }

    /// Stores all of a change, if the key is still at the revision that it was made from; else nothing.
    boolean store(Change change) {
        Head before = head();
        if (change.head().revision() != (before == null ? 0 : before.revision()) + 1) {
            return false;
        }
        head = change.head().encoded();
        change.kept().forEach(each -> kept.put(each.ordinal(), each.encoded()));
        change.dropped().forEach(kept::remove);
        if (change.dropsBase()) {
            base = null;
        } else if (change.base() != null) {
            base = change.base().encoded();
        }
        change.rows().forEach(row -> {
            byte[] after = row.after();
            if (after == null) {
                rows.remove(row.row());
            } else {
                rows.put(row.row(), after);
            }
        });
        return true;
    }
}
