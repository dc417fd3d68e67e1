package dev.onefold.embedded.rows;

/// Drops the forgotten rows of a store: the oldest segment is dropped as soon as all of its rows are
/// forgotten, so no row is copied. The segment is in the next [RowStore#cut], and so leaves memory and disk
/// with the next checkpoint, which also holds the amounts that its owner has kept of the rows. Not
/// thread-safe.
///
/// Only the oldest segment is dropped. A row that was replaced stays in its segment, dead, and a start would
/// find it again if the segment with the newer row were gone. The newer row is always in a later segment.
final class SegmentForgetter {
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
    void drop(long atMs, Dropped dropped) {
        Segment oldest = store.head;
        for (Segment segment : store.bySlot) {
            oldest = segment != null && segment.sequence < oldest.sequence ? segment : oldest;
        }
        if (oldest == store.head || oldest.used > oldest.persisted || keptUntilMs(oldest) >= atMs) {
            return;
        }
        Segment victim = oldest;
        Frames.forEachRow(victim, victim.used, (rowAt, rowStart, _) -> {
            if (store.remove(victim, rowAt, rowStart)) {
                dropped.row(victim, rowStart);
            }
        });
        store.release(victim);
    }

    private long keptUntilMs(Segment segment) {
        if (segment.sequence != examined) {
            long[] untilMs = {Long.MIN_VALUE};
            Frames.forEachRow(
                    segment,
                    segment.used,
                    (_, rowStart, rowEnd) ->
                            untilMs[0] = Math.max(untilMs[0], lifetime.keptUntilMs(segment, rowStart, rowEnd)));
            examined = segment.sequence;
            examinedUntilMs = untilMs[0];
        }
        return examinedUntilMs;
    }
}
