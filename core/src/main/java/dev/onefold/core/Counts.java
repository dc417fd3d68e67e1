package dev.onefold.core;

/// What became of the records: each is one of accepted, duplicate, stale, conflicting or rejected. How many were
/// duplicate or stale depends on the order of arrival; the totals do not.
public record Counts(long accepted, long duplicate, long stale, long conflicting, long rejected) {
    /// How many records there were.
    public long records() {
        return accepted + duplicate + stale + conflicting + rejected;
    }

    /// The sum of both.
    public Counts plus(Counts other) {
        return new Counts(
                accepted + other.accepted,
                duplicate + other.duplicate,
                stale + other.stale,
                conflicting + other.conflicting,
                rejected + other.rejected);
    }

    /// What these are more than others.
    public Counts minus(Counts other) {
        return new Counts(
                accepted - other.accepted,
                duplicate - other.duplicate,
                stale - other.stale,
                conflicting - other.conflicting,
                rejected - other.rejected);
    }
}
