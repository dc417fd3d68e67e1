package dev.onefold.embedded.fold;

import dev.onefold.core.Counts;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Event;
import dev.onefold.core.letter.ConflictLetter;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.seal.RecordLine;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.checkpoint.Checkpoint;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.framing.Records;
import dev.onefold.embedded.guard.Backlog;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.rows.Claims;
import dev.onefold.embedded.rows.Forgotten;
import dev.onefold.embedded.rows.RowBatch;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// Members of batches. Shards claim ids side by side, each thread for its own; then one pass in the order of arrival
/// gives each new member its place, and keeps each second content of an id as a dead letter.
public final class MemberFold implements ShardFold {
    private final State state;
    private final Claims[] shards;
    private final Batches batches;
    private final Backlog backlog;
    private final Letters letters;
    private final boolean isJson;
    private final boolean byPlace;
    private final Batching batching;
    private final Forget forget;

    MemberFold(Parts parts, Batching batching) {
        this.batching = batching;
        forget = batching.forget();
        state = parts.state((pipeline, _, _, memory, names) -> new Claims(pipeline, forget, memory, names));
        shards = Arrays.copyOf(state.shards, state.shards.length, Claims[].class);
        batches = new Batches(batching, parts.directory(), parts.identity());
        backlog = new Backlog(parts.settings());
        letters = parts.letters();
        isJson = state.pipeline.input().format() instanceof Format.Json;
        byPlace = state.pipeline.input().identity() instanceof Identity.ByPlace;
    }

    @Override
    public State state() {
        return state;
    }

    @Override
    public Optional<MemberFold> members() {
        return Optional.of(this);
    }

    /// Batches that are sealed, and the one that is open.
    public Batches batches() {
        return batches;
    }

    @Override
    public Encoder encoder() {
        RowBatch.EncodedKey key = new RowBatch.EncodedKey();
        return (event, chunk, records) -> {
            int shard = byPlace ? Arrivals.NO_SHARD : claim(event, chunk, records, key);
            chunk.arrivals().add(event, records, shard);
        };
    }

    /// Notes the claim of an id; the shard that decides it.
    private int claim(Event event, Chunk chunk, Records records, RowBatch.EncodedKey key) {
        key.set(event.data, event.keyFrom, event.keyTo);
        int shard = key.shard(chunk.rows.length);
        chunk.rows[shard].addMember(
                event, key.from(chunk.source.number(), records.place()), !(forget instanceof Forget.Never));
        return shard;
    }

    /// Notes the ids that may come again, for each chunk of a round. If ids are forgotten after a time, that
    /// depends on the greatest arrival up to this chunk, so that it is the same however the chunks are
    /// divided into rounds.
    @Override
    public void begin(List<Chunk> chunks, Instant now) {
        Claims.Moment delivered = new Claims.Moment(batches.forgotten(), batches.members() + 1);
        long seenMs = state.seenMs();
        for (Chunk chunk : chunks) {
            chunk.arrivals().moment = delivered;
            if (forget instanceof Forget.After(Duration time)) {
                seenMs = Math.max(seenMs, arrivedMs(chunk, now));
                chunk.seenMs = seenMs;
                chunk.arrivals().moment = new Claims.Moment(Forgotten.below(seenMs - time.toMillis()), seenMs);
            }
        }
    }

    /// Claims the ids that belong to a shard.
    @Override
    public void apply(int shard, List<Chunk> chunks) {
        Claims claims = shards[shard];
        for (Chunk chunk : chunks) {
            RowBatch batch = chunk.rows[shard];
            Arrivals arrivals = chunk.arrivals();
            claims.claim(batch, arrivals.moment, arrivals.claimed(shard, batch.count()));
        }
        claims.sweep(chunks.getLast().arrivals().moment.forgotten());
        claims.clean();
    }

    /// Gives each new member its place.
    @Override
    public void end(List<Chunk> chunks, Instant now) {
        for (Chunk chunk : chunks) {
            int[] next = new int[shards.length];
            Arrivals arrivals = chunk.arrivals();
            for (int i = 0; i < arrivals.count; i++) {
                int shard = arrivals.shard[i];
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
        if (chunk.arrivals().to[i] > chunk.arrivals().from[i]) {
            add(chunk, i, now);
        }
    }

    /// @param row of the event among those of its shard
    private void addById(Chunk chunk, int i, int row, Instant now) {
        Arrivals arrivals = chunk.arrivals();
        int shard = arrivals.shard[i];
        long claimed = arrivals.claimed[shard][row];
        if (claimed == Claims.CONFLICT) {
            keep(chunk, chunk.rows[shard].member(row), arrivals.place[i], now);
        } else if (claimed > 0) {
            shards[shard].setPlace(claimed, add(chunk, i, now));
        }
    }

    private long add(Chunk chunk, int i, Instant now) {
        int from = chunk.arrivals().from[i];
        int to = chunk.arrivals().to[i];
        if (isJson) { // A member is one line.
            RecordLine.join(chunk.bytes, from, to);
        }
        return batches.add(chunk.bytes, from, to, arrivedMs(chunk, now), now.toEpochMilli());
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

    /// Removes some claims of ids that are forgotten; returns whether there may be more of them.
    public boolean sweep() {
        Forgotten forgotten = forget instanceof Forget.After(Duration time)
                ? Forgotten.below(state.seenMs() - time.toMillis())
                : batches.forgotten();
        boolean isSwept = false;
        for (Claims claims : shards) {
            isSwept |= claims.sweep(forgotten);
            claims.clean();
        }
        return isSwept;
    }

    private record Seal(Batches batches, Batches.Cut cut) implements Cut {
        @Override
        public byte[] state() {
            return cut.state();
        }

        @Override
        public void write() throws OutOfSpaceException {
            batches.write(cut);
        }

        @Override
        public void written() {
            batches.written(cut);
        }
    }

    @Override
    public Cut cut() {
        return new Seal(batches, batches.cut());
    }

    @Override
    public boolean isCheckpointDue() {
        return batches.isFull();
    }

    @Override
    public void recover(Checkpoint checkpoint) {
        batches.load(checkpoint.batches());
    }

    @Override
    public List<String> files() {
        return batches.files();
    }

    @Override
    public Optional<Backlog> backlog() {
        return backlog.isOver(batches.backlogBytes()) ? Optional.of(backlog) : Optional.empty();
    }

    /// Since when intake waits for the receiver; empty if it does not.
    public Optional<Instant> waitsSince() {
        return backlog.since(batches.backlogBytes());
    }

    /// A sealed batch cannot be recomputed: its cut is recorded and cannot be derived from the records.
    @Override
    public void requireRecomputable() {
        throw new IllegalArgumentException("Pipeline " + state.pipeline.name()
                + " makes batches, which cannot be recomputed. 'onefold batches verify FOLDER' proves what was"
                + " delivered with manifests");
    }

    @Override
    public Basis basis(Pipeline definition, boolean areSourcesWhole) {
        return switch (definition.fold()) {
            case Batching next ->
                Basis.Nothing.sealed(state.pipeline.otherRules(definition).orElseGet(() -> changed(next)));
            case Rollups _, Processing _ -> Basis.Nothing.sealed("the pipeline would make no batches any more");
        };
    }

    @Override
    public void fill(Filling from) {
        throw new IllegalStateException("Sealed batches cannot be sealed again");
    }

    private String changed(Batching next) {
        if (!Objects.equals(batching.compare(), next.compare())) {
            return "'compare' has changed";
        }
        return (forget.equals(next.forget()) ? "'input'" : "'forget'") + " has changed";
    }
}
