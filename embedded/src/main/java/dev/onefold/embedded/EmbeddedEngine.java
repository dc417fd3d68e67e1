package dev.onefold.embedded;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.StoredRow;
import dev.onefold.core.Verification;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.PipelineText;
import dev.onefold.core.pipeline.Reading;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.Totals;
import dev.onefold.embedded.disk.Checkpoint;
import dev.onefold.embedded.disk.DirectoryLock;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.rows.RowBatch;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The engine on one machine: one durable process that owns a data directory.
///
/// One fair lock stands around the state. Intake holds it for a round (some thousand records), an answer for as
/// long as it is made; so each answer is a cut between two rounds. A failure of the storage stops the engine for
/// good: every call after it says why, and the next start goes on from what is durable.
public final class EmbeddedEngine implements Engine {
    private final Path directory;
    private final Settings settings;
    private final DirectoryLock directoryLock;
    private final ReentrantLock lock = new ReentrantLock(true);
    private final Workers workers;
    private final State state;
    private final Letters letters;
    private final GroupLogs groupLogs;
    private final Folding folding;
    private final Journal journal;
    private final Commits commits;
    private final Checkpoints checkpoints;
    private final ReentrantLock foldLock = new ReentrantLock();
    private @Nullable RuntimeException failure;
    private boolean closed;

    private EmbeddedEngine(
            Path directory,
            Pipeline pipeline,
            Settings settings,
            DirectoryLock directoryLock,
            @Nullable Checkpoint from) {
        this.directory = directory;
        this.settings = settings;
        this.directoryLock = directoryLock;
        workers = new Workers(settings.threads());
        Recovery.Recovered recovered = new Recovery(directory, pipeline, settings, workers).recover(from);
        state = recovered.state();
        letters = recovered.letters();
        groupLogs = recovered.groupLogs();
        folding = new Folding(state, letters, settings, workers);
        journal = openJournal(from == null ? Journal.Position.START : from.journal());
        commits = new Commits(state, folding, letters, journal);
        checkpoints = new Checkpoints(
                directory,
                new Checkpoints.Engine(
                        state,
                        letters,
                        groupLogs,
                        journal,
                        settings,
                        PipelineText.write(pipeline),
                        from == null ? 0 : from.number(),
                        from == null ? Instant.EPOCH : from.at()));
        replayed.forEach(commits::replay);
        replayed.clear();
        if (from == null || from.rows().size() != settings.shards()) {
            checkpoints.take(); // The definition, and a new number of shards, are durable before anything is folded.
            checkpoints.await();
        }
    }

    private final List<Entry> replayed = new ArrayList<>();

    private Journal openJournal(Journal.Position from) {
        while (true) {
            try {
                replayed.clear();
                return Journal.open(directory, from, payload -> replayed.add(Entry.decode(payload)));
            } catch (OutOfSpaceException e) {
                settings.pause().run();
            }
        }
    }

    /// Opens a data directory for a pipeline, creating it if need be, and recovers what is durable.
    ///
    /// @throws EngineException if it is in use, damaged, or holds the data of another definition
    public static EmbeddedEngine open(Path directory, Pipeline pipeline, Settings settings) {
        return open(directory, pipeline, settings, true);
    }

    /// Opens a data directory with the definition that is stored in it.
    ///
    /// @throws EngineException if there is none, it is in use or damaged
    public static EmbeddedEngine open(Path directory, Settings settings) {
        return open(directory, null, settings, false);
    }

    private static EmbeddedEngine open(Path directory, @Nullable Pipeline wanted, Settings settings, boolean create) {
        if (create) {
            Disk.createDirectories(directory);
        } else if (!java.nio.file.Files.isDirectory(directory)) {
            throw new EngineException(
                    EngineException.Kind.DEFINITION_CHANGED,
                    "There is no data in " + directory + ". Fold some input first.");
        }
        DirectoryLock directoryLock = DirectoryLock.take(
                directory,
                "process " + ProcessHandle.current().pid() + ", since "
                        + settings.clock().instant());
        try {
            Checkpoint checkpoint = Checkpoint.read(directory);
            Pipeline stored = checkpoint == null ? null : definition(directory, checkpoint);
            Pipeline pipeline = wanted == null ? stored : wanted;
            if (pipeline == null) {
                throw new EngineException(
                        EngineException.Kind.DEFINITION_CHANGED,
                        "There is no data in " + directory + ". Fold some input first.");
            }
            if (stored != null && !PipelineText.write(stored).equals(PipelineText.write(pipeline))) {
                throw new EngineException(
                        EngineException.Kind.DEFINITION_CHANGED,
                        "The pipeline file is not the one that the data in " + directory + " was folded with.");
            }
            return new EmbeddedEngine(directory, pipeline, settings, directoryLock, checkpoint);
        } catch (RuntimeException | Error e) {
            directoryLock.close();
            throw e;
        }
    }

    private static Pipeline definition(Path directory, Checkpoint checkpoint) {
        return switch (PipelineText.read(checkpoint.definition())) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused refused ->
                throw new EngineException(
                        EngineException.Kind.FORMAT,
                        "The definition stored in " + directory + " cannot be read: "
                                + refused.problems().getFirst() + ". Use the version of Onefold that wrote it.");
        };
    }

    @Override
    public Pipeline pipeline() {
        return state.pipeline;
    }

    Settings settings() {
        return settings;
    }

    private <T> T locked(Supplier<T> action) {
        lock.lock();
        try {
            requireWorking();
            return action.get();
        } catch (EngineException e) {
            if (e.kind() == EngineException.Kind.STORAGE_FAILED || e.kind() == EngineException.Kind.CORRUPT) {
                failure = e;
            }
            throw e;
        } catch (IllegalStateException | Error e) {
            failure = new IllegalStateException("An invariant broke; the engine has stopped", e);
            throw e;
        } finally {
            lock.unlock();
        }
    }

    private void requireWorking() {
        RuntimeException cause = failure;
        if (cause != null) {
            throw new EngineException(
                    EngineException.Kind.STOPPED, "The engine has stopped: " + cause.getMessage(), cause);
        }
        if (closed) {
            throw new EngineException(EngineException.Kind.STOPPED, "The engine is closed");
        }
    }

    /// Folds a source that can be read again, from where it was left to its end. When it returns, a forced
    /// checkpoint covers it. One source at a time; others wait.
    ///
    /// @throws EngineException if the source is not what was folded before, or the engine cannot go on
    public FoldReport fold(FileSource file, FoldListener listener) {
        foldLock.lock();
        try {
            return new FileFold(this, file, listener).run();
        } finally {
            foldLock.unlock();
        }
    }

    Checkpoint.@Nullable Source source(String name) {
        return locked(() -> state.sources.store().stream()
                .filter(source -> source.name().equals(name))
                .findFirst()
                .orElse(null));
    }

    List<Checkpoint.Source> replayableSources() {
        return locked(() -> state.sources.store().stream()
                .filter(Checkpoint.Source::replayable)
                .toList());
    }

    Sources.Source openSource(String name) {
        return locked(() -> {
            Sources.Source source = state.sources.findOrAdd(name, true);
            if (!source.replayable) {
                throw new EngineException(
                        EngineException.Kind.SOURCE_CHANGED,
                        "Source " + name + " came through the journal; a file needs a name of its own");
            }
            return source;
        });
    }

    void passNewline(Sources.Source source, MessageDigest digest) {
        locked(() -> {
            source.bytes++;
            source.digest = digest;
            source.unfinished = false;
            return source;
        });
    }

    void foldRound(List<Chunk> chunks) {
        locked(() -> {
            try {
                folding.takeHeader(chunks.getFirst());
                folding.round(chunks);
            } catch (EngineException e) {
                if (e.kind() == EngineException.Kind.STATE_FULL) {
                    checkpoints.take();
                    checkpoints.await();
                }
                throw e;
            }
            checkpoints.takeIfDue();
            return chunks;
        });
    }

    /// Takes a checkpoint now, and waits until it is durable.
    public void checkpointNow() {
        locked(() -> {
            checkpoints.take();
            checkpoints.await();
            return true;
        });
    }

    long durableBytes(String source) {
        return checkpoints.durable().sources().stream()
                .filter(each -> each.name().equals(source))
                .mapToLong(Checkpoint.Source::bytes)
                .findFirst()
                .orElse(0);
    }

    /// Takes whole lines of a source that cannot be read again. When it returns they are forced to disk and in the
    /// totals. Callers at the same time share one force.
    ///
    /// @param firstRecord number of the first line, from 1; lines that are in already are passed over
    /// @return lines of the source that are acknowledged so far
    /// @throws EngineException if lines in between are missing, or the engine cannot go on
    public long append(String source, long firstRecord, byte[] lines, int length) {
        return commit(Commits.Request.lines(source, firstRecord, lines, length)).acknowledged;
    }

    /// Takes records of a source, one a line, behind those it has. See [#append(String, long, byte[], int)].
    public long append(String source, List<String> records) {
        byte[] lines = (String.join("\n", records) + "\n").getBytes(StandardCharsets.UTF_8);
        return append(source, acknowledged(source) + 1, lines, lines.length);
    }

    /// Takes note of a line over the limit: its place, length and hash become a dead letter.
    public long appendOversized(String source, long record, long bytes, byte[] sha256) {
        return commit(Commits.Request.oversized(source, record, bytes, sha256)).acknowledged;
    }

    private Commits.Request commit(Commits.Request request) {
        commits.add(request);
        while (true) {
            boolean done = locked(() -> {
                if (!request.done) {
                    try {
                        commits.commit();
                    } catch (OutOfSpaceException e) {
                        return false;
                    }
                    checkpoints.takeIfDue();
                }
                return request.done;
            });
            if (done) {
                if (request.refused != null) {
                    throw request.refused;
                }
                return request;
            }
            settings.pause().run();
        }
    }

    /// Lines of a source that are acknowledged so far.
    public long acknowledged(String source) {
        return locked(() -> {
            Sources.Source known = state.sources.find(source);
            return known == null ? 0L : known.records;
        });
    }

    @Override
    public Answer query(Query query) {
        int rollup = state.pipeline.rollups().indexOf(state.pipeline.rollup(query.rollup()));
        Answer.Cut[] cut = new Answer.Cut[1];
        Totals totals = locked(() -> {
            cut[0] = new Answer.Cut(state.sources.progress(), settings.clock().instant());
            return state.served(rollup, Tuple.of(query.group()));
        });
        return totals.answer(query, cut[0]);
    }

    @Override
    public Optional<StoredRow> get(List<String> key) {
        int parts = switch (state.pipeline.identity()) {
            case Identity.Versioned versioned -> versioned.key().size();
            case Identity.ById byId -> byId.id().size();
            case Identity.ByPlace _ ->
                throw new IllegalArgumentException("Pipeline " + state.pipeline.name() + " has no keys");
        };
        if (key.size() != parts) {
            throw new IllegalArgumentException(
                    "A key of pipeline " + state.pipeline.name() + " has " + parts + " parts, not " + key.size());
        }
        byte[] bytes = parts == 1
                ? key.getFirst().getBytes(StandardCharsets.UTF_8)
                : Tuple.of(key).bytes();
        if (bytes.length > 2 * dev.onefold.core.pipeline.Limits.KEY_BYTES_MAX) {
            return Optional.empty();
        }
        RowBatch.EncodedKey encoded = new RowBatch.EncodedKey().set(bytes, 0, bytes.length);
        return locked(() -> state.shards[encoded.shard(state.shards.length)].get(encoded, state.sources::name));
    }

    @Override
    public Verification verify() {
        return locked(this::compare);
    }

    private Verification compare() {
        if (state.byPlace) {
            throw new IllegalArgumentException(
                    "Pipeline " + state.pipeline.name() + " keeps no rows to recompute from: its records"
                            + " count by their place. Fold its sources into another data directory (--data) and compare.");
        }
        List<Verification.Difference> differences = new ArrayList<>();
        long groups = 0;
        for (int rollup = 0; rollup < state.groups.length; rollup++) {
            Rollup definition = state.pipeline.rollups().get(rollup);
            Map<Tuple, Aggregate> served =
                    state.served(rollup, Tuple.of(List.of())).leaves();
            Map<Tuple, Aggregate> recomputed = state.recomputed(rollup, workers).leaves();
            for (Map.Entry<Tuple, Aggregate> leaf : served.entrySet()) {
                Aggregate other = java.util.Objects.requireNonNull(recomputed.get(leaf.getKey()));
                groups += leaf.getValue().isEmpty() && other.isEmpty() ? 0 : 1;
                if (!leaf.getValue().isSame(other)) {
                    differences.add(new Verification.Difference(
                            definition.name(),
                            leaf.getKey().parts(),
                            leaf.getValue().answers(),
                            other.answers()));
                }
            }
        }
        return new Verification(state.rows() + " rows", groups, differences);
    }

    @Override
    public Verification rebuild() {
        return locked(() -> {
            Verification before = compare();
            workers.run(state.shards.length, shard -> state.shards[shard].recount(state.pipeline));
            groupLogs.beginAnew();
            checkpoints.take();
            checkpoints.await();
            return before;
        });
    }

    @Override
    public DeadLetters deadLetters() {
        return new LetterBox(letters, this::locked, this::commit);
    }

    @Override
    public Counts counts() {
        return locked(state::allCounts);
    }

    /// How the engine is.
    public Status status() {
        return locked(() -> new Status(
                state.rows(),
                state.memory.used(),
                checkpoints.durable().number(),
                checkpoints.durable().at(),
                state.sources.progress()));
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            try {
                if (failure == null) {
                    checkpoints.take();
                    checkpoints.await();
                }
            } finally {
                closed = true;
                release();
            }
        } finally {
            lock.unlock();
        }
    }

    private void release() {
        checkpoints.close();
        workers.close();
        if (failure == null) { // A writer may still be at work after a failure; the process is about to end.
            state.close();
        }
        letters.close();
        groupLogs.close();
        journal.close();
        directoryLock.close();
    }
}
