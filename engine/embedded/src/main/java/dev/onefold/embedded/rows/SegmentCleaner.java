package dev.onefold.embedded.rows;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Appends the live rows of the emptiest segment again, which are those that the index leads to: a part at a
/// time, so that nobody waits for all of it. A part that was appended again and one that was not may be in
/// the same checkpoint: the later copy of a row is equal to the earlier one. The entries of the index that
/// some rows need are read for all of them first, so that the cache misses overlap. No other row is read. Not
/// thread-safe.
final class SegmentCleaner {
    private static final int AT_ONCE = 64;
    private static final int BYTES_MIN = Segment.BYTES / 128;
    private static final int PER_APPENDED = 5; // Segments of which 4/5 are live are cleaned in time.

    private final RowStore store;
    private final long[] hashes = new long[AT_ONCE];
    private final long[] rows = new long[AT_ONCE];
    private int count;
    private @Nullable Segment victim; // The segment that it continues with ...
    private long at; // ... from here on ...
    private long frameEnd; // ... in the frame that ends here.
    private long appendedBefore;

    @SuppressWarnings("UnusedVariable")
    private long touched; // Keeps reading ahead from being optimised away.

    SegmentCleaner(RowStore store) {
        this.store = store;
    }

    /// Does enough to keep up with the rows that were appended since the last call, and no more, because a
    /// caller waits.
    void goOn() {
        long left = BYTES_MIN + (store.appendedBytes - appendedBefore) * PER_APPENDED;
        while (left > 0 && hasVictim()) {
            left -= step(Objects.requireNonNull(victim), left);
        }
        appendedBefore = store.appendedBytes; // With the rows that it has appended itself.
    }

    private boolean hasVictim() {
        if (victim == null || store.bySlot[victim.slot] != victim) { // Otherwise it was released meanwhile.
            victim = store.isTooMuchDead() ? emptiest() : null;
            at = Segment.FILE_HEADER_BYTES;
            frameEnd = at;
        }
        return victim != null;
    }

    /// The emptiest segment; `null` if there is none, or if the last checkpoint may still be writing it.
    private @Nullable Segment emptiest() {
        Segment emptiest = null;
        for (Segment segment : store.bySlot) {
            if (segment != null && segment != store.head && (emptiest == null || segment.live < emptiest.live)) {
                emptiest = segment;
            }
        }
        return emptiest == null || emptiest.used > emptiest.persisted ? null : emptiest;
    }

    /// Returns the number of bytes that it has done.
    private long step(Segment from, long bytes) {
        long began = at;
        while (at - began < bytes && at < from.used) {
            if (at == frameEnd) {
                at += Segment.FRAME_HEADER_BYTES;
                frameEnd = at + Frames.length(from, frameEnd);
            } else {
                long rowStart = from.varintEnd(at);
                take(from, at, rowStart);
                at = rowStart + from.varint(at);
            }
        }
        copyLive(from);
        if (at == from.used) {
            store.release(from);
            victim = null;
        }
        return at - began;
    }

    private void take(Segment from, long rowAt, long rowStart) {
        hashes[count] = store.hashAt(from, rowStart);
        rows[count++] = rowAt;
        if (count == AT_ONCE) {
            copyLive(from);
        }
    }

    private void copyLive(Segment from) {
        for (int i = 0; i < count; i++) {
            touched += store.index.get(store.index.home(hashes[i]));
        }
        for (int i = 0; i < count; i++) {
            long slot = store.index.slotOf(hashes[i], RowStore.location(from, rows[i]));
            if (slot >= 0) {
                store.copy(from, rows[i], slot, hashes[i]);
            }
        }
        count = 0;
    }
}
