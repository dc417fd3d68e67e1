package dev.onefold.core.event;

/// Why a record became a dead letter.
public enum Reason {
    /// The bytes are not what the format says.
    MALFORMED,
    /// A field is missing, of the wrong kind, or out of its declared range.
    REFUSED,
    /// Over a named limit; of a record over 10 MiB only place, length and hash are kept.
    TOO_LARGE,
    /// Older than the dedupe horizon: nobody can tell whether it was counted.
    TOO_OLD,
    /// Equal version, other contribution: the lesser of the two.
    CONFLICT
}
