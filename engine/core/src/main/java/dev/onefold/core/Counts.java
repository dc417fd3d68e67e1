package dev.onefold.core;

/// The numbers of records by fate: each record is accepted, duplicate, stale, conflicting, rejected or silent.
/// The numbers of duplicate and stale records depend on the order of arrival; the totals do not.
///
/// @param silent records without a row: tombstones, and marks of transactions in a table's change log
public record Counts(long accepted, long duplicate, long stale, long conflicting, long rejected, long silent) {
    /// Counts without silent records.
    public Counts(long accepted, long duplicate, long stale, long conflicting, long rejected) {
        this(accepted, duplicate, stale, conflicting, rejected, 0);
    }

    /// How many records there were.
    public long records() {
        return accepted + duplicate + stale + conflicting + rejected + silent;
    }

    /// The sum of both.
    public Counts plus(Counts other) {
        return new Counts(
                accepted + other.accepted,
                duplicate + other.duplicate,
                stale + other.stale,
                conflicting + other.conflicting,
                rejected + other.rejected,
                silent + other.silent);
    }

    /// The differences: these counts minus the other ones.
    public Counts minus(Counts other) {
        return new Counts(
                accepted - other.accepted,
                duplicate - other.duplicate,
                stale - other.stale,
                conflicting - other.conflicting,
                rejected - other.rejected,
                silent - other.silent);
    }
}
