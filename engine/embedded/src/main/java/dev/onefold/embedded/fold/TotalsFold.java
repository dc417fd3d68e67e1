package dev.onefold.embedded.fold;

import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Event;
import dev.onefold.core.letter.ConflictLetter;
import dev.onefold.core.map.Groups;
import dev.onefold.core.map.Keep;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Derivation;
import dev.onefold.core.state.Horizon;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.Transition;
import dev.onefold.embedded.framing.Records;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.rows.RowBatch;
import dev.onefold.embedded.rows.Rows;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// Rows that are added up to totals.
public final class TotalsFold implements ShardFold {
    private final State state;
    private final Rows[] shards;
    private final Times times;
    private final Letters letters;
    private final InstantSource clock;
    private final List<List<Transition.Settled>> conflicts = new ArrayList<>(); // By shard.
    private final boolean[] texts;
    private final boolean byPlace;

    TotalsFold(Parts parts) {
        state = parts.state(Rows::new);
        shards = Arrays.copyOf(state.shards, state.shards.length, Rows[].class);
        shards().forEach(_ -> conflicts.add(new ArrayList<>()));
        times = new Times(state, parts.settings().clock());
        letters = parts.letters();
        clock = parts.settings().clock();
        texts = RowBatch.texts(state.pipeline);
        byPlace = state.pipeline.input().identity() instanceof Identity.ByPlace;
    }

    @Override
    public State state() {
        return state;
    }

    /// The shards, by their numbers.
    public List<Rows> shards() {
        return List.of(shards);
    }

    @Override
    public Encoder encoder() {
        return new RowEncoder();
    }

    private final class RowEncoder implements Encoder {
        private final RowBatch.EncodedKey key = new RowBatch.EncodedKey();
        private final Groups.Cache[] caches =
                Arrays.stream(state.groups).map(Groups.Cache::new).toArray(Groups.Cache[]::new);
        private final int[] groups = new int[state.groups.length];

        @Override
        public void add(Event event, Chunk chunk, Records records) {
            if (event.kind == Event.Kind.COUNTED) {
                for (int rollup = 0; rollup < groups.length; rollup++) {
                    if (!caches[rollup].isOf(state.groups[rollup])) {
                        caches[rollup] = new Groups.Cache(state.groups[rollup]);
                    }
                    groups[rollup] = caches[rollup].number(event.data, event.groupFrom[rollup], event.groupTo[rollup]);
                }
            }
            long offset = records.place();
            if (byPlace) {
                key.setNone(offset);
            } else {
                key.set(event.data, event.keyFrom, event.keyTo);
            }
            RowBatch rows = chunk.rows[key.shard(chunk.rows.length)];
            rows.add(event, groups, texts, key.from(chunk.source.number(), offset));
            times.note(event, chunk, rows, records);
        }
    }

    @Override
    public void apply(int shard, List<Chunk> chunks) {
        Rows rows = shards[shard];
        long seenMs = state.seenMs();
        for (Chunk chunk : chunks) {
            if (byPlace) {
                rows.applyByPlace(chunk.rows[shard]);
            } else {
                rows.apply(chunk.rows[shard], seenMs, conflicts.get(shard)::add);
            }
            seenMs = Math.max(seenMs, chunk.seenMs);
        }
        rows.clean();
    }

    @Override
    public void fill(Filling from) {
        new TotalsFill(from, this, letters, clock).fill();
    }

    /// Applies rows that were made of another view's.
    void apply(RowBatch batch, Consumer<Transition.Settled> losers) {
        long needed = state.valueBytesFor(batch.count(), batch.bytes());
        for (Rows shard : shards) {
            needed += shard.bytesFor(batch.bytes(), batch.count());
        }
        state.requireMemoryBeside(needed);
        List<RowBatch> byShard = Arrays.stream(shards).map(_ -> new RowBatch()).toList();
        batch.split(byShard);
        for (int shard = 0; shard < shards.length; shard++) {
            shards[shard].apply(byShard.get(shard), Keep.NOTHING_SEEN, losers); // Its rows bring their marks.
        }
    }

    /// Resets the counts: earlier records were counted elsewhere.
    void resetCounts() {
        for (Rows rows : shards) {
            rows.resetCounts();
        }
    }

    /// Keeps the losers of the conflicts that shards have noted side by side.
    @Override
    public void end(List<Chunk> chunks, Instant now) {
        for (List<Transition.Settled> ofShard : conflicts) {
            for (Transition.Settled conflict : ofShard) {
                if (conflict.arrivedStays()) {
                    keepStored(conflict);
                } else {
                    keepArrived(chunks, conflict);
                }
            }
            ofShard.clear();
        }
        state.endGroups();
    }

    /// Of a stored row only its values are left, and the offset of its record. Its line could be counted if
    /// the record is in this round, but that must make no difference.
    private void keepStored(Transition.Settled conflict) {
        Row loser = conflict.loser();
        letters.addConflict(
                ConflictLetter.of(conflict, state.pipeline),
                0,
                new Place(loser.source(), 0, loser.offset()),
                clock.instant(),
                RecordKind.SENT);
    }

    private void keepArrived(List<Chunk> chunks, Transition.Settled conflict) {
        Row loser = conflict.loser();
        Chunk chunk = chunks.stream()
                .filter(each -> each.covers(loser.source(), loser.offset()))
                .findFirst()
                .orElseThrow(() -> gone(loser));
        Chunk.Found found = chunk.find(loser.offset());
        if (found == null) {
            throw gone(loser);
        }
        chunk.letterStays |= letters.addConflict(
                ConflictLetter.of(conflict, found.bytes()),
                chunk.letter,
                found.place(),
                times.readAt(found.arrivedMs()),
                found.kind());
    }

    private static IllegalStateException gone(Row row) {
        return new IllegalStateException(
                "A record that has just arrived is gone: " + row.source() + " at " + row.offset());
    }

    @Override
    public Basis basis(Pipeline definition, boolean areSourcesWhole) {
        return switch (definition.fold()) {
            case Rollups _ -> fromRows(definition, areSourcesWhole);
            case Processing _ -> Basis.Sources.OTHER_KIND;
            case Batching _ -> Basis.Nothing.MADE_NO_BATCHES;
        };
    }

    private Basis fromRows(Pipeline definition, boolean areSourcesWhole) {
        String forgotten = forgotten(definition, areSourcesWhole);
        if (!forgotten.isEmpty()) {
            return new Basis.Sources(forgotten);
        }
        return switch (Derivation.of(state.pipeline, definition)) {
            case Derivation.Possible possible
            when possible.doubt().isEmpty() || !areSourcesWhole ->
                new Basis.Stored(
                        areSourcesWhole ? List.of() : Derivation.dropped(state.pipeline, definition), possible.doubt());
            case Derivation.Possible possible -> new Basis.Sources(possible.doubt());
            case Derivation.Impossible(var reason) -> new Basis.Sources(reason);
        };
    }

    /// Why the rows are not enough, because ids are forgotten or groups have ended; empty if they are.
    private String forgotten(Pipeline definition, boolean areSourcesWhole) {
        Optional<Keep> next = Keep.of(definition);
        if (state.keep.isPresent() && !next.map(state.keep.get()::keeps).orElse(false)) {
            return "'keep' has ended groups that would be kept now, and their rows are freed";
        }
        if (state.keep.isEmpty() && next.isPresent() && areSourcesWhole) {
            return "the rows do not say the times of their records, by which groups are to end";
        }
        if (state.hasForgotten()) {
            return "ids are forgotten, and of their rows only the totals are kept";
        }
        return !state.forgets && Horizon.ofForgetting(definition).isPresent()
                ? "the rows do not say the times of their records, by which ids are to be forgotten"
                : "";
    }

    @Override
    public TotalsFold listed() {
        if (state.keep.isPresent()) {
            throw new IllegalArgumentException("Pipeline " + state.pipeline.name()
                    + " has 'keep', so the rows of groups that have ended are freed, and a table has them still");
        }
        return state.pipeline.input().identity() instanceof Identity.Versioned ? this : ShardFold.super.listed();
    }
}
