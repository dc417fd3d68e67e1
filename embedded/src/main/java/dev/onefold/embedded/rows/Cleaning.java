package dev.onefold.embedded.rows;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Appends again the rows of a segment that are live, those to which the index leads: a part at a time, so that nobody
/// waits for all of it. A part that was appended again and one that was not may be in the same checkpoint: a later row
/// is an earlier one's again. What some rows need of the index is read for all of them first, so that the cache misses
/// overlap. No other row is read. Not thread-safe.
final class Cleaning {
    private static final int AT_ONCE = 64;

    private final RowStore store;
    final Segment victim;
    private final byte[] key = new byte[RowStore.KEY_BUFFER_BYTES];
    private final long[] hashes = new long[AT_ONCE];
    private final long[] rows = new long[AT_ONCE];
    private int count;
    private long at = Segment.FILE_HEADER_BYTES; // Where it goes on ...
    private long frameEnd = at; // ... in the frame that ends here.

    @SuppressWarnings("UnusedVariable")
    private long touched; // Keeps reading ahead from being optimised away.

    Cleaning(RowStore store, Segment victim) {
        this.store = store;
        this.victim = victim;
    }

    /// Goes on for so many bytes of the segment, at least; whether all of it is appended again.
    boolean step(long bytesMin) {
        long until = Math.min(at + bytesMin, victim.used);
        while (at < until) {
            if (at == frameEnd) {
                at += Segment.FRAME_HEADER_BYTES;
                frameEnd = at + Frames.length(victim, frameEnd);
            } else {
                long rowStart = victim.varintEnd(at);
                take(at, rowStart);
                at = rowStart + victim.varint(at);
            }
        }
        copyLive();
        return at == victim.used;
    }

    private void take(long rowAt, long rowStart) {
        int keyLength = (int) (store.keyEnd(victim, rowStart) - rowStart);
        MemorySegment.copy(victim.memory, ValueLayout.JAVA_BYTE, rowStart, key, 0, keyLength);
        hashes[count] = store.hash(key, keyLength);
        rows[count++] = rowAt;
        if (count == AT_ONCE) {
            copyLive();
        }
    }

    private void copyLive() {
        for (int i = 0; i < count; i++) {
            touched += store.index.get(store.index.home(hashes[i]));
        }
        for (int i = 0; i < count; i++) {
            long slot = store.index.slotOf(hashes[i], RowStore.location(victim, rows[i]));
            if (slot >= 0) {
                store.copy(victim, rows[i], slot, hashes[i]);
            }
        }
        count = 0;
    }
}
