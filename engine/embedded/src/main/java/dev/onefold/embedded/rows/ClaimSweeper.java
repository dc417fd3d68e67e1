package dev.onefold.embedded.rows;

/// Removes forgotten claims from a store, a segment at a time: a segment without any claim left goes with the
/// next checkpoint, and the cleaner merges the rest of others. Not thread-safe.
///
/// An older row of the same id may be dead in an older segment, and a start would find it. It was forgotten
/// before the newer one, so a claim that meets it knows that it is forgotten.
final class ClaimSweeper {
    private final RowStore store;
    private final MarkReader marks;
    private int cursor;

    /// @param marks reads the mark of a row
    ClaimSweeper(RowStore store, MarkReader marks) {
        this.store = store;
        this.marks = marks;
    }

    /// Reads the mark of a row.
    interface MarkReader {
        long mark(Segment segment, long rowEnd);
    }

    /// Sweeps the next segment that has claims to be removed; returns whether there was one.
    boolean sweep(Forgotten forgotten) {
        for (int tried = 0; tried < store.bySlot.length; tried++) {
            cursor = (cursor + 1) % store.bySlot.length;
            Segment segment = store.bySlot[cursor];
            if (segment != null
                    && segment != store.head
                    && segment.used == segment.persisted
                    && isDue(segment, forgotten)) {
                sweep(segment, forgotten);
                return true;
            }
        }
        return false;
    }

    private boolean isDue(Segment segment, Forgotten forgotten) {
        if (segment.markMax == Segment.NO_MARK) {
            long[] max = {Long.MIN_VALUE};
            Frames.forEachRow(
                    segment, segment.used, (_, _, rowEnd) -> max[0] = Math.max(max[0], marks.mark(segment, rowEnd)));
            segment.markMax = max[0];
            segment.keptFirst = max[0];
            segment.keptLast = max[0];
        }
        return segment.markMax < forgotten.below()
                && (!segment.isSwept || forgotten.has(segment.keptFirst) || forgotten.has(segment.keptLast));
    }

    /// Keeps claims in a segment that was swept before until the first or the last of them is forgotten, too.
    private void sweep(Segment victim, Forgotten forgotten) {
        victim.isSwept = true;
        victim.keptFirst = Long.MAX_VALUE;
        victim.keptLast = Long.MIN_VALUE;
        Frames.forEachRow(victim, victim.used, (rowAt, rowStart, rowEnd) -> {
            long mark = marks.mark(victim, rowEnd);
            if (!forgotten.has(mark)) {
                victim.keptFirst = Math.min(victim.keptFirst, mark);
                victim.keptLast = Math.max(victim.keptLast, mark);
                return;
            }
            store.remove(victim, rowAt, rowStart);
        });
        if (victim.live == 0) {
            store.release(victim);
        }
    }
}
