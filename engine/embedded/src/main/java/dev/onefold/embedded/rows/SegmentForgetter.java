package dev.onefold.embedded.rows;

import java.util.stream.LongStream;

/// Drops the forgotten rows of a store: the oldest segment is dropped as soon as all of its rows are forgotten,
/// so no row is copied. Where one row may be kept for a hundred years, three quarters of them are enough, and
/// the others are copied. The segment is in the next [RowStore#cut], and so leaves memory and disk with the
/// next checkpoint, which also holds the amounts that its owner has kept of the rows. Not thread-safe.
///
/// Only the oldest segment is dropped. A row that was replaced stays in its segment, dead, and a start would
/// find it again if the segment with the newer row were gone. The newer row is always in a later segment.
final class SegmentForgetter {
    private static final long MOST_PERCENT = 75;

    private final RowStore store;
    private final Lifetime lifetime;
    private long examined = -1; // Number of the segment whose rows were looked at last, and until when they are kept.
    private long examinedUntilMs;

    SegmentForgetter(RowStore store, Lifetime lifetime) {
        this.store = store;
        this.lifetime = lifetime;
    }

    /// The lifetime of the rows of a store. From the time at which a row is forgotten, it is as if it had
    /// never come.
    interface Lifetime {
        /// The last time at which a row is not forgotten, on the clock of the store's owner.
        ///
        /// @param rowStart where the row begins behind its length
        long keptUntilMs(Segment segment, long rowStart, long rowEnd);
    }

    /// Called once per row that is dropped.
    interface Dropped {
        void row(Segment segment, long rowStart);
    }

    /// Whether a row is forgotten at a time, dropped or not.
    boolean isForgotten(Segment segment, long rowStart, long rowEnd, long atMs) {
        return lifetime.keptUntilMs(segment, rowStart, rowEnd) < atMs;
    }

    /// Drops the oldest segment, if all of its rows are forgotten at a time.
    ///
    /// @param copies whether most of them are enough, and the others are copied
    void drop(long atMs, Dropped dropped, boolean copies) {
        Segment oldest = store.head;
        for (Segment segment : store.bySlot) {
            oldest = segment != null && segment.sequence < oldest.sequence ? segment : oldest;
        }
        if (oldest == store.head || oldest.used > oldest.persisted || keptUntilMs(oldest, copies) >= atMs) {
            return;
        }
        Segment victim = oldest;
        Frames.forEachRow(victim, victim.used, (rowAt, rowStart, rowEnd) -> {
            if (!isForgotten(victim, rowStart, rowEnd, atMs)) {
                copy(victim, rowAt, rowStart);
            } else if (store.remove(victim, rowAt, rowStart)) {
                dropped.row(victim, rowStart);
            }
        });
        store.release(victim);
    }

    private void copy(Segment from, long rowAt, long rowStart) {
        long hash = store.hashAt(from, rowStart);
        long slot = store.index.slotOf(hash, RowStore.location(from, rowAt));
        if (slot >= 0) {
            store.copy(from, rowAt, slot, hash);
        }
    }

    private long keptUntilMs(Segment segment, boolean most) {
        if (segment.sequence != examined) {
            LongStream.Builder untilMs = LongStream.builder();
            Frames.forEachRow(
                    segment,
                    segment.used,
                    (_, rowStart, rowEnd) -> untilMs.add(lifetime.keptUntilMs(segment, rowStart, rowEnd)));
            long[] all = untilMs.build().sorted().toArray();
            examined = segment.sequence;
            examinedUntilMs = all.length == 0
                    ? Long.MIN_VALUE
                    : all[most ? (int) (MOST_PERCENT * (all.length - 1L) / 100) : all.length - 1];
        }
        return examinedUntilMs;
    }
}
