package dev.onefold.embedded;

import dev.onefold.api.EngineSocket;
import dev.onefold.api.sync.FolderSync;
import dev.onefold.core.Capabilities;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.Engine;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.Engine.KeptJournal;
import dev.onefold.core.EngineException;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.Status;
import dev.onefold.core.Sync;
import dev.onefold.core.TotalsTable;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.state.Key;
import dev.onefold.core.state.RangeSums;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.RowMark;
import dev.onefold.embedded.commit.Request;
import dev.onefold.embedded.definition.Views;
import dev.onefold.embedded.delivery.Carrier;
import dev.onefold.embedded.delivery.Deliveries;
import dev.onefold.embedded.disk.DirectoryLock;
import dev.onefold.embedded.fold.Lines;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.guard.Answers;
import dev.onefold.embedded.guard.Delays;
import dev.onefold.embedded.guard.EngineLimits;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.guard.OwnThread;
import dev.onefold.embedded.intake.FileFold;
import dev.onefold.embedded.intake.FileFollower;
import dev.onefold.embedded.intake.LogFold;
import dev.onefold.embedded.intake.Rounds;
import dev.onefold.embedded.intake.Submissions;
import dev.onefold.embedded.publication.Publisher;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FoldReport;
import dev.onefold.embedded.source.FollowedFile;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.LogNote;
import dev.onefold.embedded.source.LogSource;
import dev.onefold.embedded.source.QueueBatch;
import dev.onefold.embedded.view.View;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The engine on one machine: one durable process that owns a data directory.
///
/// One fair lock guards the state. Intake holds it for a round (some thousand records), an answer for as long
/// as it is made; so each answer is a cut between two rounds. Files are touched by threads of the engine's
/// own, so that an interrupt affects its caller alone. A failure of the storage stops the engine for good:
/// every later call says why, and the next start continues from the durable state.
///
/// It is one idea: all that can be asked of one engine.
public final class EmbeddedEngine implements Engine {
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");

    /// The capabilities of every engine on one machine.
    public static final Capabilities CAPABILITIES = new Capabilities(Recomputation.MISSING);

    private final EngineLimits settings;
    private final @Nullable DirectoryLock directoryLock; // None for a reader, who changes nothing.
    private final View.Opening opening;
    private final Answers answers;
    private final Guard guard;
    private final OwnThread own;
    private final Views views;
    private final Submissions submissions;
    private final Rounds rounds;
    private final LogFold logs;
    private final LogNotes logNotes = new LogNotes();
    private final Recomputation recomputation;
    private final Optional<Deliveries> deliveries;
    private volatile @Nullable Publisher publisher;
    private @Nullable EngineSocket socket; // Set before anybody has the engine.

    EmbeddedEngine(@Nullable DirectoryLock directoryLock, View.Opening opening, View view, @Nullable Pipeline wanted) {
        this.directoryLock = directoryLock;
        this.opening = opening;
        settings = opening.settings();
        guard = opening.guard();
        own = opening.own();
        views = new Views(opening, view, wanted);
        submissions = new Submissions(views::serving, opening, views.standing());
        rounds = views.rounds();
        logs = new LogFold(rounds);
        recomputation = new Recomputation(opening, views);
        deliveries = view.fold.members().map(members -> new Deliveries(view, members, opening, this::checkpointNow));
        answers = new Answers(Answers.bytesMax(settings.stateBytesMax()), Answers.WAIT_MAX, guard::reading);
    }

    /// Opens a data directory for a pipeline, creating it if need be, and recovers the durable state. While
    /// the engine runs, other processes of the same user reach it through the directory: the command line
    /// does. If the data was folded with another definition, that one continues to serve until [#fillView],
    /// which the first intake calls.
    ///
    /// @throws EngineException if it is in use or damaged
    public static EmbeddedEngine open(Path directory, Pipeline pipeline, Settings settings) {
        Objects.requireNonNull(pipeline, "The pipeline is null");
        return new Opener(directory, pipeline, settings).open().reachable();
    }

    /// The same for a pipeline with its function. Its version must not be below that of the stored data.
    public static EmbeddedEngine open(Path directory, LoadedFunction function, Settings settings) {
        return new Opener(directory, function, null, settings).open().reachable();
    }

    /// The same for a function in a jar. The directory keeps a copy of the jar for later starts.
    public static EmbeddedEngine open(Path directory, FunctionJar jar, Settings settings) {
        return new Opener(directory, jar.function(), jar.bytes(), settings)
                .open()
                .reachable();
    }

    /// Opens a data directory with the definition that is stored in it. A function is looked for in the
    /// directory and on the class path; without it the data can be read.
    ///
    /// @throws EngineException if there is none, it is in use or damaged
    public static EmbeddedEngine open(Path directory, Settings settings) {
        return open(directory, settings, null);
    }

    /// The same for data whose function the directory does not keep, because it is a command.
    ///
    /// @param code the function; `null`: it is looked for
    public static EmbeddedEngine open(Path directory, Settings settings, @Nullable LoadedFunction code) {
        return Opener.stored(directory, code, settings).open().reachable();
    }

    /// Opens a data directory to read it, with the definition that is stored in it. The engine creates, locks,
    /// changes and deletes nothing, so that a copy on a read-only medium can be opened. It shows the
    /// directory as it is now, also beside an owner. Intake, redrive, purge and rebuild are refused.
    ///
    /// @throws EngineException if there is no data, or the data are damaged
    public static EmbeddedEngine read(Path directory, Settings settings) {
        return read(directory, settings, null);
    }

    /// The same for data whose function the directory does not keep, because it is a command.
    ///
    /// @param code the function; `null`: it is looked for
    public static EmbeddedEngine read(Path directory, Settings settings, @Nullable LoadedFunction code) {
        return Opener.stored(directory, code, settings).read();
    }

    private EmbeddedEngine reachable() {
        Path root = opening.root();
        if (settings.threads() > 0 && root.getFileSystem().equals(FileSystems.getDefault())) {
            try {
                socket = EngineSocket.open(root, this, answers::isAwaited);
            } catch (IOException | UnsupportedOperationException e) { // The totals are right without it.
                LOG.log(
                        System.Logger.Level.WARNING,
                        "Other commands cannot reach this engine while it runs: " + e.getMessage());
            }
        }
        return this;
    }

    /// The definition that is wanted, but does not serve yet.
    public Optional<Pipeline> wanted() {
        guard.requireWorking();
        return views.wanted();
    }

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public DefinitionChange change(Pipeline definition) {
        return change(definition, FileSource::reopen);
    }

    /// How this data can follow another definition of its pipeline. Changes nothing.
    ///
    /// @param reopen gives a source by its name, or null if it cannot be read again
    /// @throws EngineException if the definition is of another pipeline
    public DefinitionChange change(Pipeline definition, Function<String, @Nullable FileSource> reopen) {
        Objects.requireNonNull(definition, "The pipeline is null");
        guard.requireWorking();
        return views.change(definition, Objects.requireNonNull(reopen, "The function that opens sources is null"));
    }

    /// Fills a view of the wanted definition, from the rows and dead letters if they hold all that it reads,
    /// otherwise by reading the sources and the journal again; then it serves. Until then answers come from
    /// the old one, and intake waits; while a log is read again, batches of logs are folded on. Does nothing if the
    /// wanted definition serves already. An intake calls this without sources; that of a log only if the rows are
    /// enough.
    ///
    /// @param reopen gives a source by its name, or null if it cannot be read again
    /// @param acceptLoss whether fields may be lost that the rows hold and that no source has any more
    /// @throws EngineException if the input that it reads was not kept, or a loss is not accepted; the old
    ///     one continues to serve
    public void fillView(Function<String, @Nullable FileSource> reopen, boolean acceptLoss) {
        views.fill(Objects.requireNonNull(reopen, "The function that opens sources is null"), acceptLoss);
    }

    @Override
    public Pipeline pipeline() {
        guard.requireWorking();
        return view().pipeline;
    }

    /// Folds a source that can be read again, from where it was left to its end. When it returns, a forced
    /// checkpoint covers it. One source at a time, others wait; appends and answers continue meanwhile. An
    /// interrupt stops it as [FoldListener#stop] does.
    ///
    /// @throws EngineException if the source is not the one that was folded before, if it was stopped while
    ///     the disk was full, or if the engine cannot continue
    public FoldReport fold(FileSource file, FoldListener listener) {
        Objects.requireNonNull(file, "The source is null");
        Objects.requireNonNull(listener, "The listener is null");
        return switch (foldUnlessRefused(file, listener)) {
            case FoldReport report -> report;
            case FileSource.Refused refused ->
                throw new EngineException(EngineException.Kind.SOURCE_CHANGED, refused.message());
        };
    }

    private FileSource.Outcome foldUnlessRefused(FileSource file, FoldListener listener) {
        requireIntake();
        return views.inTurn(() -> new FileFold(rounds, file, listener).run());
    }

    /// Folds a file that is being written and rotated, each file that had the name to its end. Returns when the
    /// listener or an interrupt stops it.
    ///
    /// @throws EngineException if the file was cut, if the file that was being read is gone, or if the engine
    ///     cannot continue
    public void follow(FollowedFile file, FoldListener listener) {
        Objects.requireNonNull(file, "The file is null");
        Objects.requireNonNull(listener, "The listener is null");
        new FileFollower(file, this::foldUnlessRefused, this::progress, listener).follow();
    }

    /// Folds records of a log's partition that are not in the totals yet, by their offsets. Records below the
    /// partition's next offset came before, and are passed over. They are durable at the next checkpoint.
    /// After a start a reader continues at [#offsets]; it commits only the [#durableOffsets] to the log.
    ///
    /// @return the partition's next offset
    /// @throws EngineException if offsets between are missing, or the engine cannot continue
    public long fold(LogBatch batch) {
        Objects.requireNonNull(batch, "The batch is null");
        requireLogIntake();
        return views.still(() -> logs.fold(batch));
    }

    /// The same, unless another definition serves by now than the one for which the records were read.
    ///
    /// @return the partition's next offset; empty if nothing was folded
    public OptionalLong fold(LogBatch batch, Pipeline readFor) {
        requireLogIntake();
        return views.still(
                () -> view().pipeline.equals(readFor) ? OptionalLong.of(logs.fold(batch)) : OptionalLong.empty());
    }

    /// From now on a log can be read a second time, from the first offset that was folded on: for another
    /// definition, and to verify and rebuild from the sources.
    public void rereads(LogSource log) {
        views.rereads(Objects.requireNonNull(log, "The log is null"));
    }

    /// By partition of a log, the offset behind those that are in the totals: its reader continues there.
    public SortedMap<Integer, Long> offsets(String log) {
        return rounds.offsets(log, false);
    }

    /// By partition of a log its position: what is in the results, and the mark of its reader.
    public SortedMap<Integer, Position.Partition> partitions(String log) {
        return rounds.partitions(log, false);
    }

    /// Notes where the partitions of a log begin, all in one atomic step, before anything of them is read: a reader
    /// that begins at the end of a log begins there also after a crash. Partitions that have begun stay as they
    /// are. Durable when it returns.
    ///
    /// @param offsets first offset of each partition
    /// @param mark of the reader
    public void begin(String log, SortedMap<Integer, Long> offsets, String mark) {
        requireLogIntake();
        views.still(() -> {
            logs.begin(log, offsets, mark);
            return true;
        });
    }

    /// Passes over offsets of a partition that the log has lost. They stay in the position for ever, for a
    /// person has accepted that their records are not in the results. Durable when it returns.
    ///
    /// @param from the partition's next offset
    /// @param to the first offset that the log still has
    public void skip(String log, int partition, long from, long to) {
        requireLogIntake();
        views.still(() -> {
            logs.skip(log, partition, from, to);
            return true;
        });
    }

    /// The data directory.
    public Path directory() {
        return opening.root();
    }

    /// Notes what a reader knows of a partition beside its records, for [#status].
    public void note(String log, int partition, LogNote note) {
        logNotes.put(LogBatch.source(log, partition), note);
    }

    /// By partition of a log, the offset behind those that a forced checkpoint covers. The log need not keep
    /// lower offsets.
    public SortedMap<Integer, Long> durableOffsets(String log) {
        return rounds.offsets(log, true);
    }

    /// Folds messages of a queue; durable when it returns, so they may be deleted from it. A message that
    /// came before changes nothing.
    ///
    /// @throws EngineException if no message was taken, or the engine cannot continue
    public Appended append(QueueBatch batch) {
        Request committed = requireIntake().commit(Request.messages(batch));
        opening.delays().note(Delays.From.QUEUES, batch.messages().stream().mapToLong(QueueBatch.Message::sentMs));
        return Submissions.of(committed);
    }

    @Override
    public void checkpointNow() {
        views.still(() -> {
            rounds.checkpointNow(() -> false);
            return true;
        });
    }

    /// Callers at the same time share one force. An interrupted caller either gets its result, and its
    /// interrupt flag is set again; or an [EngineException] of kind INTERRUPTED, and nothing was taken. A
    /// line that cannot be decoded is taken, and becomes a dead letter.
    @Override
    public Appended append(String source, long firstRecord, byte[] lines, int length) {
        return requireIntake().append(source, firstRecord, lines, length, this::commit);
    }

    @Override
    public Appended appendRows(String source, long firstRecord, byte[] lines, int length) {
        return requireIntake().append(source, firstRecord, lines, length, request -> commit(request.ofRows()));
    }

    @Override
    public Appended append(String source, List<String> records) {
        Lines.requireName(source);
        byte[] lines = requireIntake().lines(records);
        if (lines.length == 0) {
            return Appended.none(acknowledged(source));
        }
        return Submissions.of(commit(Request.lines(source, Request.NEXT, lines, lines.length)));
    }

    /// Takes note of a line over the limit: its place, length and hash become a dead letter.
    public long appendOversized(String source, long record, long bytes, byte[] sha256) {
        Lines.requireNumbered(source, record);
        Lines.requireMeasured(bytes, sha256);
        return commit(Request.oversized(source, record, bytes, sha256)).acknowledged();
    }

    private void requireLogIntake() {
        opening.requireOwner();
        views.fillFromRows();
        view().fold.requireCode();
    }

    private Submissions requireIntake() {
        opening.requireOwner();
        views.fill(_ -> null, false);
        view().fold.requireCode();
        return submissions;
    }

    private Request commit(Request request) {
        long arrived = opening.delays().nowMicros();
        Request committed = requireIntake().commit(request);
        opening.delays().note(Delays.From.REQUESTS, arrived, committed.counts().records()); // Of the new ones.
        return committed;
    }

    @Override
    public long acknowledged(String source) {
        Lines.requireName(source);
        return guard.reading(() -> {
            Source known = view().state.sources.find(source);
            return known == null ? 0L : known.records();
        });
    }

    /// The line of CSV columns of a source; empty if it has none, or none yet.
    byte[] header(String source) {
        return guard.reading(() -> {
            Source known = view().state.sources.find(source);
            return known == null ? new byte[0] : known.header();
        });
    }

    private View view() {
        return views.serving();
    }

    EngineLimits settings() {
        return settings;
    }

    @Override
    public Answer query(Query query) {
        return query(query, Answers::onHeap);
    }

    @Override
    public <T> T query(Query query, Function<Answer, T> reader) {
        Objects.requireNonNull(query, "The query is null");
        return answers.answer(query, () -> cut(query), Objects.requireNonNull(reader, "The reader is null"));
    }

    private Answers.Cut cut(Query query) {
        return new Answers.Cut(
                view().state.served(Rollups.of(view().pipeline).index(query.rollup())),
                new Answer.Cut(view().state.sources.covered(), settings.clock().instant()));
    }

    @Override
    public Optional<Row> get(List<String> key) {
        byte[] bytes = Key.bytes(pipeline(), Submissions.given(key, "The parts of the key"));
        return guard.reading(() -> view().state.row(bytes));
    }

    @Override
    public Optional<KeyState> state(List<String> key) {
        return new KeyReader(guard, this::view, settings).state(Submissions.given(key, "The parts of the key"));
    }

    @Override
    public <T> T tables(TableQuery query, Function<TableAnswer, T> reader) {
        return new KeyReader(guard, this::view, settings).tables(query, reader);
    }

    @Override
    public RangeSums rangeSums() {
        return new RowLister(guard, this::view).sums();
    }

    @Override
    public List<RowMark> rowMarks(BitSet ranges) {
        return new RowLister(guard, this::view).marks(ranges);
    }

    @Override
    public Sync sync() {
        return directoryLock == null ? FolderSync.reading(this, opening.root()) : FolderSync.of(this, opening.root());
    }

    @Override
    public Verification verify(Truth truth) {
        return recomputation.verify(truth);
    }

    /// [Truth.Sources], with sources that the caller opens.
    ///
    /// @param reopen gives a source by its name, or null if it cannot be read again
    /// @throws EngineException if a source cannot be read again, or has changed
    public Verification verify(Function<String, @Nullable FileSource> reopen) {
        return recomputation.verify(reopen);
    }

    /// [Truth.Sources], with sources that the caller opens.
    ///
    /// @param reopen gives a source by its name, or null if it cannot be read again
    /// @throws EngineException if a source cannot be read again, or has changed; nothing is changed then
    public Verification rebuild(Function<String, @Nullable FileSource> reopen) {
        return recomputation.rebuild(reopen);
    }

    @Override
    public Verification rebuild(Truth truth) {
        return recomputation.rebuild(truth);
    }

    @Override
    public DeadLetters deadLetters() {
        return new LetterBox(views::serving, opening, this::requireIntake, this::commit, this::checkpointNow);
    }

    @Override
    public KeptJournal journal() {
        return new OwnJournal(opening, views::serving);
    }

    @Override
    public Counts counts() {
        return views.counts();
    }

    @Override
    public Causes causes() {
        return new Causes(views.serving().state.causes());
    }

    @Override
    public SealedBatches batches() {
        return deliveries();
    }

    private Deliveries deliveries() {
        return deliveries.orElseThrow(
                () -> new IllegalArgumentException("Pipeline " + pipeline().name() + " has no batch section here"));
    }

    /// From now on sealed batches are delivered. Without it they wait.
    ///
    /// @throws IllegalArgumentException if the pipeline makes no batches
    public void deliver(Carrier carrier) {
        opening.requireOwner();
        deliveries().begin(Objects.requireNonNull(carrier, "The carrier is null"));
    }

    /// Seals and delivers all batches that are due now, for an engine without threads; returns the number of
    /// attempts.
    public int deliverDue() {
        return deliveries().step();
    }

    /// From now on a copy of the totals is kept, which other programs read. Called once.
    ///
    /// @param table makes the copy for a definition
    /// @param every time between two updates of the copy
    public void publish(Function<Pipeline, TotalsTable> table, Duration every) {
        opening.requireOwner();
        publisher = new Publisher(
                new Publisher.Parts(views::serving, guard, settings.clock(), this::checkpointNow, table),
                every,
                settings.threads() > 0);
    }

    /// Updates the copy of the totals, as long as the caller waits for it; returns whether that succeeded.
    public boolean publishNow(BooleanSupplier goesOn) {
        return Objects.requireNonNull(publisher, "Nothing is published").publish(goesOn);
    }

    /// The progress of each source in the results.
    public List<Answer.Progress> progress() {
        return guard.reading(() -> view().state.sources.progress());
    }

    /// The longest that a checkpoint has stopped intake since the engine was opened.
    public Duration checkpointStopMax() {
        return guard.reading(() -> view().checkpoints.stoppedMax());
    }

    @Override
    public Status status() {
        return new StatusReader(opening, view(), logNotes)
                .read(
                        deadLetters(),
                        progress(),
                        views.wanted().isPresent(),
                        deliveries.map(Deliveries::summary),
                        Optional.ofNullable(publisher).map(Publisher::status));
    }

    /// Answers the requests of other processes that are under way, makes the state durable, and releases
    /// everything. While the disk is full it does not wait for space: the next start continues from the last
    /// checkpoint and the journal, so nothing that was acknowledged is lost.
    @Override
    public void close() {
        opening.space().closing(); // First: so a visitor that waits for space gets the answer that nothing was done.
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "The socket's file is left behind; the next owner removes it", e);
        }
        if (publisher != null) {
            publisher.close();
        }
        deliveries.ifPresent(Deliveries::close);
        views.close(() -> own.call(() -> {
            guard.close(new Release(opening, view(), directoryLock));
            return true;
        }));
        own.close();
    }
}
