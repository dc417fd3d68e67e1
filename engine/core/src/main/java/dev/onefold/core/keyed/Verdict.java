package dev.onefold.core.keyed;

/// The fate of an event that came.
public enum Verdict {
    /// It is accepted.
    ACCEPTED,
    /// It was accepted before.
    DUPLICATE,
    /// Its version is below those that count.
    STALE,
    /// Another content of its version was accepted; the lesser of the two has a dead letter.
    CONFLICTING,
    /// It has a dead letter.
    REJECTED
}
