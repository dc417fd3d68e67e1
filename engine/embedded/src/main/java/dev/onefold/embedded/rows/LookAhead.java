package dev.onefold.embedded.rows;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Reads the memory that the next rows of a batch need, before they need it, so that their cache misses
/// overlap. Not thread-safe.
final class LookAhead {
    /// Rows that are looked at together.
    static final int ROWS = 32;

    private static final int CACHE_LINE = 64;

    private final RowStore store;
    private final int lines; // Cache lines that are read of each record.

    @SuppressWarnings("UnusedVariable")
    private long touched; // Keeps the reading from being optimised away.

    LookAhead(RowStore store, int lines) {
        this.store = store;
        this.lines = lines;
    }

    /// Reads slots, then records, of the rows from one to another.
    void read(RowBatch batch, int from, int to) {
        long sum = 0;
        for (int i = from; i < to; i++) {
            sum += store.index.get(store.index.home(batch.hash(batch.starts[i])));
        }
        for (int i = from; i < to; i++) {
            long entry = store.index.likely(batch.hash(batch.starts[i]));
            if (entry != 0) {
                long location = Index.location(entry);
                MemorySegment memory = store.segment(location).memory;
                for (int line = 0; line < lines; line++) {
                    long at = RowStore.at(location) + (long) line * CACHE_LINE;
                    sum += memory.get(ValueLayout.JAVA_BYTE, Math.min(at, Segment.BYTES - 1));
                }
            }
        }
        touched += sum;
    }
}
