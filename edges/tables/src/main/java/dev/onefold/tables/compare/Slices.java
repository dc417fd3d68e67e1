package dev.onefold.tables.compare;

import dev.onefold.core.state.RangeSums;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// Cuts the ranges that differ into slices, in the order of the ranges. The rows of a slice are in memory together.
final class Slices {
    /// Rows of both sides.
    static final int KEYS_MAX = 300_000;

    /// Of rows of the source, which are kept whole for a repair.
    private static final long ROW_BYTES_MAX = 128L << 20;

    private Slices() {}

    /// @param rowBytes of the source, on average
    static List<BitSet> of(RangeSums ours, RangeSums theirs, long rowBytes) {
        long keysMax = Math.clamp(ROW_BYTES_MAX / Math.max(1, rowBytes), 1, KEYS_MAX);
        BitSet differing = ours.differing(theirs);
        List<BitSet> slices = new ArrayList<>();
        BitSet slice = new BitSet();
        long keys = 0;
        for (int range = differing.nextSetBit(0); range >= 0; range = differing.nextSetBit(range + 1)) {
            long more = (long) ours.count(range) + theirs.count(range);
            if (keys > 0 && keys + more > keysMax) {
                slices.add(slice);
                slice = new BitSet();
                keys = 0;
            }
            slice.set(range);
            keys += more;
        }
        if (!slice.isEmpty()) {
            slices.add(slice);
        }
        return slices;
    }
}
