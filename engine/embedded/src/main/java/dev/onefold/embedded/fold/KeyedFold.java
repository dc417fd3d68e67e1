package dev.onefold.embedded.fold;

import dev.onefold.core.EngineException;
import dev.onefold.core.Status;
import dev.onefold.core.Verification;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.process.KeyDifference;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.process.RowType;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.fold.KeyFolder.Note;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.rows.Keys;
import dev.onefold.embedded.rows.RowBatch;
import dev.onefold.embedded.rows.Shard;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Keys that the user's function folds, and the tables that it writes.
public final class KeyedFold implements ShardFold {
    private final State state;
    private final Processing processing;
    private final Keys[] shards;
    private final boolean sharesRows; // Then events are folded in the order of arrival, whatever their shards are.
    private final Letters letters;
    private final InstantSource clock;
    private final Workers workers;
    private final Codes codes;
    private final @Nullable KeyFolder folding; // `null`: the function's code is not here.
    private final List<List<Note>> notes;

    KeyedFold(Parts parts, Processing processing) {
        this.processing = processing;
        state = parts.state(
                (pipeline, groups, values, memory, _) -> new Keys(pipeline, processing, groups, values, memory));
        shards = Arrays.copyOf(state.shards, state.shards.length, Keys[].class);
        for (Keys each : shards) {
            each.beside(shards);
        }
        sharesRows = processing.sharesRows(parts.pipeline().input());
        letters = parts.letters();
        clock = parts.settings().clock();
        workers = parts.workers();
        codes = parts.codes().orElseThrow();
        folding = codes.of(state.pipeline, processing)
                .map(function -> new KeyFolder(function, shards.length, workers.hasThreads()))
                .orElse(null);
        notes = perShard();
    }

    private <T> List<List<T>> perShard() {
        List<List<T>> lists = new ArrayList<>();
        for (int shard = 0; shard < shards.length; shard++) {
            lists.add(new ArrayList<>());
        }
        return lists;
    }

    @Override
    public State state() {
        return state;
    }

    @Override
    public Encoder encoder() {
        RowBatch.EncodedKey key = new RowBatch.EncodedKey();
        return (event, chunk, records) -> {
            key.setHead(event.data, event.keyFrom, event.keyTo);
            int shard = key.shard(chunk.rows.length);
            chunk.rows[shard].addEvent(event, key.from(chunk.source.number(), records.place()));
            if (sharesRows) {
                chunk.arrivals().add(event, records, shard);
            }
        };
    }

    @Override
    public void apply(int shard, List<Chunk> chunks) {
        if (!sharesRows) {
            requireFunction().fold(shard, shards[shard], chunks, notes.get(shard));
            shards[shard].clean();
        } else if (shard == 0) {
            requireFunction().foldAll(shards, chunks, notes.getFirst());
            for (Keys each : shards) {
                each.clean();
            }
        }
    }

    @Override
    public void end(List<Chunk> chunks, Instant now) {
        new KeyLetters(state, letters, clock).keep(notes, chunks);
    }

    @Override
    public boolean accepts(Chunk chunk) {
        boolean accepts = true;
        for (int shard = 0; accepts && shard < shards.length; shard++) {
            accepts = requireFunction().accepts(shard, shards[shard], chunk);
        }
        return accepts;
    }

    @Override
    public Entry.Settles settlesConflict() {
        return Entry.Settles.LOST;
    }

    @Override
    public String rowWord() {
        return "key";
    }

    @Override
    public void requireRecomputable() {
        requireFunction();
    }

    /// Compares the keys with their kept events.
    @Override
    public Verification audited(Verification ofTotals) {
        KeyFolder own = requireFunction();
        List<List<KeyDifference>> found = perShard();
        workers.run(
                shards.length,
                shard -> own.forEach(
                        shard,
                        shards[shard].keys(),
                        (function, key) -> found.get(shard).addAll(shards[shard].audit(function, key))));
        return ofTotals.with(state.rows(), found.stream().flatMap(List::stream).toList());
    }

    @Override
    public Verification compared(Verification ofTotals, ShardFold recomputed) {
        return ofTotals.with(state.rows(), new KeyComparison(this, recomputed.keyed()).differences());
    }

    @Override
    public Basis basis(Pipeline definition, boolean areSourcesWhole) {
        return switch (definition.fold()) {
            case Processing wants -> {
                FunctionVersions versions = new FunctionVersions(state.pipeline, processing, definition, wants);
                String reason = versions.impossible(codes);
                yield reason.isEmpty()
                        ? new Basis.Stored(List.of(), versions.doubt(letters.size()))
                        : new Basis.Sources(reason);
            }
            case Rollups _ -> Basis.Sources.OTHER_KIND;
            case Batching _ -> Basis.Nothing.MADE_NO_BATCHES;
        };
    }

    /// An older version of the function has folded the keys of the other view, or this one: each key is brought
    /// to this version.
    @Override
    public void fill(Filling from) {
        state.requireMemoryBeside(
                Arrays.stream(from.state().shards).mapToLong(Shard::bytes).sum());
        for (int shard = 0; shard < shards.length; shard++) {
            for (Shard each : from.state().shards) {
                shards[shard].adopt(each, shard, shards.length);
            }
            shards[shard].countLoaded();
        }
        try {
            state.recount(workers);
            if (sharesRows) {
                requireFunction().upgradeAll(shards, notes.getFirst());
            }
            for (int shard = 0; shard < shards.length; shard++) {
                if (!sharesRows) {
                    requireFunction().upgrade(shard, shards[shard], notes.get(shard));
                }
                shards[shard].clean();
            }
            end(List.of(), clock.instant());
        } catch (EngineException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new EngineException(
                    EngineException.Kind.DEFINITION_CHANGED,
                    "The keys cannot follow the new definition: " + e.getMessage()
                            + ". The old one still serves. Put the file back, or fold the records into another data"
                            + " directory (--data).",
                    e);
        }
    }

    @Override
    public KeyedFold keyed() {
        return this;
    }

    @Override
    public Optional<RecordIdentity> stated(byte[] summary) {
        return Optional.of(KeyLetters.stated(state.pipeline, summary));
    }

    @Override
    public boolean canFold() {
        return folding != null;
    }

    @Override
    public void requireCode() {
        requireFunction();
    }

    private KeyFolder requireFunction() {
        if (folding == null) {
            throw new EngineException(
                    EngineException.Kind.DEFINITION_CHANGED,
                    "The code that folds pipeline " + state.pipeline.name()
                            + " is not here: give the pipeline file instead of its name, or open the data directory with its"
                            + " function.");
        }
        return folding;
    }

    @Override
    public Optional<Status.OfFunction> functionStatus() {
        return Optional.of(
                folding == null
                        ? new Status.OfFunction(0, Optional.empty(), 0, codes.otherJar())
                        : folding.status(codes.otherJar()));
    }

    /// The function and its tables.
    public Processing processing() {
        return processing;
    }

    /// The state of a key.
    public Optional<KeyState> state(byte[] key) {
        if (key.length > 2 * Limits.KEY_BYTES_MAX) {
            return Optional.empty();
        }
        RowBatch.EncodedKey head = new RowBatch.EncodedKey().setHead(key, 0, key.length);
        return shards[head.shard(shards.length)].state(head);
    }

    /// The shard that owns a key.
    Keys shardOf(byte[] key) {
        int length = Math.min(key.length, 2 * Limits.KEY_BYTES_MAX); // No key that is stored is longer.
        return shards[new RowBatch.EncodedKey().set(key, 0, length).shard(shards.length)];
    }

    /// Visits the keys, in no order.
    void forEachKey(Consumer<byte[]> visitor) {
        for (Keys shard : shards) {
            shard.forEachKey(visitor);
        }
    }

    /// Visits the rows of a table, in no order.
    ///
    /// @param owner the key whose rows are wanted, as an event has it; `null`: all
    public void forEachRow(int table, byte @Nullable [] owner, Consumer<Keys.TableRow> visitor) {
        if (owner != null) {
            shardOf(owner).forEachRow(table, owner, visitor);
            return;
        }
        for (Keys shard : shards) {
            shard.forEachRow(table, null, visitor);
        }
    }

    /// Visits the rows of a shared table whose keys begin with these parts, in no order.
    ///
    /// @throws IllegalArgumentException if a key of the table has fewer parts
    public void forEachSharedRow(int table, List<String> given, Consumer<Keys.TableRow> visitor) {
        List<String> key = RowType.keyTexts(processing, table, given);
        if (key.size() == processing.tables().get(table).key().size()) {
            shards[0].sharedRow(new RowId(table, Tuple.of(key))).ifPresent(visitor);
            return;
        }
        forEachRow(table, null, row -> {
            if (row.id().key().parts().subList(0, key.size()).equals(key)) {
                visitor.accept(row);
            }
        });
    }

    /// The content of a row in this fold that another fold has; `null` if it is not there.
    byte @Nullable [] content(Keys.TableRow row) {
        return processing.tables().get(row.id().table()).isShared(state.pipeline.input())
                ? shards[0].sharedRow(row.id()).map(Keys.TableRow::content).orElse(null)
                : shardOf(row.owner()).content(row.owner(), row.id());
    }

    @Override
    public void close() {
        if (folding != null) {
            folding.close();
        }
    }
}
