package dev.onefold.embedded;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.StoredRow;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.PipelineText;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.disk.Checkpoint;
import dev.onefold.embedded.disk.DirectoryLock;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.fold.Chunk;
import dev.onefold.embedded.fold.Comparison;
import dev.onefold.embedded.fold.Sources;
import dev.onefold.embedded.fold.State;
import dev.onefold.embedded.fold.Workers;
import dev.onefold.embedded.rows.RowBatch;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The engine on one machine: one durable process that owns a data directory.
///
/// One fair lock stands around the view.state. Intake holds it for a round (some thousand records), an answer for
/// as long as it is made; so each answer is a cut between two rounds. A failure of the storage stops the engine for
/// good: every call after it says why, and the next start goes on from what is durable.
public final class EmbeddedEngine implements Engine {
    private final Path root;
    private final Settings settings;
    private final @Nullable DirectoryLock directoryLock; // None for a reader, who changes nothing.
    private final ReentrantLock lock = new ReentrantLock(true);
    private final ReentrantLock foldLock = new ReentrantLock();
    private final Workers workers;
    private final Journal journal;
    private final View.Opening opening;
    private final Answers answers;
    private View view;
    private @Nullable Pipeline wanted;
    private @Nullable RuntimeException failure;
    private boolean closed;

    private EmbeddedEngine(Path root, @Nullable Pipeline pipeline, Settings given, @Nullable DirectoryLock held) {
        this.root = root;
        directoryLock = held;
        Stored found = held == null ? Stored.read(root) : Stored.own(root, given, held);
        Checkpoint checkpoint = found.checkpoint();
        settings = pipeline == null && checkpoint != null
                ? given.withShards(checkpoint.rows().size()) // Who only looks does not divide the rows anew.
                : given;
        workers = new Workers(settings.threads());
        answers = new Answers(Answers.bytesMax(settings.stateBytesMax()), Answers.WAIT_MAX, this::locked);
        Pipeline stored = checkpoint == null ? pipeline : View.definition(root, checkpoint);
        if (stored == null) {
            throw Stored.noData(root);
        }
        journal = found.journal();
        opening = new View.Opening(root, settings, workers, found);
        view = View.open(opening, Math.max(found.current().number(), 1), stored, checkpoint);
        found.replayed().forEach(view.commits::replay);
        if (checkpoint == null) {
            view.serve(opening);
        } else if (checkpoint.rows().size() != settings.shards()) {
            view.checkpoints.take(); // A new number of shards is durable before anything is folded.
            view.checkpoints.await();
        }
        boolean same = pipeline == null || PipelineText.write(stored).equals(PipelineText.write(pipeline));
        wanted = same ? null : pipeline;
    }

    /// Opens a data directory for a pipeline, creating it if need be, and recovers what is durable. If the data was
    /// folded with another definition, that one goes on serving until [#fillView], which the first intake calls.
    ///
    /// @throws EngineException if it is in use or damaged
    public static EmbeddedEngine open(Path directory, Pipeline pipeline, Settings settings) {
        Disk.createDirectories(directory);
        FileNames.requireOurs(directory);
        return openLocked(directory, pipeline, settings);
    }

    /// Opens a data directory with the definition that is stored in it.
    ///
    /// @throws EngineException if there is none, it is in use or damaged
    public static EmbeddedEngine open(Path directory, Settings settings) {
        Stored.requireData(directory);
        return openLocked(directory, null, settings);
    }

    /// Opens a data directory to read it, with the definition that is stored in it. The engine creates, locks,
    /// changes and deletes nothing, so that a copy on a read-only medium can be opened. It shows the
    /// directory as it is now, also beside an owner. Intake, redrive, purge and rebuild are refused.
    ///
    /// @throws EngineException if there is no data, or the data are damaged
    public static EmbeddedEngine read(Path directory, Settings settings) {
        Stored.requireData(directory);
        return Stored.besideAnOwner(directory, () -> new EmbeddedEngine(directory, null, settings, null));
    }

    private static EmbeddedEngine openLocked(Path directory, @Nullable Pipeline pipeline, Settings settings) {
        DirectoryLock directoryLock = DirectoryLock.take(
                directory,
                "process " + ProcessHandle.current().pid() + ", since "
                        + settings.clock().instant());
        try {
            return new EmbeddedEngine(directory, pipeline, settings, directoryLock);
        } catch (RuntimeException | Error e) {
            directoryLock.close();
            throw e;
        }
    }

    /// The definition that is wanted, but does not serve yet.
    public Optional<Pipeline> wanted() {
        return locked(() -> Optional.ofNullable(wanted));
    }

    /// Fills a view of the wanted definition, from the rows if they hold all that it reads, else by reading the
    /// sources and the journal again; then it serves. Until then answers come from the old one, and intake waits.
    /// Does nothing if the wanted definition serves already.
    ///
    /// @param reopen gives a source by its name, or null if it cannot be read again
    /// @throws EngineException if what the definition reads was not kept; the old one goes on serving
    public void fillView(Function<String, @Nullable FileSource> reopen) {
        foldLock.lock();
        try {
            Pipeline definition = locked(() -> wanted);
            if (definition == null) {
                return;
            }
            View old = view;
            replace(old, new ViewFill(opening, old, definition).fill(reopen));
        } finally {
            foldLock.unlock();
        }
    }

    private void requireView() {
        fillView(_ -> null);
    }

    @Override
    public Pipeline pipeline() {
        return locked(() -> view.pipeline);
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
            if (e.kind() == EngineException.Kind.STORAGE_FAILED
                    || e.kind() == EngineException.Kind.INACCESSIBLE
                    || e.kind() == EngineException.Kind.CORRUPT) {
                failure = e;
            }
            throw e;
        } catch (IllegalArgumentException e) {
            throw e; // The caller asked for what cannot be.
        } catch (RuntimeException | Error e) {
            failure = new IllegalStateException("An invariant broke: " + e.getMessage(), e);
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
        opening.requireOwner();
        foldLock.lock();
        try {
            requireView();
            return new FileFold(this, file, listener).run();
        } finally {
            foldLock.unlock();
        }
    }

    Checkpoint.@Nullable Source source(String name) {
        return locked(() -> view.state.sources.store().stream()
                .filter(source -> source.name().equals(name))
                .findFirst()
                .orElse(null));
    }

    List<Checkpoint.Source> replayableSources() {
        return locked(() -> view.state.sources.store().stream()
                .filter(Checkpoint.Source::replayable)
                .toList());
    }

    Sources.Source openSource(String name) {
        return locked(() -> {
            Sources.Source source = view.state.sources.findOrAdd(name, true);
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
                view.folding.takeHeader(chunks.getFirst());
                view.folding.round(chunks);
            } catch (EngineException e) {
                if (e.kind() == EngineException.Kind.STATE_FULL) {
                    view.checkpoints.take();
                    view.checkpoints.await();
                }
                throw e;
            }
            view.checkpoints.takeIfDue();
            return chunks;
        });
    }

    /// Takes a checkpoint now, and waits until it is durable.
    public void checkpointNow() {
        locked(() -> {
            view.checkpoints.take();
            view.checkpoints.await();
            return true;
        });
    }

    long durableBytes(String source) {
        return view.checkpoints.durable().sources().stream()
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
        opening.requireOwner();
        requireView();
        view.commits.add(request);
        while (true) {
            boolean done = locked(() -> {
                if (!request.done) {
                    try {
                        view.commits.commit();
                    } catch (OutOfSpaceException e) {
                        return false;
                    }
                    view.checkpoints.takeIfDue();
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
            Sources.Source known = view.state.sources.find(source);
            return known == null ? 0L : known.records;
        });
    }

    @Override
    public Answer query(Query query) {
        return query(query, Answers::onHeap);
    }

    @Override
    public <T> T query(Query query, Function<Answer, T> reader) {
        return answers.answer(query, () -> cut(query), reader);
    }

    private Answers.Cut cut(Query query) {
        int rollup = view.pipeline.rollups().indexOf(view.pipeline.rollup(query.rollup()));
        return new Answers.Cut(
                view.state.served(rollup),
                new Answer.Cut(view.state.sources.covered(), settings.clock().instant()));
    }

    @Override
    public Optional<StoredRow> get(List<String> key) {
        byte[] bytes = StoredRow.keyBytes(pipeline(), key);
        if (bytes.length > 2 * dev.onefold.core.pipeline.Limits.KEY_BYTES_MAX) {
            return Optional.empty();
        }
        RowBatch.EncodedKey encoded = new RowBatch.EncodedKey().set(bytes, 0, bytes.length);
        return locked(() -> view.state.shards[encoded.shard(view.state.shards.length)].get(encoded));
    }

    @Override
    public Verification verify() {
        return locked(this::compare);
    }

    /// Recomputes the totals from the sources, read again, and from the journal, if it was kept; then compares.
    /// Intake waits meanwhile, answers do not.
    ///
    /// @param reopen gives a source by its name, or null if it cannot be read again
    /// @throws EngineException if a source cannot be read again, or is not what it was
    public Verification verify(Function<String, @Nullable FileSource> reopen) {
        return recompute(reopen, false);
    }

    /// Replaces the totals by those recomputed from the sources, read again, and from the journal, if it was kept.
    /// Intake waits meanwhile, answers do not.
    ///
    /// @param reopen gives a source by its name, or null if it cannot be read again
    /// @throws EngineException if a source cannot be read again, or is not what it was; nothing is changed then
    public Verification rebuild(Function<String, @Nullable FileSource> reopen) {
        opening.requireOwner();
        return recompute(reopen, true);
    }

    private Verification recompute(Function<String, @Nullable FileSource> reopen, boolean keep) {
        foldLock.lock();
        try {
            requireView();
            View served = view;
            View shadow = new ViewFill(opening, served, served.pipeline).shadow(reopen);
            Verification difference =
                    locked(() -> Comparison.of(served.state, shadow.state, "the sources, read again"));
            if (keep) {
                replace(served, shadow);
            } else {
                shadow.close(false);
                if (!opening.reading()) {
                    View.deleteOthers(root, served.number);
                }
            }
            return difference;
        } finally {
            foldLock.unlock();
        }
    }

    private void replace(View old, View fresh) {
        locked(() -> {
            old.checkpoints.await();
            fresh.serve(opening);
            view = fresh;
            wanted = null;
            old.close(false);
            View.deleteOthers(root, fresh.number);
            return fresh;
        });
    }

    private Verification compare() {
        State state = view.state;
        if (state.byPlace) {
            throw new IllegalArgumentException("Pipeline " + state.pipeline.name()
                    + " keeps no rows to recompute from: its records count by their place. Verify from its sources"
                    + " (--from-sources).");
        }
        return Comparison.ofRows(state, workers);
    }

    @Override
    public Verification rebuild() {
        opening.requireOwner();
        return locked(() -> {
            Verification before = compare();
            view.state.recount(workers);
            view.groupLogs.beginAnew();
            view.checkpoints.take();
            view.checkpoints.await();
            return before;
        });
    }

    @Override
    public DeadLetters deadLetters() {
        return new LetterBox(() -> view.letters, this::locked, this::commit, this::checkpointNow);
    }

    /// Whether the journal is kept for ever, and its release.
    public KeptJournal journal() {
        return new KeptJournal(opening, () -> view, this::locked);
    }

    @Override
    public Counts counts() {
        return locked(() -> view.state.allCounts());
    }

    /// How the engine is.
    public Status status() {
        return locked(() -> new Status(
                view.state.rows(),
                view.state.memory.used(),
                view.checkpoints.durable().number(),
                view.checkpoints.durable().at(),
                view.checkpoints.stoppedMax(),
                view.state.sources.progress()));
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
                    view.checkpoints.take();
                    view.checkpoints.await();
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
        try {
            workers.close();
            view.close(failure != null && settings.threads() > 0);
            journal.close();
        } finally {
            if (directoryLock != null) {
                directoryLock.close();
            }
        }
    }
}
