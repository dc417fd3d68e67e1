package dev.onefold.embedded.rows;

import dev.onefold.core.Counts;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.state.Horizon;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.Transition;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// One shard: the current row of each of its keys, and the cells that these rows come to. Owned by one thread at a
/// time.
public final class Rows {
    private static final long WINDOW_SLOTS = 1 << 12;

    private final RowReader reader;
    private final Cells[] cells;
    private final RowStore store;
    private final LookAhead ahead;
    private final IntFunction<String> sourceName;
    private final @Nullable RowStore kept;
    private final @Nullable Keys keys; // If a function folds the pipeline.
    private final @Nullable Claims claims; // If the pipeline makes batches.

    /// The amounts of the rows that were forgotten, by roll-up.
    private final Cells[] forgotten;
    private final @Nullable Forgetting forgetting; // If the pipeline forgets ids.
    private final boolean removalIsNewer;
    private long nowMs = Long.MIN_VALUE;

    private final Amounts before;
    private final Amounts after;
    private final Amounts nothing;
    private long accepted;
    private long duplicate;
    private long stale;
    private long conflicting;

    /// @param values of each roll-up; other shards have the same ones
    public Rows(Pipeline pipeline, Groups[] groups, Values[] values, Memory memory, IntFunction<String> sourceName) {
        this.sourceName = sourceName;
        removalIsNewer = pipeline.input().isRemovalNewer();
        reader = new RowReader(pipeline, groups);
        boolean folds = pipeline.fold() instanceof Processing;
        store = new RowStore(memory, folds ? Contents.HEADS : Contents.ROWS);
        ahead = new LookAhead(store, 1);
        kept = folds ? new RowStore(memory, Contents.KEPT) : null;
        cells = new Cells[groups.length];
        Arrays.setAll(cells, rollup -> new Cells(pipeline, rollup, values[rollup]));
        forgotten = new Cells[groups.length];
        Arrays.setAll(forgotten, rollup -> new Cells(pipeline, rollup, values[rollup]));
        forgetting = Horizon.ofForgetting(pipeline)
                .map(horizon ->
                        new Forgetting(store, (segment, _, rowEnd) -> horizon.keptUntilMs(timeMs(segment, rowEnd))))
                .orElse(null);
        keys = kept == null ? null : new Keys(pipeline, store, kept, cells, groups);
        claims = pipeline.fold() instanceof Batching batching ? new Claims(store, ahead, batching.forget()) : null;
        before = reader.amounts();
        after = reader.amounts();
        nothing = reader.amounts();
    }

    /// The keys that a function folds.
    ///
    /// @throws IllegalStateException if the pipeline has no function
    public Keys keys() {
        if (keys == null) {
            throw new IllegalStateException("The pipeline has no function");
        }
        return keys;
    }

    /// The ids that are in batches.
    ///
    /// @throws IllegalStateException if the pipeline makes none
    public Claims claims() {
        if (claims == null) {
            throw new IllegalStateException("The pipeline makes no batches");
        }
        return claims;
    }

    /// Bytes of memory that a batch may need, at most; with a function, as far as is known.
    public long bytesFor(long batchBytes, long batchCount) {
        return keys == null ? store.bytesFor(batchBytes, batchCount) : keys.bytesFor(batchBytes, batchCount);
    }

    /// Notes that all rows were loaded from files.
    public void loaded(RowFiles files) {
        countLoaded();
        map(files);
    }

    /// Notes that all rows were taken over from other shards.
    public void countLoaded() {
        if (keys != null) {
            keys.loaded();
        }
    }

    /// Frees the memory of what is durable and seldom read. No checkpoint is being written.
    public void map(RowFiles files) {
        if (kept != null) {
            kept.map(files);
        }
    }

    /// The store of a segment, by its number.
    public RowStore storeOf(long sequence) {
        return kept != null && sequence >= RowStore.KEPT_FROM ? kept : store;
    }

    /// Whether the segment of a number takes memory once it is durable.
    public static boolean takesMemory(long sequence) {
        return sequence < RowStore.KEPT_FROM;
    }

    /// Cuts all stores: what was appended so far belongs to this checkpoint.
    public RowStore.Cut cut() {
        RowStore.Cut cut = store.cut();
        return kept == null ? cut : cut.plus(kept.cut());
    }

    /// From now on rows are forgotten that are kept until before this time.
    public void forgetBefore(long timeMs) {
        nowMs = timeMs;
    }

    /// The amounts of forgotten rows in a roll-up. No other cells contain them.
    public Cells forgotten(int rollup) {
        return forgotten[rollup];
    }

    static long timeMs(Segment segment, long rowEnd) {
        return segment.memory.get(Segment.LONG, rowEnd - RowBatch.TIME_BYTES);
    }

    private int timeBytes() {
        return forgetting == null ? 0 : RowBatch.TIME_BYTES;
    }

    /// The totals stay: what the row contributed is only kept elsewhere.
    private void forget(Segment segment, long rowStart) {
        reader.read(segment, kindAt(segment, RowReader.keyEnd(segment, rowStart)), before);
        move(before, nothing);
        for (Cells each : forgotten) {
            each.move(nothing, before);
        }
    }

    /// Frees a segment of forgotten rows, and cleans a part of a segment, if too much is dead.
    public void clean() {
        if (forgetting != null) {
            forgetting.drop(nowMs, this::forget);
        }
        store.clean();
        if (kept != null) {
            kept.clean();
        }
    }

    /// Takes over the rows of a shard of another division that belong to this one.
    public void adopt(Rows other, int shard, int shards) {
        store.adopt(other.store, shard, shards);
        if (kept != null && other.kept != null) {
            kept.adopt(other.kept, shard, shards);
        }
    }

    /// Numbers segments so that no file is written over that the last checkpoint of other shards names.
    public void numberBehind(Rows[] others) {
        long next = 1;
        long keptNext = RowStore.KEPT_FROM;
        for (Rows other : others) {
            next = Math.max(next, other.store.sequenceNext());
            keptNext = Math.max(keptNext, other.kept == null ? 0 : other.kept.sequenceNext());
        }
        store.numberFrom(next);
        if (kept != null) {
            kept.numberFrom(keptNext);
        }
    }

    /// Bytes of memory in use.
    public long bytes() {
        return store.bytes() + (kept == null ? 0 : kept.bytes());
    }

    /// Frees all memory.
    public void close() {
        store.close();
        if (kept != null) {
            kept.close();
        }
    }

    /// Where the rows are kept.
    public RowStore store() {
        return store;
    }

    /// The cells of a roll-up.
    public Cells cells(int rollup) {
        return cells[rollup];
    }

    /// How many keys have a row, deleted ones included.
    public long count() {
        return keys == null ? store.index.count() : keys.count();
    }

    /// Forgets the counts: what came here so far was counted elsewhere.
    public void resetCounts() {
        accepted = 0;
        duplicate = 0;
        stale = 0;
        conflicting = 0;
        if (keys != null) {
            keys.resetCounts();
        }
    }

    /// The counts of the records of this shard by their fates.
    public Counts counts() {
        if (claims != null) {
            return claims.counts();
        }
        return keys == null ? new Counts(accepted, duplicate, stale, conflicting, 0) : keys.counts();
    }

    /// Applies rows that arrived: decides each, and moves what it contributes, in one step.
    public void apply(RowBatch batch, Consumer<Transition.Settled> conflicts) {
        int count = batch.count;
        for (int from = 0; from < count; from += LookAhead.ROWS) {
            int to = Math.min(count, from + LookAhead.ROWS);
            ahead.read(batch, from, to);
            for (int i = from; i < to; i++) {
                applyOne(batch, batch.starts[i], conflicts);
            }
        }
    }

    /// Adds what records contribute that have no key: each counts once, by its place.
    public void applyByPlace(RowBatch batch) {
        for (int i = 0; i < batch.count; i++) {
            Segment segment = store.append(batch, batch.starts[i]);
            reader.read(segment, kindAt(segment, store.appendedAt + batch.keyLength(batch.starts[i])), after);
            store.takeBack(segment); // Only the memory was borrowed: such a row is not kept.
            move(nothing, after);
            accepted++;
        }
    }

    /// Replaces the cells by what the rows come to, all marked as changed.
    ///
    /// @param values of each roll-up, to which those of the rows are added
    public void recount(Pipeline pipeline, Values[] values) {
        for (int rollup = 0; rollup < cells.length; rollup++) {
            cells[rollup] = new Cells(pipeline, rollup, values[rollup]);
            forgotten[rollup].touchAll();
        }
        if (keys == null) {
            forEach(amounts -> move(nothing, amounts));
            return;
        }
        for (int rollup = 0; rollup < cells.length; rollup++) {
            Cells each = cells[rollup];
            keys.forEach(rollup, amounts -> each.move(nothing, amounts));
        }
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
            accepted++;
            Segment segment = store.append(batch, start);
            reader.read(segment, kindAt(segment, store.appendedAt + keyLength), after);
            move(nothing, after);
            store.add(slot, hash, segment);
            return;
        }
        long location = Index.location(entry);
        Segment stored = store.segment(location);
        long at = RowStore.at(location);
        long rowStart = stored.varintEnd(at);
        long rowEnd = rowStart + stored.varint(at);
        if (forgetting != null && forgetting.isForgotten(stored, rowStart, rowEnd, nowMs)) {
            accepted++;
            forget(stored, rowStart);
            Segment segment = store.append(batch, start);
            reader.read(segment, kindAt(segment, store.appendedAt + keyLength), after);
            move(nothing, after);
            store.die(stored, at);
            store.index.set(slot, hash, RowStore.location(segment, store.appendedFrom));
            return;
        }
        long versionAt = rowStart + keyLength;
        int order = compareVersions(bytes, rowAt + keyLength, stored, versionAt);
        long kind = kindAt(stored, versionAt);
        if (order > 0) {
            accepted++;
            replace(batch, start, slot, stored, at);
        } else if (order < 0) {
            stale++;
        } else if (sameContribution(batch, start, stored, kind, rowEnd)) {
            duplicate++;
            raise(batch.timeMs(start, forgetting != null), slot, hash, new Stored(stored, at, rowStart));
        } else {
            settle(batch, start, slot, new Stored(stored, at, rowStart), conflicts);
        }
    }

    private record Stored(Segment segment, long at, long rowStart) {
        long rowEnd() {
            return rowStart + segment.varint(at);
        }
    }

    /// Keeps an id until the latest time that it has come with: each of its records may come again.
    private void raise(long timeMs, long slot, long hash, Stored stored) {
        if (forgetting == null || timeMs(stored.segment, stored.rowEnd()) >= timeMs) {
            return;
        }
        int bytes = (int) (stored.rowEnd() - stored.at);
        store.copy(stored.segment, stored.at, slot, hash); // What was cut may be under way to the disk.
        stored.segment.live -= bytes;
        Segment segment = store.segment(Index.location(store.index.get(slot)));
        segment.memory.set(Segment.LONG, store.appendedFrom + bytes - RowBatch.TIME_BYTES, timeMs);
    }

    private void settle(RowBatch batch, int start, long slot, Stored old, Consumer<Transition.Settled> conflicts) {
        Row stored = reader.row(old.segment, old.rowStart, sourceName);
        Segment segment = store.append(batch, start);
        Row arrived = reader.row(segment, store.appendedAt, sourceName);
        switch (Transition.of(stored, arrived, removalIsNewer)) {
            case Transition.Changed _ -> {
                accepted++;
                moveTo(segment, batch.keyLength(start), slot, batch.hash(start), old);
            }
            case Transition.Stale _ -> {
                stale++;
                store.takeBack(segment);
            }
            case Transition.Settled settled -> {
                conflicting++;
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
        Segment segment = store.append(batch, start);
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
        byte[] bytes = batch.bytes;
        int at = start + RowBatch.HEADER_BYTES + batch.keyLength(start);
        at += VersionBytes.length(bytes[at]);
        for (int varint = 0; varint < 2; varint++) {
            while (bytes[at] < 0) {
                at++;
            }
            at++;
        }
        int length = start + RowBatch.HEADER_BYTES + batch.rowLength(start) - at;
        return length == rowEnd - kind && stored.matches(kind, bytes, at, length - timeBytes());
    }

    /// The row of a key.
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

    /// Called once per row.
    public interface Visitor {
        void row(Amounts amounts);
    }

    /// Visits what each row contributes to a roll-up, in no order.
    public void forEach(int rollup, Visitor visitor) {
        if (keys == null) {
            forEach(visitor);
        } else {
            keys.forEach(rollup, visitor);
        }
    }

    /// Visits what each row contributes, in no order.
    private void forEach(Visitor visitor) {
        Amounts amounts = reader.amounts();
        store.forEach((segment, rowStart, _) -> {
            reader.read(segment, kindAt(segment, RowReader.keyEnd(segment, rowStart)), amounts);
            visitor.row(amounts);
        });
    }

    /// The row that begins (behind its length) at `rowStart`.
    Row row(Segment segment, long rowStart) {
        return reader.row(segment, rowStart, sourceName);
    }

    /// How many windows of [#forEachRow(long, Consumer)] there are. If the number has changed, so has the order of the
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
                visitor.accept(row(segment, segment.varintEnd(RowStore.at(Index.location(entry)))));
            }
        }
    }

    /// Visits each row whole, in no order.
    public void forEachRow(Consumer<Row> visitor) {
        store.forEach((segment, rowStart, _) -> visitor.accept(row(segment, rowStart)));
    }
}
