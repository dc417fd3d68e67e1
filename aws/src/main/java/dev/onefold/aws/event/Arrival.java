package dev.onefold.aws.event;

import dev.onefold.core.bytes.RecordKind;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A record as a stream delivered it. What makes it the same record when it is delivered again is its place: shard,
/// sequence number and, within a record that holds several, sub-sequence number.
///
/// @param shard name of the stream and its shard, such as `trades/shardId-000000000001`, or of the queue
/// @param sequence decimal, up to 56 digits; of a queue the message id, which is no number
/// @param subSequence from 0; 0 where a record holds one
/// @param atMs when the stream took it, epoch milliseconds; [#NOT_KNOWN] if nobody says. The delay that is shown and a
///     pipeline's horizon depend on it; it is the same at each delivery
/// @param kind of the record: what comes from a stream or a queue was sent
public record Arrival(String shard, String sequence, long subSequence, byte[] data, long atMs, RecordKind kind) {
    /// In place of a time.
    public static final long NOT_KNOWN = 0;

    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    /// A record that was sent.
    public Arrival(String shard, String sequence, long subSequence, byte[] data, long atMs) {
        this(shard, sequence, subSequence, data, atMs, RecordKind.SENT);
    }

    /// The same bytes as another kind of record, of another time.
    public Arrival as(RecordKind other, long ms) {
        return new Arrival(shard, sequence, subSequence, data, ms, other);
    }

    /// A record that was sent, of which nobody says when it came.
    public Arrival(String shard, String sequence, long subSequence, byte[] data) {
        this(shard, sequence, subSequence, data, NOT_KNOWN);
    }

    /// Where it is, in one text.
    public String place() {
        return shard + ":" + sequence + ":" + subSequence;
    }

    /// The bytes by which the source names the record, for pipelines whose records count by that. A message is
    /// named by its id alone, because it keeps the id when the queue moves it to another queue.
    public byte[] identity() {
        boolean isMessage = !EventJson.isSequence(sequence);
        return (isMessage ? sequence : place()).getBytes(StandardCharsets.UTF_8);
    }

    /// A time as [#atMs] has it: not known, if there is none, or none that a stream can have.
    public static long ms(@Nullable Instant at) {
        return at == null || at.isBefore(Instant.EPOCH) || at.isAfter(LATEST) ? NOT_KNOWN : at.toEpochMilli();
    }
}
