package dev.onefold.embedded.publication;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/// Cells by number, off the Java heap: zeros until they are set. Not thread-safe.
final class Sums implements AutoCloseable {
    private static final int BLOCK_CELLS = 1 << 12;

    private final int stride;
    private final Arena arena = Arena.ofShared();
    private final List<MemorySegment> blocks = new ArrayList<>();

    /// @param stride longs of a cell
    Sums(int stride) {
        this.stride = stride;
    }

    /// How many cells there is memory for.
    int size() {
        return blocks.size() * BLOCK_CELLS;
    }

    long[] get(int number) {
        long[] cell = new long[stride];
        if (number < size()) {
            MemorySegment.copy(blocks.get(number / BLOCK_CELLS), ValueLayout.JAVA_LONG, at(number), cell, 0, stride);
        }
        return cell;
    }

    void set(int number, long[] cell) {
        while (number >= size()) {
            blocks.add(arena.allocate((long) BLOCK_CELLS * stride * Long.BYTES, Long.BYTES));
        }
        MemorySegment.copy(cell, 0, blocks.get(number / BLOCK_CELLS), ValueLayout.JAVA_LONG, at(number), stride);
    }

    private long at(int number) {
        return (long) (number % BLOCK_CELLS) * stride * Long.BYTES;
    }

    @Override
    public void close() {
        arena.close();
    }
}
