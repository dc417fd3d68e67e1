package dev.onefold.core.keyed;

import dev.onefold.core.keyed.Head.Window;
import dev.onefold.core.keyed.Kept.Image;
import dev.onefold.core.keyed.Kept.Undo;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The events that are kept of a key, and the runs of versions that were. Not thread-safe.
final class KeptEvents {
    /// Greatest number of runs of versions that are in and not kept any more; versions below the lowest run
    /// are unknown.
    static final int RUNS_MAX = 32;

    private final Store store;
    private final int keep;
    private Runs runs;
    private Window window;
    private @Nullable TreeMap<Long, Kept> live; // By ordinal; null until it is needed.
    private final TreeMap<Long, Kept> added = new TreeMap<>();
    private final List<Long> dropped = new ArrayList<>();
    private @Nullable Base base; // As it is now, where it was read or made.
    private boolean isBaseNew;
    private boolean dropsBase;

    KeptEvents(Head head, Store store, int keep) {
        this.store = store;
        this.keep = keep;
        runs = head.runs();
        window = head.window();
    }

    Runs runs() {
        return runs;
    }

    Window window() {
        return window;
    }

    /// Events that are to be stored.
    List<Kept> added() {
        return List.copyOf(added.values());
    }

    /// Ordinals of stored events that are kept no longer.
    List<Long> dropped() {
        return dropped;
    }

    /// The base that is to be stored; `null` if there is no new one.
    @Nullable
    Base newBase() {
        return isBaseNew ? base : null;
    }

    /// Whether the stored base is read no more, and no other takes its place.
    boolean dropsBase() {
        return dropsBase && !isBaseNew;
    }

    /// The kept events, in the order of their versions.
    List<Kept> sorted() {
        return live().values().stream().sorted(Kept.BY_VERSION).toList();
    }

    private SortedMap<Long, Kept> live() {
        if (live == null) {
            TreeMap<Long, Kept> all = new TreeMap<>();
            if (window.count() > 0) {
                store.kept(window.lowest()).forEach(each -> all.put(each.ordinal(), each));
                all.putAll(added);
                Set<Long> named = new HashSet<>();
                if (window.baseCount() > 0) {
                    base().events().forEach(event -> named.add(event.ordinal()));
                }
                all.keySet()
                        .removeIf(ordinal ->
                                ordinal < window.first() && !named.contains(ordinal) || ordinal >= window.next());
                if (all.size() != window.count()) {
                    throw new IllegalStateException(
                            "Of " + window.count() + " events that are kept of a key, " + all.size() + " are stored");
                }
            }
            live = all;
        }
        return live;
    }

    private Base base() {
        if (base == null) {
            base = store.base();
        }
        return base;
    }

    /// Whether an event contributes nothing since the last time that it was folded.
    boolean isSkipped(Kept kept) {
        return kept.ordinal() >= window.first()
                ? kept.isSkipped()
                : base().events().stream().anyMatch(event -> event.ordinal() == kept.ordinal() && event.isSkipped());
    }

    /// The number of oldest events beyond the limits. The beginning of a key's window is computed here only.
    int excess(List<Kept> kept) {
        long bytes = 0;
        for (int at = kept.size() - 1; at >= 0; at--) {
            bytes += kept.get(at).bytes();
            if (kept.size() - at > keep || bytes > KeyFold.BYTES_MAX) {
                return at + 1;
            }
        }
        return 0;
    }

    /// The highest version that no event can be folded before any more; `null` if there is none.
    @Nullable
    BigInteger below(List<Kept> kept) {
        int out = excess(kept);
        return out > 0 ? kept.get(out - 1).version() : runs.highest();
    }

    /// The context below all kept events, and in `rows` the content below them of the rows that they have
    /// written.
    byte[] below(Map<RowId, byte @Nullable []> rows) {
        byte[] context = null;
        if (window.baseCount() > 0) {
            context = base().context();
            base().rows().forEach(image -> rows.put(image.row(), image.content()));
        }
        for (Kept each : live().tailMap(window.first()).values()) {
            Undo undo = Objects.requireNonNull(each.undo());
            context = context == null ? undo.context() : context;
            for (Image image : undo.rows()) {
                if (!rows.containsKey(image.row())) {
                    rows.put(image.row(), image.content());
                }
            }
        }
        if (context == null) {
            throw new IllegalStateException("Nothing is kept of the key");
        }
        return context;
    }

    /// The ordinal of the next event.
    long next() {
        return window.next();
    }

    /// Keeps an event above all others.
    void append(Kept kept) {
        added.put(kept.ordinal(), kept);
        if (live != null) {
            live.put(kept.ordinal(), kept);
        }
        boolean first = window.count() == 0;
        window = new Window(
                first ? kept.ordinal() : window.lowest(),
                first ? kept.ordinal() : window.first(),
                kept.ordinal() + 1,
                window.baseCount(),
                window.bytes() + kept.bytes(),
                window.codeFloor());
        if (kept.bytes() > KeyFold.BYTES_MAX) {
            release(window.count());
        } else if (window.count() > 2 * keep || window.bytes() > 2 * KeyFold.BYTES_MAX) {
            slide();
        }
    }

    /// If `keep` was greater at the last refold, the events of its base stay until all of them may leave,
    /// because the undo data of each of them is not known.
    private void slide() {
        List<Kept> kept = sorted();
        int out = excess(kept);
        if (kept.get(out).ordinal() >= window.first()) {
            release(out);
        }
    }

    /// Releases the oldest events. Those that stay have their undo data: only the events of a base have none, at
    /// most `keep` of them and [KeyFold#BYTES_MAX] bytes, and the window slides when twice as much is there.
    private void release(int out) {
        List<Kept> kept = sorted();
        if (out < kept.size() && kept.get(out).ordinal() < window.first()) {
            throw new IllegalStateException("Events of a key would be kept without what they undo");
        }
        long bytes = window.bytes();
        for (Kept each : kept.subList(0, out)) {
            leave(each);
            bytes -= each.bytes();
        }
        dropsBase |= window.baseCount() > 0;
        base = null;
        isBaseNew = false;
        long first = out < kept.size() ? kept.get(out).ordinal() : window.next();
        window = new Window(first, first, window.next(), 0, bytes, window.codeFloor());
    }

    /// Releases all events: another version of the function continues from the latest context.
    void releaseAll(BigInteger highest) {
        release(window.count());
        window = new Window(window.lowest(), window.first(), window.next(), 0, window.bytes(), highest);
    }

    private void leave(Kept kept) {
        runs = runs.with(kept.version(), RUNS_MAX);
        drop(kept);
    }

    private void drop(Kept kept) {
        live().remove(kept.ordinal());
        if (added.remove(kept.ordinal()) == null && kept.ordinal() < window.next()) {
            dropped.add(kept.ordinal());
        }
    }

    /// Takes over the events that a refold kept.
    ///
    /// @param replaced an event whose place another content takes; `null`: none
    void take(Refold.Outcome outcome, @Nullable Kept replaced) {
        if (replaced != null) {
            drop(replaced);
        }
        long next = window.next();
        long bytes = 0;
        for (Kept each : outcome.stays()) {
            if (live().put(each.ordinal(), each) == null) {
                added.put(each.ordinal(), each);
                next = each.ordinal() + 1;
            }
            bytes += each.bytes();
        }
        for (Kept each : outcome.leaves()) {
            leave(each);
            next = Math.max(next, each.ordinal() + 1);
        }
        dropsBase |= window.baseCount() > 0;
        base = outcome.base();
        int count = outcome.stays().size();
        isBaseNew = count > 0;
        long lowest = count == 0 ? next : live().firstKey();
        window = new Window(lowest, next, next, count, bytes, window.codeFloor());
    }
}
