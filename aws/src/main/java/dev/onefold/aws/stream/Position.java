package dev.onefold.aws.stream;

import java.time.Instant;

/// A place in a shard: a record, or a time.
public sealed interface Position {
    /// The record that has this number, if it is still there.
    record Sequence(String number) implements Position {
        public Sequence {
            if (!number.matches("[0-9]{1,128}")) {
                throw new IllegalArgumentException("A sequence number has 1 to 128 digits, unlike '" + number + "'");
            }
        }
    }

    /// The time at which records came, about.
    record Time(Instant at) implements Position {}
}
