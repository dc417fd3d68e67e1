package dev.onefold.embedded.rows;

import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.event.Event;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.map.Groups;
import dev.onefold.core.map.Keep;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Horizon;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.Transition;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// A shard of rows: the current row of each key, and the cells of these rows.
public final class Rows extends Shard {
    private static final long WINDOW_SLOTS = 1 << 12;

    private final RowReader reader;
    private final LookAhead ahead;
    private final IntFunction<String> sourceName;
    private final @Nullable SegmentForgetter forgetting; // If the pipeline forgets ids, or keeps groups for a time.
    private final @Nullable Keep keep; // Rows and their contributions end, and their times are marks.
    private final boolean isAppendOnly;
    private final boolean removalIsNewer;
    private long nowMs = Keep.NOTHING_SEEN;
    private long seenMs = Keep.NOTHING_SEEN; // Before the row that is applied.
    private long bordersOfMs = Keep.NOTHING_SEEN; // The latest time seen that the two below are of.
    private long shownFromMs = Keep.NOTHING_SEEN;
    private long rowsFromMs = Keep.NOTHING_SEEN;

    private final Amounts before;
    private final Amounts after;
    private final Amounts nothing;
    private long accepted;
    private long duplicate;
    private long stale;
    private long conflicting;
    private long late; // In no group that is shown.
    private long behindDelete; // Of the stale ones.
    private long withinMillisecond; // Of the conflicting ones.

    /// @param values of each roll-up; other shards have the same ones
    public Rows(Pipeline pipeline, Groups[] groups, Values[] values, Memory memory, IntFunction<String> sourceName) {
        super(pipeline, values, new RowStore(memory, Contents.ROWS));
        this.sourceName = sourceName;
        removalIsNewer = pipeline.input().isRemovalNewer();
        reader = new RowReader(pipeline, groups);
        ahead = new LookAhead(store, 1);
        keep = Keep.of(pipeline).orElse(null);
        isAppendOnly = !(pipeline.input().identity() instanceof Identity.Versioned);
        forgetting = Horizon.ofForgetting(pipeline)
                .<SegmentForgetter.Lifetime>map(
                        horizon -> (segment, _, rowEnd) -> horizon.keptUntilMs(timeMs(segment, rowEnd)))
                .or(() -> Optional.ofNullable(keep).map(_ -> (segment, _, rowEnd) -> timeMs(segment, rowEnd)))
                .map(lifetime -> new SegmentForgetter(store, lifetime))
                .orElse(null);
        before = reader.amounts();
        after = reader.amounts();
        nothing = reader.amounts();
    }

    @Override
    public void forgetBefore(long timeMs) {
        nowMs = timeMs;
    }

    static long timeMs(Segment segment, long rowEnd) {
        return segment.memory.get(Segment.LONG, rowEnd - RowBatch.TIME_BYTES);
    }

    private int timeBytes() {
        return forgetting == null ? 0 : RowBatch.TIME_BYTES;
    }

    /// The totals stay the same: the contribution of the row is only kept elsewhere, or no group shows it.
    private void forget(Segment segment, long rowStart) {
        reader.read(segment, kindAt(segment, RowReader.keyEnd(segment, rowStart)), before);
        move(before, nothing);
        if (keep == null) {
            for (Cells each : forgotten) {
                each.move(nothing, before);
            }
        }
    }

    @Override
    public void clean() {
        if (forgetting != null) {
            forgetting.drop(nowMs, this::forget, keep != null);
        }
        super.clean();
    }

    /// Resets the counts: earlier records were counted elsewhere.
    public void resetCounts() {
        accepted = 0;
        duplicate = 0;
        stale = 0;
        conflicting = 0;
        late = 0;
        behindDelete = 0;
        withinMillisecond = 0;
    }

    @Override
    public Counts counts() {
        return new Counts(accepted, duplicate, stale, conflicting, 0, late);
    }

    @Override
    public Map<String, Long> causes() {
        Map<String, Long> causes = new HashMap<>();
        if (behindDelete > 0) {
            causes.put(Causes.BEHIND_DELETE, behindDelete);
        }
        if (late > 0) {
            causes.put(Causes.BEYOND_KEEP, late);
        }
        if (withinMillisecond > 0) {
            causes.put(Causes.WITHIN_MILLISECOND, withinMillisecond);
        }
        return causes;
    }

    /// Applies rows that arrived: decides each, and moves its contribution, in one step.
    /// What is decided depends on the rows before each alone, not on where batches begin.
    ///
    /// @param seenBeforeMs the latest time seen before the batch
    public void apply(RowBatch batch, long seenBeforeMs, Consumer<Transition.Settled> conflicts) {
        int count = batch.count;
        for (int from = 0; from < count; from += LookAhead.ROWS) {
            int to = Math.min(count, from + LookAhead.ROWS);
            ahead.read(batch, from, to);
            for (int i = from; i < to; i++) {
                seenMs = Math.max(seenBeforeMs, batch.seenMs(i));
                applyOne(batch, batch.starts[i], conflicts);
            }
        }
    }

    /// Adds the contributions of records that have no key: each counts once, by its place.
    public void applyByPlace(RowBatch batch) {
        for (int i = 0; i < batch.count; i++) {
            store.takeBack(add(batch, batch.starts[i])); // Only the memory was borrowed: such a row is not kept.
        }
    }

    /// Appends a row of a new key, and adds its contribution.
    private Segment add(RowBatch batch, int start) {
        accept(batch, start);
        Segment segment = append(batch, start);
        reader.read(segment, kindAt(segment, store.appendedAt + batch.keyLength(start)), after);
        move(nothing, after);
        return segment;
    }

    private void accept(RowBatch batch, int start) {
        if (keep != null && isEnded(keep, batch.timeMs(start, true), false)) {
            late++;
        } else {
            accepted++;
        }
    }

    /// Whether no group of a time is shown any more, or for a day.
    private boolean isEnded(Keep of, long timeMs, boolean forDay) {
        if (timeMs == Keep.NOTHING_SEEN || !of.mayHaveEnded(timeMs, seenMs)) {
            return false;
        }
        if (seenMs != bordersOfMs) {
            bordersOfMs = seenMs;
            shownFromMs = of.shownFromMs(seenMs);
            rowsFromMs = of.rowsFromMs(seenMs);
        }
        return timeMs < (forDay ? rowsFromMs : shownFromMs);
    }

    /// Whether nobody needs the row of an id that has none: it would decide nothing, because no version is
    /// above it.
    private boolean isFreedAtOnce(RowBatch batch, int start) {
        return isAppendOnly && keep != null && isEnded(keep, batch.timeMs(start, true), true);
    }

    private Segment append(RowBatch batch, int start) {
        Segment segment = store.append(batch, start);
        if (keep != null) {
            long at = store.appendedAt + batch.rowLength(start) - RowBatch.TIME_BYTES;
            long markMs = Math.max(batch.timeMs(start, true), seenMs);
            segment.memory.set(Segment.LONG, at, markMs == Keep.NOTHING_SEEN ? batch.arrivedMs : markMs);
        }
        return segment;
    }

    /// [Transition#of] on bytes, because it is asked a million times a second.
    private void applyOne(RowBatch batch, int start, Consumer<Transition.Settled> conflicts) {
        byte[] bytes = batch.bytes;
        int rowAt = start + RowBatch.HEADER_BYTES;
        int keyLength = batch.keyLength(start);
        long hash = batch.hash(start);
        long slot = store.find(hash, bytes, rowAt, keyLength);
        long entry = store.index.get(slot);
        if (entry == 0) {
            if (isFreedAtOnce(batch, start)) {
                late++;
                return;
            }
            Segment segment = add(batch, start);
            store.add(slot, hash, segment);
            return;
        }
        long location = Index.location(entry);
        Segment stored = store.segment(location);
        long at = RowStore.at(location);
        long rowStart = stored.varintEnd(at);
        long rowEnd = rowStart + stored.varint(at);
        boolean isForgotten = keep != null
                ? isEnded(keep, timeMs(stored, rowEnd), true)
                : forgetting != null && forgetting.isForgotten(stored, rowStart, rowEnd, nowMs);
        if (isForgotten) {
            if (isFreedAtOnce(batch, start)) {
                late++;
                return;
            }
            forget(stored, rowStart);
            Segment segment = add(batch, start);
            store.die(stored, at);
            store.index.set(slot, hash, RowStore.location(segment, store.appendedFrom));
            return;
        }
        long versionAt = rowStart + keyLength;
        int order = compareVersions(bytes, rowAt + keyLength, stored, versionAt);
        long kind = kindAt(stored, versionAt);
        if (order > 0) {
            accept(batch, start);
            replace(batch, start, slot, stored, at);
        } else if (order < 0) {
            stale++;
            behindDelete += isDelete(stored, kind) ? 1 : 0;
        } else if (sameContribution(batch, start, stored, kind, rowEnd)) {
            duplicate++;
            if (keep == null) { // What comes again is of the same time as its row.
                raise(batch.timeMs(start, forgetting != null), slot, hash, new Stored(stored, at, rowStart));
            }
        } else {
            settle(batch, start, slot, new Stored(stored, at, rowStart), conflicts);
        }
    }

    private record Stored(Segment segment, long at, long rowStart) {
        long rowEnd() {
            return rowStart + segment.varint(at);
        }
    }

    /// Keeps an id until the latest time of all its records: each of them may come again.
    private void raise(long timeMs, long slot, long hash, Stored stored) {
        if (forgetting == null || timeMs(stored.segment, stored.rowEnd()) >= timeMs) {
            return;
        }
        int bytes = (int) (stored.rowEnd() - stored.at);
        store.copy(stored.segment, stored.at, slot, hash); // The old copy may be under way to the disk.
        stored.segment.live -= bytes;
        Segment segment = store.segment(Index.location(store.index.get(slot)));
        segment.memory.set(Segment.LONG, store.appendedFrom + bytes - RowBatch.TIME_BYTES, timeMs);
    }

    private void settle(RowBatch batch, int start, long slot, Stored old, Consumer<Transition.Settled> conflicts) {
        Row stored = reader.row(old.segment, old.rowStart, sourceName);
        Segment segment = append(batch, start);
        Row arrived = reader.row(segment, store.appendedAt, sourceName);
        switch (Transition.of(stored, arrived, removalIsNewer)) {
            case Transition.Changed _ -> {
                accept(batch, start);
                moveTo(segment, batch.keyLength(start), slot, batch.hash(start), old);
            }
            case Transition.Stale _ -> {
                stale++;
                behindDelete++;
                store.takeBack(segment);
            }
            case Transition.Settled settled -> {
                conflicting++;
                withinMillisecond += arrived.version().isOfMillisecond() ? 1 : 0;
                settle(new Arrived(batch, start, segment), slot, old, settled.arrivedStays());
                conflicts.accept(settled);
            }
            case Transition.Duplicate _ ->
                throw new IllegalStateException(
                        "The bytes of " + arrived + " conflict with the row, and its values do not");
        }
    }

    private record Arrived(RowBatch batch, int start, Segment segment) {}

    private void settle(Arrived arrived, long slot, Stored old, boolean arrivedStays) {
        RowBatch batch = arrived.batch;
        int start = arrived.start;
        long timeMs = batch.timeMs(start, forgetting != null);
        if (arrivedStays) {
            long storedMs = forgetting == null ? timeMs : timeMs(old.segment, old.rowEnd());
            moveTo(arrived.segment, batch.keyLength(start), slot, batch.hash(start), old);
            raise(storedMs, slot, batch.hash(start), new Stored(arrived.segment, store.appendedFrom, store.appendedAt));
        } else {
            store.takeBack(arrived.segment); // Taken back: read again, it would replace the winner.
            raise(timeMs, slot, batch.hash(start), old);
        }
    }

    private void replace(RowBatch batch, int start, long slot, Segment stored, long at) {
        Segment segment = append(batch, start);
        moveTo(segment, batch.keyLength(start), slot, batch.hash(start), new Stored(stored, at, stored.varintEnd(at)));
    }

    private void moveTo(Segment segment, int keyLength, long slot, long hash, Stored old) {
        reader.read(old.segment, kindAt(old.segment, old.rowStart + keyLength), before);
        reader.read(segment, kindAt(segment, store.appendedAt + keyLength), after);
        move(before, after);
        store.die(old.segment, old.at);
        store.index.set(slot, hash, RowStore.location(segment, store.appendedFrom));
    }

    private void move(Amounts from, Amounts to) {
        for (Cells each : cells) {
            each.move(from, to);
        }
    }

    private static long kindAt(Segment segment, long version) {
        return RowReader.kindAt(segment, RowReader.versionEnd(segment, version));
    }

    private static boolean isDelete(Segment segment, long kind) {
        return segment.memory.get(ValueLayout.JAVA_BYTE, kind) == Event.Kind.DELETE.code();
    }

    private static int compareVersions(byte[] bytes, int at, Segment stored, long storedAt) {
        int length = VersionBytes.length(bytes[at]);
        for (int i = 0; i < length; i++) {
            int order = (bytes[at + i] & 0xff) - (stored.memory.get(ValueLayout.JAVA_BYTE, storedAt + i) & 0xff);
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }

    private boolean sameContribution(RowBatch batch, int start, Segment stored, long kind, long rowEnd) {
        int at = batch.kindAt(start);
        int length = start + RowBatch.HEADER_BYTES + batch.rowLength(start) - at;
        return length == rowEnd - kind && stored.matches(kind, batch.bytes, at, length - timeBytes());
    }

    @Override
    public Optional<Row> get(RowBatch.EncodedKey key) {
        long entry = store.index.get(store.find(key.hash, key.bytes, 0, key.length));
        if (entry == 0) {
            return Optional.empty();
        }
        long location = Index.location(entry);
        Segment segment = store.segment(location);
        Stored stored = new Stored(segment, RowStore.at(location), segment.varintEnd(RowStore.at(location)));
        return forgetting != null && forgetting.isForgotten(segment, stored.rowStart, stored.rowEnd(), nowMs)
                ? Optional.empty()
                : Optional.of(reader.row(segment, stored.rowStart, sourceName));
    }

    @Override
    public void forEach(int rollup, Visitor visitor) {
        Amounts amounts = reader.amounts();
        store.forEach((segment, rowStart, _) -> {
            reader.read(segment, kindAt(segment, RowReader.keyEnd(segment, rowStart)), amounts);
            visitor.row(amounts);
        });
    }

    /// All at once: a row is read only once for all roll-ups.
    @Override
    void fillCells(Amounts none) {
        forEach(0, amounts -> move(none, amounts));
    }

    /// The number of windows of [#forEachRow(long, Consumer)]. If it has changed, so has the order of the
    /// rows.
    public long windows() {
        return Math.ceilDiv(store.index.size(), WINDOW_SLOTS);
    }

    /// Visits each row of a window whole, so that the others can wait for another time.
    public void forEachRow(long window, Consumer<Row> visitor) {
        long end = Math.min((window + 1) * WINDOW_SLOTS, store.index.size());
        for (long slot = window * WINDOW_SLOTS; slot < end; slot++) {
            long entry = store.index.get(slot);
            if (entry != 0) {
                Segment segment = store.segment(Index.location(entry));
                visitor.accept(reader.row(segment, segment.varintEnd(RowStore.at(Index.location(entry))), sourceName));
            }
        }
    }

    /// Visits each row whole, in no order.
    public void forEachRow(Consumer<Row> visitor) {
        store.forEach((segment, rowStart, _) -> visitor.accept(reader.row(segment, rowStart, sourceName)));
    }
}
