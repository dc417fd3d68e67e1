package dev.onefold.api.reading;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// Texts in bytes off the heap, found by their number. Not thread-safe.
final class OffHeapLines implements AutoCloseable {
    private static final int BLOCK_BYTES = 1 << 20;

    private final Arena arena = Arena.ofShared();
    private final List<MemorySegment> blocks = new ArrayList<>();
    private long[] places = new long[64]; // Of each line: the number of its block, and its first byte there.
    private int count;
    private int used = BLOCK_BYTES; // Of the last block.

    void add(byte[] line) {
        int bytes = Integer.BYTES + line.length;
        if (bytes > BLOCK_BYTES - used) {
            blocks.add(arena.allocate(Math.max(bytes, BLOCK_BYTES)));
            used = 0;
        }
        if (count == places.length) {
            places = Arrays.copyOf(places, 2 * count);
        }
        places[count++] = (long) (blocks.size() - 1) << 32 | used;
        MemorySegment block = blocks.getLast();
        block.set(ValueLayout.JAVA_INT_UNALIGNED, used, line.length);
        MemorySegment.copy(line, 0, block, ValueLayout.JAVA_BYTE, used + Integer.BYTES, line.length);
        used = Math.min(used + bytes, BLOCK_BYTES);
    }

    byte[] get(int index) {
        long place = places[Objects.checkIndex(index, count)];
        MemorySegment block = blocks.get((int) (place >>> 32));
        int at = (int) place;
        int length = block.get(ValueLayout.JAVA_INT_UNALIGNED, at);
        return block.asSlice(at + Integer.BYTES, length).toArray(ValueLayout.JAVA_BYTE);
    }

    int count() {
        return count;
    }

    /// Frees the memory.
    @Override
    public void close() {
        arena.close();
    }
}
