package dev.onefold.aws.letter;

import dev.onefold.aws.event.Arrival;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.letter.ConflictLetter;

/// A record that is to be kept.
///
/// @param identity the same whenever the same letter is to be kept again, and for nothing else
/// @param arrival the record, or what was read of it, and where it came from
/// @param content which of the two
/// @param keyHash of the key that the record states; 0 if that cannot be read, or the letter is found otherwise
/// @param view whose pipeline read what is kept instead of the record; 0 if none did
public record Letter(
        String identity,
        Reason reason,
        String message,
        Arrival arrival,
        DeadLetter.Content content,
        long keyHash,
        int view) {
    /// A letter that is not found by its key.
    public Letter(String identity, Reason reason, String message, Arrival arrival, DeadLetter.Content content) {
        this(identity, reason, message, arrival, content, 0, 0);
    }

    /// The loser of a conflict.
    ///
    /// @param arrival where it came from, and what is kept of it
    /// @param view whose pipeline read what is kept instead of the record; 0 if none did
    public static Letter of(ConflictLetter lost, Arrival arrival, int view) {
        Malformed why = lost.why();
        return new Letter(lost.identity(), why.reason(), why.message(), arrival, lost.content(), 0, view);
    }

    /// A row that the next view refuses: its record is gone.
    ///
    /// @param read what the pipeline of a view read of the record
    public static Letter ofRow(String identity, Malformed why, Arrival read, int view) {
        return new Letter(identity, why.reason(), why.message(), read, DeadLetter.Content.SUMMARY, 0, view);
    }

    /// A record that was rejected where it was read: its place is its identity.
    public static Letter rejected(Arrival arrival, Malformed malformed, RecordIdentity stated) {
        return new Letter(
                arrival.shard() + ":" + arrival.sequence() + ":" + arrival.subSequence(),
                malformed.reason(),
                malformed.message(),
                arrival,
                DeadLetter.Content.RECORD,
                stated.keyHash(),
                0);
    }
}
