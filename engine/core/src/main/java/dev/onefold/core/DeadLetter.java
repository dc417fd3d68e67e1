package dev.onefold.core;

import dev.onefold.core.event.Reason;
import java.time.Instant;

/// A record that could not be processed.
///
/// @param id its number in the dead letters, never given twice
/// @param reason reason of the last rejection
/// @param bytes length of its content; of a record that is not kept, the length that the record has at its
///     place
/// @param content kind of the content that is kept; [DeadLetters#record] returns the content itself
/// @param edited whether an edit was redriven and rejected, too; [DeadLetters#edited] returns the last one
/// @param sha256 hash of the content, in hexadecimal
/// @param at time of the first rejection
public record DeadLetter(
        long id,
        Reason reason,
        String message,
        Place place,
        long bytes,
        Content content,
        boolean edited,
        String sha256,
        Instant at) {
    /// The kind of content that a letter holds.
    public enum Content {
        /// The record, byte for byte as it arrived.
        RECORD,
        /// JSON in place of a record that is not available: the values that the pipeline had read of it,
        /// because a row holds nothing else of the record; on AWS also the place of a record that the stream
        /// no longer has.
        SUMMARY,
        /// Nothing, because the record is over the limit: only its place, length and hash are known.
        NOTHING
    }

    /// Whether there are bytes to read.
    public boolean kept() {
        return content != Content.NOTHING;
    }

    /// Where a record was first read: its source, its line there (from 1) and the offset of its first byte.
    public record Place(String source, long line, long offset) {}
}
