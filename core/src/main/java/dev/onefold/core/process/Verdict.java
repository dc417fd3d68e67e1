package dev.onefold.core.process;

/// The fate of an event that came.
public enum Verdict {
    /// It is in.
    ACCEPTED,
    /// It was in.
    DUPLICATE,
    /// It is below what counts.
    STALE,
    /// Another content of its version is in; the lesser of the two has a dead letter.
    CONFLICTING,
    /// It has a dead letter.
    REJECTED
}
