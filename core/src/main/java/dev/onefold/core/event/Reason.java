package dev.onefold.core.event;

/// Why a record became a dead letter.
public enum Reason {
    /// The bytes are not what the format says.
    MALFORMED,
    /// A field is missing, of the wrong kind, or out of its declared range.
    REFUSED,
    /// Over a named limit; of a record over 10 MiB only place, length and hash are kept.
    TOO_LARGE,
    /// More than the horizon before its arrival.
    TOO_OLD,
    /// More than a day ahead of its arrival, where a horizon is set.
    TOO_NEW,
    /// Equal version, other contribution: the lesser of the two.
    CONFLICT,
    /// Below the events that are kept of its key, or its refold would change too much.
    TOO_LATE,
    /// The function threw, did not return in time, or broke a limit.
    FAILED
}
