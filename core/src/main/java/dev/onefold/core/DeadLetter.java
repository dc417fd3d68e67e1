package dev.onefold.core;

import dev.onefold.core.event.Reason;
import java.time.Instant;

/// A record that could not be processed, whole.
///
/// @param id its number in the dead letters, never given twice
/// @param bytes how many the record has; [DeadLetters#record] gives them
/// @param kept false for a record over the limit, of which only place, length and hash are kept
/// @param sha256 hash of the record, in hexadecimal
/// @param at when it was rejected
public record DeadLetter(
        long id, Reason reason, String message, Place place, long bytes, boolean kept, String sha256, Instant at) {}
