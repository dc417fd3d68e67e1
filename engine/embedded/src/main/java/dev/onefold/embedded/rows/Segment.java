package dev.onefold.embedded.rows;

import dev.onefold.embedded.disk.Scale;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// A range of rows in memory, byte for byte as in its file. Rows are appended by the thread that owns the
/// shard; the bytes in front of `used` at a cut never change again, so a checkpoint can write them while more
/// rows are appended.
///
///     0   file header, 64 bytes, see RowFiles
///     64  frame = header 24 (written by the checkpoint), rows;  one frame a checkpoint
///     row = varint length, bytes as in [RowBatch]
public final class Segment {
    /// Bytes of a segment in memory and on disk.
    public static final int BYTES = Scale.of(8 << 20);

    static final int FILE_HEADER_BYTES = 64;
    static final int FRAME_HEADER_BYTES = 24;
    static final long NO_MARK = Long.MAX_VALUE;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    final long sequence;
    final int slot;
    private Arena arena;
    MemorySegment memory;
    private boolean mapped;
    int used = FILE_HEADER_BYTES;
    int persisted = FILE_HEADER_BYTES;
    int live;

    /// The greatest mark of its claims; see [ClaimSweeper].
    long markMax = NO_MARK;

    boolean isSwept;
    long keptFirst;
    long keptLast;

    /// @param spare a segment that is not used any more, and whose memory this one takes; `null`: none
    Segment(long sequence, int slot, @Nullable Segment spare) {
        this.sequence = sequence;
        this.slot = slot;
        arena = spare == null ? Arena.ofShared() : spare.arena;
        memory = spare == null ? arena.allocate(BYTES + RowBatch.PADDING, 64) : spare.memory;
    }

    /// Number of the segment in its shard; never given twice.
    public long sequence() {
        return sequence;
    }

    ByteBuffer bytes(int from, int to) {
        return memory.asSlice(from, to - from).asByteBuffer();
    }

    long varint(long at) {
        byte first = memory.get(ValueLayout.JAVA_BYTE, at);
        if (first >= 0) {
            return first;
        }
        long value = first & 0x7f;
        int shift = 7;
        for (long i = at + 1; ; i++, shift += 7) {
            byte next = memory.get(ValueLayout.JAVA_BYTE, i);
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }

    long varintEnd(long at) {
        long end = at;
        while (memory.get(ValueLayout.JAVA_BYTE, end) < 0) {
            end++;
        }
        return end + 1;
    }

    /// Whether the bytes at `at` are those of the array; both have [RowBatch#PADDING] readable bytes behind.
    boolean matches(long at, byte[] bytes, int from, int length) {
        int i = 0;
        for (; length - i >= 8; i += 8) {
            if (memory.get(LONG, at + i) != RowBatch.word(bytes, from + i)) {
                return false;
            }
        }
        int rest = length - i;
        return rest == 0 || (memory.get(LONG, at + i) ^ RowBatch.word(bytes, from + i)) << 64 - 8 * rest == 0;
    }

    /// Reads its file from now on, which holds all of it, and frees the memory.
    void map(MemorySegment file, Arena ofFile) {
        arena.close();
        arena = ofFile;
        memory = file;
        mapped = true;
    }

    /// Whether it takes no memory, because it is read from its file.
    boolean isMapped() {
        return mapped;
    }

    void close() {
        arena.close();
    }
}
