package dev.onefold.tables.compare;

import dev.onefold.core.state.RangeSums;

/// Bounds how many rows a repair removes because the source lacks them: a table that was named by mistake, or was
/// emptied, must not take all rows with it. One thread.
///
/// Keys are hashed, so the ranges in front of any place have their share of all rows. So the first slice of ranges
/// shows already what all of them will come to.
final class Removals {
    /// Rows that may be removed whatever their share is.
    static final long FEW = 100;

    /// More than one row in so many is too many.
    static final int ONE_IN = 10;

    private final long rows;
    private final boolean areUnlimited;
    private long ghosts;

    /// @param rows that the engine has
    Removals(long rows, boolean areUnlimited) {
        this.rows = rows;
        this.areUnlimited = areUnlimited;
    }

    /// Whether rows may be removed that the source lacks.
    ///
    /// @param more of them in the next ranges
    /// @param to the end of these ranges
    /// @param sourceRows all rows of the source
    boolean allow(long more, int to, long sourceRows) {
        ghosts += more;
        long share = rows * to / RangeSums.RANGES / ONE_IN;
        return areUnlimited || sourceRows > 0 && ghosts <= Math.max(FEW, share);
    }
}
