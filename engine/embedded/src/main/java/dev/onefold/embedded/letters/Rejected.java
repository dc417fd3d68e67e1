package dev.onefold.embedded.letters;

import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.bytes.RecordKind;
import java.time.Instant;

/// A record that is rejected.
///
/// @param id number of its dead letter until it was redriven; 0 if it had none
/// @param kind of the record by the way it came
public record Rejected(long id, Place place, byte[] record, Instant at, RecordKind kind) {}
