package dev.onefold.embedded.rows;

import dev.onefold.core.Counts;
import dev.onefold.core.StoredRow;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.event.VersionBytes;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Transition;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// One shard: the current row of each of its keys, and the cells that these rows come to. Owned by one thread at a
/// time.
///
/// Rows are only ever appended, to the newest segment; a replaced row stays where it is, dead. When too much of the
/// memory is dead, the
/// live rows of the emptiest segment are appended again and the segment is let go (the cleaner of log-structured
/// memory:
/// Rumble, Kejriwal, Ousterhout, "Log-structured Memory for DRAM-based Storage", FAST 2014). So a checkpoint has
/// nothing to write but
/// what was appended since the last one, and never a page that is half old and half new.
public final class Rows {
    private static final int LOOKAHEAD = 32;
    /// Live share of the memory under which it is cleaned, in percent.
    private static final int LIVE_PERCENT_MIN = 80;

    private final RowReader reader;
    private final Cells[] cells;
    private final Memory memory;
    private final Index index = new Index();
    private final List<@Nullable Segment> segments = new ArrayList<>(); // By slot.
    private final List<Segment> released = new ArrayList<>();
    private Segment[] bySlot = new Segment[0];
    private Segment head;
    private long sequenceNext;
    private long usedBytes;
    private long liveBytes;

    private final Amounts before;
    private final Amounts after;
    private final Amounts nothing;
    private long accepted;
    private long duplicate;
    private long stale;
    private long conflicting;
    private long touched; // Keeps the look-ahead from being optimised away.

    /// Told of each conflict that was decided.
    public interface Conflicts {
        /// @param winner what stays
        /// @param loser what does not
        /// @param arrived where the arriving record stands; its row came as entry `entry` of `batch`
        void decided(Conflict conflict);
    }

    /// One version, two contributions.
    ///
    /// @param stored the row that was there
    /// @param arrived the row that came
    /// @param arrivedStays whether the arriving one is the greater
    /// @param arrivedOffset of the arriving record in its source
    public record Conflict(StoredRow stored, StoredRow arrived, boolean arrivedStays) {}

    public Rows(Pipeline pipeline, Groups[] groups, Memory memory) {
        reader = new RowReader(pipeline, groups);
        this.memory = memory;
        cells = new Cells[groups.length];
        Arrays.setAll(cells, rollup -> new Cells(pipeline, rollup));
        before = reader.amounts();
        after = reader.amounts();
        nothing = reader.amounts();
        memory.take(index.bytes());
        head = addSegment(sequenceNext++);
    }

    /// The cells of a roll-up.
    public Cells cells(int rollup) {
        return cells[rollup];
    }

    /// How many keys have a row, deleted ones included.
    public long count() {
        return index.count();
    }

    /// What became of the records that came here.
    public Counts counts() {
        return new Counts(accepted, duplicate, stale, conflicting, 0);
    }

    /// Bytes of memory that a batch may need, at most.
    public long bytesFor(long batchBytes, long batchCount) {
        long segmentsMore = (batchBytes / (Segment.BYTES / 2) + 1) * Segment.BYTES;
        return index.count() + batchCount > index.size() / 2 ? segmentsMore + index.bytesAtGrowth() : segmentsMore;
    }

    private Segment addSegment(long sequence) {
        int slot = segments.indexOf(null);
        if (slot < 0) {
            slot = segments.size();
            segments.add(null);
        }
        Segment segment = new Segment(sequence, slot);
        segments.set(slot, segment);
        bySlot = segments.toArray(new Segment[0]);
        memory.take(Segment.BYTES);
        return segment;
    }

    /// Applies rows that arrived: decides each, and moves what it contributes, in one step.
    public void apply(RowBatch batch, Conflicts conflicts, IntFunction<String> sourceName) {
        int count = batch.count;
        for (int from = 0; from < count; from += LOOKAHEAD) {
            int to = Math.min(count, from + LOOKAHEAD);
            lookAhead(batch, from, to);
            for (int i = from; i < to; i++) {
                applyOne(batch, batch.starts[i], conflicts, sourceName);
            }
        }
    }

    /// Adds what records contribute that have no key: each counts once, by its place.
    public void applyByPlace(RowBatch batch) {
        for (int i = 0; i < batch.count; i++) {
            Segment segment = append(batch, batch.starts[i]);
            reader.read(segment, kindAt(segment, appendedAt + batch.keyLength(batch.starts[i])), after);
            account(
                    segment,
                    (int) appendedFrom - segment.used); // Only the memory was borrowed: such a row is not kept.
            move(nothing, after);
            accepted++;
        }
    }

    /// Replaces the cells by what the rows come to, all marked as changed.
    public void recount(Pipeline pipeline) {
        for (int rollup = 0; rollup < cells.length; rollup++) {
            cells[rollup] = new Cells(pipeline, rollup);
        }
        forEach(amounts -> move(nothing, amounts));
    }

    /// Touches the slots and rows that are about to be needed, so that their cache misses overlap.
    private void lookAhead(RowBatch batch, int from, int to) {
        long sum = 0;
        for (int i = from; i < to; i++) {
            sum += index.get(index.home(batch.hash(batch.starts[i])));
        }
        for (int i = from; i < to; i++) {
            long hash = batch.hash(batch.starts[i]);
            long entry = index.get(index.home(hash));
            if (entry != 0 && Index.mayBe(entry, hash)) {
                long location = Index.location(entry);
                sum += bySlot[(int) (location / Segment.BYTES)].memory.get(
                        ValueLayout.JAVA_BYTE, location % Segment.BYTES);
            }
        }
        touched += sum;
    }

    private void applyOne(RowBatch batch, int start, Conflicts conflicts, IntFunction<String> sourceName) {
        byte[] bytes = batch.bytes;
        int rowAt = start + RowBatch.HEADER_BYTES;
        int keyLength = batch.keyLength(start);
        long hash = batch.hash(start);
        long slot = find(hash, bytes, rowAt, keyLength);
        long entry = index.get(slot);
        if (entry == 0) {
            accepted++;
            Segment segment = append(batch, start);
            reader.read(segment, kindAt(segment, appendedAt + keyLength), after);
            move(nothing, after);
            index.add(slot, hash, location(segment, appendedFrom));
            if (index.isFull()) {
                growIndex();
            }
            return;
        }
        long location = Index.location(entry);
        Segment stored = bySlot[(int) (location / Segment.BYTES)];
        long at = location % Segment.BYTES;
        long rowStart = stored.varintEnd(at);
        long rowEnd = rowStart + stored.varint(at);
        long versionAt = rowStart + keyLength;
        int order = compareVersions(bytes, rowAt + keyLength, stored, versionAt);
        long kind = kindAt(stored, versionAt);
        Transition transition =
                Transition.of(order, order == 0 && sameContribution(batch, start, stored, kind, rowEnd));
        switch (transition) {
            case CHANGED -> {
                accepted++;
                replace(batch, start, slot, stored, at);
            }
            case DUPLICATE -> duplicate++;
            case STALE -> stale++;
            case CONFLICTING -> {
                conflicting++;
                settle(batch, start, slot, new Stored(stored, at, rowStart), conflicts, sourceName);
            }
        }
    }

    private record Stored(Segment segment, long at, long rowStart) {}

    /// The greater contribution stays, whichever came first.
    private void settle(
            RowBatch batch, int start, long slot, Stored old, Conflicts conflicts, IntFunction<String> sourceName) {
        StoredRow stored = reader.row(old.segment, old.rowStart, sourceName);
        Segment segment = append(batch, start);
        StoredRow arrived = reader.row(segment, appendedAt, sourceName);
        Contribution contribution = arrived.contribution();
        boolean arrivedStays = contribution.compareTo(stored.contribution()) > 0;
        if (arrivedStays) {
            moveTo(segment, batch.keyLength(start), slot, batch.hash(start), old);
        } else {
            account(segment, (int) appendedFrom - segment.used); // Taken back: read again, it would replace the winner.
        }
        conflicts.decided(new Conflict(stored, arrived, arrivedStays));
    }

    private void replace(RowBatch batch, int start, long slot, Segment stored, long at) {
        Segment segment = append(batch, start);
        moveTo(segment, batch.keyLength(start), slot, batch.hash(start), new Stored(stored, at, stored.varintEnd(at)));
    }

    private void moveTo(Segment segment, int keyLength, long slot, long hash, Stored old) {
        reader.read(old.segment, kindAt(old.segment, old.rowStart + keyLength), before);
        reader.read(segment, kindAt(segment, appendedAt + keyLength), after);
        move(before, after);
        die(old.segment, old.at);
        index.set(slot, hash, location(segment, appendedFrom));
    }

    private void die(Segment segment, long at) {
        long bytes = segment.varintEnd(at) - at + segment.varint(at);
        segment.live -= (int) bytes;
        liveBytes -= bytes;
    }

    private void move(Amounts from, Amounts to) {
        for (Cells each : cells) {
            each.move(from, to);
        }
    }

    private static long location(Segment segment, long at) {
        return (long) segment.slot * Segment.BYTES + at;
    }

    private static long kindAt(Segment segment, long version) {
        return RowReader.kindAt(segment, RowReader.versionEnd(segment, version));
    }

    /// The slot of the key, or the empty one where it belongs.
    private long find(long hash, byte[] bytes, int keyAt, int keyLength) {
        long slot = index.home(hash);
        while (true) {
            long entry = index.get(slot);
            if (entry == 0) {
                return slot;
            }
            if (Index.mayBe(entry, hash)) {
                long location = Index.location(entry);
                Segment segment = bySlot[(int) (location / Segment.BYTES)];
                if (segment.matches(segment.varintEnd(location % Segment.BYTES), bytes, keyAt, keyLength)) {
                    return slot;
                }
            }
            slot = index.next(slot);
        }
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

    private static boolean sameContribution(RowBatch batch, int start, Segment stored, long kind, long rowEnd) {
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
        return length == rowEnd - kind && stored.matches(kind, bytes, at, length);
    }

    private long appendedFrom; // Where the row just appended begins, with its length ...
    private long appendedAt; // ... and behind its length.

    private Segment append(RowBatch batch, int start) {
        int length = batch.rowLength(start);
        Segment segment = room(length);
        long at = segment.used;
        appendedFrom = at;
        long rest = length;
        while (rest >= 0x80) {
            segment.memory.set(ValueLayout.JAVA_BYTE, at++, (byte) (rest | 0x80));
            rest >>>= 7;
        }
        segment.memory.set(ValueLayout.JAVA_BYTE, at++, (byte) rest);
        appendedAt = at;
        MemorySegment.copy(
                batch.bytes, start + RowBatch.HEADER_BYTES, segment.memory, ValueLayout.JAVA_BYTE, at, length);
        account(segment, (int) (at + length - appendedFrom));
        return segment;
    }

    private void account(Segment segment, int bytes) {
        segment.used += bytes;
        segment.live += bytes;
        liveBytes += bytes;
        usedBytes += bytes;
    }

    /// The newest segment, with room for a row of this length and in a frame that is not yet persisted.
    private Segment room(int length) {
        int needed = length + 5 + Segment.FRAME_HEADER_BYTES;
        if (head.used + needed > Segment.BYTES) {
            head = addSegment(sequenceNext++);
        }
        if (head.used == head.persisted) {
            head.used += Segment.FRAME_HEADER_BYTES;
        }
        return head;
    }

    private void growIndex() {
        long old = index.bytes();
        memory.take(old / 2 * 3);
        index.grow();
        memory.give(old + old / 2 * 3 - index.bytes());
    }

    /// The row of a key.
    public Optional<StoredRow> get(RowBatch.EncodedKey key, IntFunction<String> sourceName) {
        long entry = index.get(find(key.hash, key.bytes, 0, key.length));
        if (entry == 0) {
            return Optional.empty();
        }
        long location = Index.location(entry);
        Segment segment = bySlot[(int) (location / Segment.BYTES)];
        return Optional.of(reader.row(segment, segment.varintEnd(location % Segment.BYTES), sourceName));
    }

    /// Told of each row.
    public interface Visitor {
        void row(Amounts amounts);
    }

    /// Visits what each row contributes, in no order.
    public void forEach(Visitor visitor) {
        Amounts amounts = reader.amounts();
        for (long slot = 0; slot < index.size(); slot++) {
            long entry = index.get(slot);
            if (entry != 0) {
                long location = Index.location(entry);
                Segment segment = bySlot[(int) (location / Segment.BYTES)];
                long rowStart = segment.varintEnd(location % Segment.BYTES);
                reader.read(segment, kindAt(segment, RowReader.keyEnd(segment, rowStart)), amounts);
                visitor.row(amounts);
            }
        }
    }

    /// Visits each row whole, in no order.
    public void forEachRow(java.util.function.Consumer<StoredRow> visitor, IntFunction<String> sourceName) {
        for (long slot = 0; slot < index.size(); slot++) {
            long entry = index.get(slot);
            if (entry != 0) {
                long location = Index.location(entry);
                Segment segment = bySlot[(int) (location / Segment.BYTES)];
                visitor.accept(reader.row(segment, segment.varintEnd(location % Segment.BYTES), sourceName));
            }
        }
    }

    /// Cleans up to `segmentsMax` segments, if too much is dead. A segment that is let go is in the next [#cut].
    public void clean(int segmentsMax) {
        for (int i = 0; i < segmentsMax && liveBytes * 100 < (usedBytes - Segment.BYTES) * LIVE_PERCENT_MIN; i++) {
            Segment victim = null;
            for (Segment segment : bySlot) {
                if (segment != null && segment != head && (victim == null || segment.live < victim.live)) {
                    victim = segment;
                }
            }
            if (victim == null || victim.used > victim.persisted) {
                return; // What is not yet persisted may be what the last checkpoint is writing.
            }
            clean(victim);
        }
    }

    private void clean(Segment victim) {
        byte[] key = new byte[RowBatch.PADDING + 1_100];
        Frames.forEachRow(victim, victim.used, (rowAt, rowStart, rowEnd) -> {
            int keyLength = (int) (RowReader.keyEnd(victim, rowStart) - rowStart);
            MemorySegment.copy(victim.memory, ValueLayout.JAVA_BYTE, rowStart, key, 0, keyLength);
            long hash = dev.onefold.core.event.Hash.of(key, 0, keyLength);
            long slot = find(hash, key, 0, keyLength);
            long entry = index.get(slot);
            if (entry != 0 && Index.location(entry) == location(victim, rowAt)) {
                int bytes = (int) (rowEnd - rowAt);
                Segment segment = room(bytes);
                appendedFrom = segment.used;
                MemorySegment.copy(victim.memory, rowAt, segment.memory, segment.used, bytes);
                account(segment, bytes);
                index.set(slot, hash, location(segment, appendedFrom));
                liveBytes -= bytes;
            }
        });
        usedBytes -= victim.used - Segment.FILE_HEADER_BYTES;
        segments.set(victim.slot, null);
        bySlot = segments.toArray(new Segment[0]);
        released.add(victim);
    }

    /// What a checkpoint has to write: for each segment the bytes appended since the last cut, as one frame each.
    ///
    /// @param written the segments that have such bytes, with the range to write
    /// @param kept sequence and length of each segment that makes up the shard
    /// @param released segments that are not part of it any more; close them when the checkpoint is durable
    public record Cut(List<Range> written, List<Extent> kept, List<Segment> released) {}

    /// A range of a segment.
    public record Range(Segment segment, int from, int to) {}

    /// A segment by its number, and how much of it counts.
    public record Extent(long sequence, int length) {}

    /// Cuts: what was appended so far belongs to this checkpoint, what comes now to the next.
    public Cut cut() {
        List<Range> written = new ArrayList<>();
        List<Extent> kept = new ArrayList<>();
        for (Segment segment : bySlot) {
            if (segment != null) {
                if (segment.used > segment.persisted) {
                    Frames.begin(segment);
                    written.add(new Range(segment, segment.persisted, segment.used));
                    segment.persisted = segment.used;
                }
                kept.add(new Extent(segment.sequence, segment.used));
            }
        }
        kept.sort(java.util.Comparator.comparingLong(Extent::sequence));
        Cut cut = new Cut(written, kept, List.copyOf(released));
        released.clear();
        return cut;
    }

    /// Lets go of a segment that a durable checkpoint has released.
    public void free(Segment segment) {
        segment.close();
        memory.give(Segment.BYTES);
    }

    /// Takes a segment that was read from its file; segments come in the order of their numbers. A later row replaces
    /// an
    /// earlier one of its key; cells are not touched, they have a file of their own.
    public void load(Segment segment) {
        byte[] key = new byte[RowBatch.PADDING + 1_100];
        segment.persisted = segment.used;
        usedBytes += segment.used - Segment.FILE_HEADER_BYTES;
        Frames.forEachRow(segment, segment.used, (rowAt, rowStart, rowEnd) -> {
            int keyLength = (int) (RowReader.keyEnd(segment, rowStart) - rowStart);
            MemorySegment.copy(segment.memory, ValueLayout.JAVA_BYTE, rowStart, key, 0, keyLength);
            long hash = dev.onefold.core.event.Hash.of(key, 0, keyLength);
            long slot = find(hash, key, 0, keyLength);
            long entry = index.get(slot);
            if (entry == 0) {
                index.add(slot, hash, location(segment, rowAt));
                if (index.isFull()) {
                    growIndex();
                }
            } else {
                long location = Index.location(entry);
                die(bySlot[(int) (location / Segment.BYTES)], location % Segment.BYTES);
                index.set(slot, hash, location(segment, rowAt));
            }
            segment.live += (int) (rowEnd - rowAt);
            liveBytes += rowEnd - rowAt;
        });
        head = segment;
        sequenceNext = segment.sequence + 1;
    }

    /// An empty segment to read a file into; give it to [#load] next.
    public Segment segmentToLoad(long sequence) {
        if (head.used == Segment.FILE_HEADER_BYTES && index.count() == 0 && segments.size() == 1 && bySlot[0] == head) {
            segments.set(0, null); // The one that a new shard begins with.
            head.close();
            memory.give(Segment.BYTES);
        }
        return addSegment(sequence);
    }

    /// Takes over the current rows of a shard of another division, and writes them as its own; cells are not touched.
    public void adopt(Rows other, int shard, int shards) {
        byte[] key = new byte[RowBatch.PADDING + 1_100];
        for (long slot = 0; slot < other.index.size(); slot++) {
            long entry = other.index.get(slot);
            if (entry == 0) {
                continue;
            }
            long location = Index.location(entry);
            Segment from = other.bySlot[(int) (location / Segment.BYTES)];
            long at = location % Segment.BYTES;
            long rowStart = from.varintEnd(at);
            int keyLength = (int) (RowReader.keyEnd(from, rowStart) - rowStart);
            MemorySegment.copy(from.memory, ValueLayout.JAVA_BYTE, rowStart, key, 0, keyLength);
            long hash = dev.onefold.core.event.Hash.of(key, 0, keyLength);
            if (RowBatch.EncodedKey.shard(hash, shards) != shard) {
                continue;
            }
            int bytes = (int) (rowStart - at + from.varint(at));
            Segment segment = room(bytes);
            appendedFrom = segment.used;
            MemorySegment.copy(from.memory, at, segment.memory, appendedFrom, bytes);
            account(segment, bytes);
            index.add(find(hash, key, 0, keyLength), hash, location(segment, appendedFrom));
            if (index.isFull()) {
                growIndex();
            }
        }
    }

    /// Numbers segments from here on, so that no file is written over that the last checkpoint names.
    public void numberFrom(long sequence) {
        segments.set(head.slot, null);
        head.close();
        memory.give(Segment.BYTES);
        head = addSegment(sequence);
        sequenceNext = sequence + 1;
    }

    /// The number behind that of the newest segment.
    public long sequenceNext() {
        return sequenceNext;
    }

    /// Bytes of memory in use by rows and index.
    public long bytes() {
        long count = segments.stream().filter(java.util.Objects::nonNull).count();
        return count * Segment.BYTES + index.bytes();
    }

    /// Frees all memory.
    public void close() {
        for (Segment segment : bySlot) {
            if (segment != null) {
                segment.close();
            }
        }
        released.forEach(Segment::close);
        index.close();
        bySlot = new Segment[0];
        segments.clear();
        released.clear();
    }
}
