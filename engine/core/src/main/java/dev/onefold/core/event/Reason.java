package dev.onefold.core.event;

import java.util.Locale;

/// Why a record became a dead letter.
public enum Reason {
    /// The bytes do not follow the format.
    MALFORMED,
    /// A field is missing, of the wrong kind, or out of its declared range.
    REFUSED,
    /// Over a named limit; of a record over 10 MiB only place, length and hash are kept.
    TOO_LARGE,
    /// Its time is more than the horizon before its arrival.
    TOO_OLD,
    /// Its time is more than a day after its arrival, and the pipeline has a horizon or `keep`.
    TOO_NEW,
    /// Equal version, other contribution: this one is the lesser of the two.
    CONFLICT,
    /// It is below the events that are kept of its key, or its refold would change too much.
    TOO_LATE,
    /// The function threw, did not return in time, or broke a limit.
    FAILED,
    /// Its step would put or remove a row of a table that another key owns.
    NOT_THE_OWNER;

    /// As it is in lists and logs.
    public String words() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /// Whether the function has met the event, which contributes nothing and keeps its place among the others of
    /// its key.
    public boolean isOfStep() {
        return this == FAILED || this == NOT_THE_OWNER;
    }

    /// Whether the letter of an event goes when the event is folded after all.
    public boolean mayFoldLater() {
        return isOfStep() || this == TOO_LATE;
    }
}
