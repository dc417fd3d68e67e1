package dev.onefold.core;

/// The numbers of records by fate, with the causes that have names.
public record Fates(Counts counts, Causes causes) {
    /// No record came.
    public static final Fates NONE = new Fates(new Counts(0, 0, 0, 0, 0), Causes.NONE);

    /// The sum of both.
    public Fates plus(Fates more) {
        return new Fates(counts.plus(more.counts), causes.plus(more.causes));
    }
}
