package dev.onefold.embedded.fold;

import dev.onefold.core.ConflictLetter;
import dev.onefold.core.Counts;
import dev.onefold.core.batch.RecordLine;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Event;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.rows.Claims;
import dev.onefold.embedded.rows.Forgotten;
import dev.onefold.embedded.rows.RowBatch;
import dev.onefold.embedded.source.Records;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/// Collects the members of batches. Shards claim ids side by side, each thread for its own; then one pass in the order
/// of arrival gives each new member its place, and keeps each second content of an id as a dead letter.
final class Collecting {
    private final State state;
    private final Batches batches;
    private final Letters letters;
    private final boolean isJson;
    private final Forget forget;

    Collecting(State state, Batches batches, Letters letters) {
        this.state = state;
        this.batches = batches;
        this.letters = letters;
        isJson = state.pipeline.input().format() instanceof Format.Json;
        forget = ((Batching) state.pipeline.fold()).forget();
    }

    /// Notes an event that was decoded.
    void add(Event event, Chunk chunk, Records records, RowBatch.EncodedKey key) {
        if (state.byPlace) {
            chunk.arrivals.add(event, records, Arrivals.NO_SHARD);
            return;
        }
        key.set(event.data, event.keyFrom, event.keyTo);
        int shard = key.shard(chunk.rows.length);
        chunk.rows[shard].addMember(
                event, key.from(chunk.source.number(), records.place()), !(forget instanceof Forget.Never));
        chunk.arrivals.add(event, records, shard);
    }

    /// Says which ids may come again, for each chunk of a round. Where ids are forgotten after a time, that depends on
    /// the greatest arrival up to this chunk, so that it is the same however the chunks are divided into rounds.
    void begin(List<Chunk> chunks, Instant now) {
        Claims.Moment delivered = new Claims.Moment(batches.forgotten(), batches.members() + 1);
        long seenMs = state.seenMs();
        for (Chunk chunk : chunks) {
            chunk.moment = delivered;
            if (forget instanceof Forget.After(Duration time)) {
                seenMs = Math.max(seenMs, arrivedMs(chunk, now));
                chunk.seenMs = seenMs;
                chunk.moment = new Claims.Moment(Forgotten.below(seenMs - time.toMillis()), seenMs);
            }
        }
    }

    /// Claims the ids that are a shard's.
    void claim(int shard, List<Chunk> chunks) {
        Claims claims = state.shards[shard].claims();
        for (Chunk chunk : chunks) {
            RowBatch batch = chunk.rows[shard];
            claims.claim(batch, chunk.moment, chunk.arrivals.claimed(shard, batch.count()));
        }
        claims.sweep(chunks.getLast().moment.forgotten());
        state.shards[shard].clean();
    }

    /// Gives each new member its place.
    void collect(List<Chunk> chunks, Instant now) {
        for (Chunk chunk : chunks) {
            int[] next = new int[state.shards.length];
            for (int i = 0; i < chunk.arrivals.count; i++) {
                int shard = chunk.arrivals.shard[i];
                if (shard == Arrivals.NO_SHARD) {
                    addByPlace(chunk, i, now);
                } else {
                    addById(chunk, i, next[shard]++, now);
                }
            }
        }
    }

    private void addByPlace(Chunk chunk, int i, Instant now) {
        state.count(new Counts(1, 0, 0, 0, 0));
        if (chunk.arrivals.to[i] > chunk.arrivals.from[i]) {
            add(chunk, i, now);
        }
    }

    /// @param row of the event among those of its shard
    private void addById(Chunk chunk, int i, int row, Instant now) {
        int shard = chunk.arrivals.shard[i];
        long claimed = chunk.arrivals.claimed[shard][row];
        if (claimed == Claims.CONFLICT) {
            keep(chunk, chunk.rows[shard].member(row), chunk.arrivals.place[i], now);
        } else if (claimed > 0) {
            state.shards[shard].claims().setPlace(claimed, add(chunk, i, now));
        }
    }

    private long add(Chunk chunk, int i, Instant now) {
        if (isJson) { // A member is one line.
            RecordLine.join(chunk.bytes, chunk.arrivals.from[i], chunk.arrivals.to[i]);
        }
        long arrivedMs = arrivedMs(chunk, now);
        return batches.add(chunk.bytes, chunk.arrivals.from[i], chunk.arrivals.to[i], arrivedMs, now.toEpochMilli());
    }

    private static long arrivedMs(Chunk chunk, Instant now) {
        return chunk.arrivedMs == Chunk.NO_ARRIVAL ? now.toEpochMilli() : chunk.arrivedMs;
    }

    private void keep(Chunk chunk, byte[] identity, long place, Instant now) {
        Chunk.Found found = chunk.find(place);
        if (found == null) {
            throw new IllegalStateException(
                    "A record that has just arrived is gone: " + chunk.source.name() + " at " + place);
        }
        chunk.letterStays |= letters.addConflict(
                ConflictLetter.ofMember(identity, found.bytes()), chunk.letter, found.place(), now, RecordKind.SENT);
    }
}
