package dev.onefold.tables.compare;

import dev.onefold.core.state.RangeSums;

/// Limits the rows that a repair removes because the source lacks them: a table that was named by mistake, or
/// was emptied, must not remove all rows. Not thread-safe.
///
/// Keys are hashed, so the ranges in front of any place have their share of all rows. So the first slice of
/// ranges already shows the share in all of them.
final class Removals {
    /// Rows that may be removed, even if their share is greater.
    static final long FEW = 100;

    /// More removals than one row in this many are too many.
    static final int ONE_IN = 10;

    private final long rows;
    private final boolean areUnlimited;
    private long ghosts;

    /// @param rows number of rows in the engine
    Removals(long rows, boolean areUnlimited) {
        this.rows = rows;
        this.areUnlimited = areUnlimited;
    }

    /// Whether the rows that the source lacks may be removed.
    ///
    /// @param more number of such rows in the next ranges
    /// @param to the end of these ranges
    /// @param sourceRows all rows of the source
    boolean allow(long more, int to, long sourceRows) {
        ghosts += more;
        long share = rows * to / RangeSums.RANGES / ONE_IN;
        return areUnlimited || sourceRows > 0 && ghosts <= Math.max(FEW, share);
    }
}
