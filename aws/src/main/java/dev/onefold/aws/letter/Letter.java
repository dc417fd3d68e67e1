package dev.onefold.aws.letter;

import dev.onefold.aws.Arrival;
import dev.onefold.core.event.Reason;

/// A record that is to be kept.
///
/// @param identity the same whenever the same letter is to be kept again, and for nothing else
/// @param arrival the record, and where it came from
public record Letter(String identity, Reason reason, String message, Arrival arrival) {
    /// A record that was rejected where it was read: its place is its identity.
    public static Letter rejected(Arrival arrival, Reason reason, String message) {
        return new Letter(
                arrival.shard() + ":" + arrival.sequence() + ":" + arrival.subSequence(), reason, message, arrival);
    }
}
