package dev.onefold.aws.state;

import dev.onefold.core.event.Malformed;

/// What became of a record.
public sealed interface Fate {
    /// Its contribution is the key's now.
    record Accepted() implements Fate {}

    /// It was there already.
    record Duplicate() implements Fate {}

    /// A higher version is there.
    record Stale() implements Fate {}

    /// One version, two contents: the lesser of the two is a dead letter.
    record Conflicting() implements Fate {}

    /// It is a dead letter.
    record Rejected(Malformed malformed) implements Fate {}
}
