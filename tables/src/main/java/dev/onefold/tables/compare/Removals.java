package dev.onefold.tables.compare;

import dev.onefold.core.state.RangeSums;

/// Bounds how many rows a repair removes because the source lacks them: a table that was named by mistake, or was
/// emptied, must not take all rows with it. One thread.
///
/// Keys are hashed, so the ranges in front of any place have their share of all rows. So the first slice of ranges
/// shows already what all of them will come to.
public final class Removals {
    /// Rows that may be removed whatever their share is.
    static final long FEW = 100;

    /// More than one row in so many is too many.
    static final int ONE_IN = 10;

    private final long rows;
    private final boolean areUnlimited;
    private final long carried;
    private long begun;
    private long ghosts;
    private long latest;

    /// @param rows that the engine has
    /// @param ghosts in the slices that were looked at before
    public Removals(long rows, boolean areUnlimited, long ghosts) {
        this(rows, areUnlimited, ghosts, 0);
    }

    /// A slice that was begun before is looked at again: rows of it may be removed already, and are not found again.
    ///
    /// @param begun rows of the next slice that an attempt has found which did not end
    public Removals(long rows, boolean areUnlimited, long ghosts, long begun) {
        this(rows, areUnlimited, ghosts, begun, 0);
    }

    /// The same behind comparisons that have failed: what they have removed is a part of all rows, and not of those of
    /// the ranges so far.
    ///
    /// @param carried of `ghosts`, those that they have removed
    public Removals(long rows, boolean areUnlimited, long ghosts, long begun, long carried) {
        this.carried = carried;
        this.rows = rows;
        this.areUnlimited = areUnlimited;
        this.ghosts = ghosts;
        this.begun = begun;
    }

    /// Rows so far that the source lacks, before any of the slice that is being repaired is removed.
    public long ghosts() {
        return ghosts;
    }

    /// Those of the slice that is being repaired.
    public long latest() {
        return latest;
    }

    /// Whether rows may be removed that the source lacks.
    ///
    /// @param more of them in the next ranges
    /// @param to the end of these ranges
    /// @param sourceRows all rows of the source
    boolean allow(long more, int to, long sourceRows) {
        latest = Math.max(more, begun);
        begun = 0;
        ghosts += latest;
        long share = rows * to / RangeSums.RANGES / ONE_IN;
        return areUnlimited
                || sourceRows > 0 && ghosts - carried <= Math.max(FEW, share) && ghosts <= Math.max(FEW, rows / ONE_IN);
    }
}
