package dev.onefold.embedded.rows;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.Hash;
import dev.onefold.embedded.checkpoint.Checkpoint.Extent;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The rows of one shard: segments and the index over them. Not thread-safe; one thread at a time uses it.
///
/// Rows are appended to the newest segment; a replaced row stays in its place, dead. Only a head that no cut
/// has taken is overwritten, by one of its length ([KeyRecords]). When too much of the memory is dead, the
/// live rows of the emptiest segment are appended again and the segment is released (the cleaner of
/// log-structured memory: Rumble, Kejriwal, Ousterhout, "Log-structured Memory for DRAM-based Storage", FAST
/// 2014). So a checkpoint writes only the rows that were appended since the last one, and never a page that
/// is half old and half new.
public final class RowStore {
    /// Longest key as it is stored, with the bytes that may be read behind it.
    static final int KEY_BUFFER_BYTES = 6_000;

    private final Memory memory;
    private final Contents use;
    private boolean cannotMap;
    final Index index = new Index();
    private final List<@Nullable Segment> segments = new ArrayList<>(); // By slot.
    private final List<Segment> released = new ArrayList<>();
    /// A segment whose memory is used again, without being zeroed or mapped again. The thread that writes
    /// checkpoints frees segments.
    private final AtomicReference<@Nullable Segment> spare = new AtomicReference<>();

    Segment[] bySlot = new Segment[0];
    Segment head;
    private long sequenceNext;
    private long usedBytes;
    private long liveBytes;
    long appendedBytes; // Since the store was made, including those that were cleaned.
    private final SegmentCleaner cleaning = new SegmentCleaner(this);
    private final byte[] readKey = new byte[KEY_BUFFER_BYTES];
    private int readLength;

    long appendedFrom; // The place where the row just appended begins, with its length ...
    long appendedAt; // ... and behind its length.

    RowStore(Memory memory, Contents use) {
        this.memory = memory;
        this.use = use;
        sequenceNext = use == Contents.KEPT ? KEPT_FROM : 0;
        memory.take(index.bytes());
        head = addSegment(sequenceNext++);
    }

    /// The segment of a location.
    Segment segment(long location) {
        return bySlot[(int) (location / Segment.BYTES)];
    }

    /// The offset of a location in its segment.
    static long at(long location) {
        return location % Segment.BYTES;
    }

    /// Numbers of segments of kept events begin here, so that one checkpoint names all segments of a shard.
    static final long KEPT_FROM = 1L << 40;

    /// Lets segments that are durable be read from their files. No checkpoint is being written.
    void map(RowFiles files) {
        for (Segment segment : bySlot) {
            if (segment != null
                    && segment != head
                    && !segment.isMapped()
                    && !cannotMap
                    && segment.used == segment.persisted) {
                if (files.map(segment)) {
                    memory.give(Segment.BYTES);
                } else {
                    cannotMap = true;
                }
            }
        }
    }

    /// The end of the key of the row that begins, behind its length, at `rowStart`.
    long keyEnd(Segment segment, long rowStart) {
        long end = RowReader.keyEnd(segment, rowStart);
        return use != Contents.ROWS ? segment.varintEnd(end) + segment.varint(end) : end;
    }

    /// Reads the key of a row; returns its hash.
    long hashAt(Segment segment, long rowStart) {
        readLength = (int) (keyEnd(segment, rowStart) - rowStart);
        MemorySegment.copy(segment.memory, ValueLayout.JAVA_BYTE, rowStart, readKey, 0, readLength);
        return use != Contents.ROWS ? KeyRecords.hash(readKey, readLength) : Hash.of(readKey, 0, readLength);
    }

    /// Removes a row, if the index leads to it; returns whether it does.
    boolean remove(Segment segment, long rowAt, long rowStart) {
        long slot = index.slotOf(hashAt(segment, rowStart), location(segment, rowAt));
        if (slot < 0) {
            return false;
        }
        die(segment, rowAt);
        index.remove(slot);
        return true;
    }

    /// Puts a record in place of the one with its key.
    void put(long hash, byte[] key, int keyLength, byte[] value) {
        Segment segment = append(key, 0, keyLength, keyLength + value.length);
        MemorySegment.copy(value, 0, segment.memory, ValueLayout.JAVA_BYTE, appendedAt + keyLength, value.length);
        set(find(hash, key, 0, keyLength), hash, segment);
    }

    /// Puts a record into the slot that [#find] gave.
    void putAt(long slot, long hash, byte[] key, int keyLength, BytesOut value) {
        Segment segment = append(key, 0, keyLength, keyLength + value.length());
        value.copyTo(segment.memory, appendedAt + keyLength);
        set(slot, hash, segment);
    }

    /// Appends the first bytes of a row of this length.
    private Segment append(byte[] bytes, int from, int count, int length) {
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
        MemorySegment.copy(bytes, from, segment.memory, ValueLayout.JAVA_BYTE, at, count);
        account(segment, (int) (at + length - appendedFrom));
        return segment;
    }

    /// Lets a slot lead to the record that was just appended.
    void set(long slot, long hash, Segment segment) {
        set(slot, hash, location(segment, appendedFrom));
    }

    private void set(long slot, long hash, long location) {
        long entry = index.get(slot);
        if (entry == 0) {
            add(slot, hash, location);
        } else {
            long before = Index.location(entry);
            die(segment(before), at(before));
            index.set(slot, hash, location);
        }
    }

    /// Copies the value of an entry's record; returns its length. A target that is too short is left as it is.
    int value(long entry, int keyLength, byte[] target) {
        long location = Index.location(entry);
        Segment segment = segment(location);
        long from = segment.varintEnd(at(location)) + keyLength;
        int length = (int) segment.varint(at(location)) - keyLength;
        if (length <= target.length) {
            MemorySegment.copy(segment.memory, ValueLayout.JAVA_BYTE, from, target, 0, length);
        }
        return length;
    }

    /// The value of a key; `null` if it has none, or it was removed.
    byte @Nullable [] get(long hash, byte[] key, int keyLength) {
        long entry = index.get(find(hash, key, 0, keyLength));
        if (entry == 0) {
            return null;
        }
        long location = Index.location(entry);
        Segment segment = segment(location);
        long rowStart = segment.varintEnd(at(location));
        return bytes(segment, rowStart + keyLength, rowStart + segment.varint(at(location)));
    }

    static byte[] bytes(Segment segment, long from, long to) {
        byte[] bytes = new byte[(int) (to - from)];
        MemorySegment.copy(segment.memory, ValueLayout.JAVA_BYTE, from, bytes, 0, bytes.length);
        return bytes;
    }

    /// Removes a record, if it is there. After a start it may be there again.
    void remove(long hash, byte[] key, int keyLength) {
        long slot = find(hash, key, 0, keyLength);
        long entry = index.get(slot);
        if (entry != 0) {
            long location = Index.location(entry);
            die(segment(location), at(location));
            index.remove(slot);
        }
    }

    /// Puts the row that was just appended into the slot that [#find] gave.
    void add(long slot, long hash, Segment segment) {
        add(slot, hash, location(segment, appendedFrom));
    }

    private void add(long slot, long hash, long location) {
        index.add(slot, hash, location);
        if (index.isFull()) {
            growIndex();
        }
    }

    /// Takes back the row that was just appended: read again, it would replace another.
    void takeBack(Segment segment) {
        account(segment, (int) appendedFrom - segment.used);
        if (segment.used == segment.persisted + Segment.FRAME_HEADER_BYTES) { // Its frame is empty again.
            segment.used = segment.persisted;
            usedBytes -= Segment.FRAME_HEADER_BYTES;
        }
    }

    /// Called once per row: its segment, where it begins behind its length, and where it ends.
    interface Visitor {
        void row(Segment segment, long rowStart, long rowEnd);
    }

    /// Visits each row, in no order.
    void forEach(Visitor visitor) {
        for (long slot = 0; slot < index.size(); slot++) {
            long entry = index.get(slot);
            if (entry != 0) {
                long location = Index.location(entry);
                Segment segment = segment(location);
                long rowStart = segment.varintEnd(at(location));
                visitor.row(segment, rowStart, rowStart + segment.varint(at(location)));
            }
        }
    }

    /// Bytes of memory that a batch may need, at most.
    public long bytesFor(long batchBytes, long batchCount) {
        if ((segments.size() + 2L + batchBytes / Segment.BYTES) * Segment.BYTES > Index.LOCATION_MAX) {
            return memory.bytesMax(); // The index cannot say where more would be: more shards can.
        }
        long segmentsMore = (batchBytes / (Segment.BYTES / 2) + 1) * Segment.BYTES;
        return index.count() + batchCount > index.size() / 2 ? segmentsMore + index.bytesAtGrowth() : segmentsMore;
    }

    private Segment addSegment(long sequence) {
        int slot = segments.indexOf(null);
        if (slot < 0) {
            slot = segments.size();
            segments.add(null);
        }
        Segment used = spare.getAndSet(null);
        Segment segment = new Segment(sequence, slot, used);
        segments.set(slot, segment);
        bySlot = segments.toArray(new Segment[0]);
        memory.take(used == null ? Segment.BYTES : 0);
        return segment;
    }

    static long location(Segment segment, long at) {
        return (long) segment.slot * Segment.BYTES + at;
    }

    /// The slot of the key, or the empty one where it belongs.
    long find(long hash, byte[] bytes, int keyAt, int keyLength) {
        long slot = index.home(hash);
        while (true) {
            long entry = index.get(slot);
            if (entry == 0) {
                return slot;
            }
            if (Index.mayBe(entry, hash)) {
                long location = Index.location(entry);
                Segment segment = segment(location);
                if (segment.matches(segment.varintEnd(at(location)), bytes, keyAt, keyLength)) {
                    return slot;
                }
            }
            slot = index.next(slot);
        }
    }

    Segment append(RowBatch batch, int start) {
        int length = batch.rowLength(start);
        return append(batch.bytes, start + RowBatch.HEADER_BYTES, length, length);
    }

    private void account(Segment segment, int bytes) {
        segment.used += bytes;
        segment.live += bytes;
        liveBytes += bytes;
        usedBytes += bytes;
        appendedBytes += bytes;
    }

    /// The newest segment, with room for a row of this length and in a frame that is not yet persisted.
    private Segment room(int length) {
        int needed = length + 5 + Segment.FRAME_HEADER_BYTES;
        if (head.used + needed > Segment.BYTES - RowBatch.PADDING) { // A mapped file has nothing behind its end.
            head = addSegment(sequenceNext++);
        }
        if (head.used == head.persisted) {
            head.used += Segment.FRAME_HEADER_BYTES;
            usedBytes += Segment.FRAME_HEADER_BYTES;
        }
        return head;
    }

    private void growIndex() {
        long old = index.bytes();
        memory.take(old / 2 * 3);
        index.grow();
        memory.give(old + old / 2 * 3 - index.bytes());
    }

    void die(Segment segment, long at) {
        long bytes = segment.varintEnd(at) - at + segment.varint(at);
        segment.live -= (int) bytes;
        liveBytes -= bytes;
    }

    /// Cleans a part of a segment, if too much is dead. A released segment is in the next [#cut].
    public void clean() {
        cleaning.goOn();
    }

    boolean isTooMuchDead() {
        return liveBytes * 100 < (usedBytes - Segment.BYTES) * use.livePercentMin();
    }

    /// Takes out a segment, to which the index no longer leads.
    void release(Segment victim) {
        usedBytes -= victim.used - Segment.FILE_HEADER_BYTES;
        segments.set(victim.slot, null);
        bySlot = segments.toArray(new Segment[0]);
        released.add(victim);
    }

    /// Appends a live row again.
    void copy(Segment from, long rowAt, long slot, long hash) {
        int bytes = (int) (from.varintEnd(rowAt) - rowAt + from.varint(rowAt));
        Segment segment = room(bytes);
        appendedFrom = segment.used;
        MemorySegment.copy(from.memory, rowAt, segment.memory, segment.used, bytes);
        account(segment, bytes);
        index.set(slot, hash, location(segment, appendedFrom));
        liveBytes -= bytes;
    }

    /// The part of the store that a checkpoint has to write: for each segment the bytes appended since the last
    /// cut, as one frame each.
    ///
    /// @param written the segments that have such bytes, with the range to write
    /// @param kept sequence and length of each segment that makes up the shard
    /// @param released segments that are no longer part of it; close them when the checkpoint is durable
    public record Cut(List<Range> written, List<Extent> kept, List<Segment> released) {
        Cut plus(Cut other) {
            return new Cut(
                    Stream.concat(written.stream(), other.written.stream()).toList(),
                    Stream.concat(kept.stream(), other.kept.stream()).toList(),
                    Stream.concat(released.stream(), other.released.stream()).toList());
        }
    }

    /// A range of a segment.
    public record Range(Segment segment, int from, int to) {}

    /// Cuts: all rows that were appended so far belong to this checkpoint, later ones to the next.
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
                if (segment.used > Segment.FILE_HEADER_BYTES) {
                    kept.add(new Extent(segment.sequence, segment.used));
                }
            }
        }
        kept.sort(Comparator.comparingLong(Extent::sequence));
        Cut cut = new Cut(written, kept, List.copyOf(released));
        released.clear();
        return cut;
    }

    /// Frees a segment that a durable checkpoint has released.
    public void free(Segment segment) {
        if (segment.isMapped() || !spare.compareAndSet(null, segment)) {
            segment.close();
            memory.give(segment.isMapped() ? 0 : Segment.BYTES);
        }
    }

    /// Takes a segment that was read from its file; segments come in the order of their numbers. A later row
    /// replaces an earlier one of its key; cells are not touched, they have a file of their own. Returns the
    /// place of a row that the hash of its key sends to another shard, or -1.
    public long load(Segment segment, int shard, int shards) {
        long[] wrong = {-1};
        segment.persisted = segment.used;
        usedBytes += segment.used - Segment.FILE_HEADER_BYTES;
        Frames.forEachRow(segment, segment.used, (rowAt, rowStart, rowEnd) -> {
            long hash = hashAt(segment, rowStart);
            if (RowBatch.EncodedKey.shard(hash, shards) != shard) {
                wrong[0] = rowAt;
            }
            set(find(hash, readKey, 0, readLength), hash, location(segment, rowAt));
            segment.live += (int) (rowEnd - rowAt);
            liveBytes += rowEnd - rowAt;
        });
        head = segment;
        sequenceNext = segment.sequence + 1;
        return wrong[0];
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

    /// Takes over the current rows of a shard of another division, and writes them as its own; cells are not
    /// touched.
    public void adopt(RowStore other, int shard, int shards) {
        for (long slot = 0; slot < other.index.size(); slot++) {
            long entry = other.index.get(slot);
            if (entry == 0) {
                continue;
            }
            long location = Index.location(entry);
            Segment from = other.segment(location);
            long at = at(location);
            long rowStart = from.varintEnd(at);
            long hash = hashAt(from, rowStart);
            if (RowBatch.EncodedKey.shard(hash, shards) != shard) {
                continue;
            }
            int bytes = (int) (rowStart - at + from.varint(at));
            Segment segment = room(bytes);
            appendedFrom = segment.used;
            MemorySegment.copy(from.memory, at, segment.memory, appendedFrom, bytes);
            account(segment, bytes);
            add(find(hash, readKey, 0, readLength), hash, segment);
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

    /// Bytes of all segments that are taken.
    long usedBytes() {
        return usedBytes;
    }

    /// Bytes of memory in use by rows and index.
    public long bytes() {
        long count = segments.stream()
                .filter(segment -> segment != null && !segment.isMapped())
                .count();
        return (count + (spare.get() == null ? 0 : 1)) * Segment.BYTES + index.bytes();
    }

    /// Frees all memory.
    public void close() {
        for (Segment segment : bySlot) {
            if (segment != null) {
                segment.close();
            }
        }
        released.forEach(Segment::close);
        Segment unused = spare.getAndSet(null);
        if (unused != null) {
            unused.close();
        }
        index.close();
        bySlot = new Segment[0];
        segments.clear();
        released.clear();
    }
}
