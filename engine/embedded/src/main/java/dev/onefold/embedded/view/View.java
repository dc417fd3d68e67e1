package dev.onefold.embedded.view;

import dev.onefold.core.EngineException;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.checkpoint.Checkpoint;
import dev.onefold.embedded.checkpoint.GroupLogs;
import dev.onefold.embedded.commit.Commits;
import dev.onefold.embedded.directory.Current;
import dev.onefold.embedded.directory.Stored;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.fold.Codes;
import dev.onefold.embedded.fold.FoldRounds;
import dev.onefold.embedded.fold.ShardFold;
import dev.onefold.embedded.fold.State;
import dev.onefold.embedded.fold.Workers;
import dev.onefold.embedded.guard.Delays;
import dev.onefold.embedded.guard.EngineLimits;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.guard.OwnThread;
import dev.onefold.embedded.guard.Space;
import dev.onefold.embedded.letters.Letters;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The totals under one definition: state, dead letters and checkpoints in a directory `view-N` of their own.
/// The file `CURRENT` names the one that serves; a new definition is filled beside it and takes its place by
/// one rename. Guarded by the engine's lock.
public final class View {
    public final Path directory;
    public final long number;
    public final Pipeline pipeline;
    public final ShardFold fold;
    public final State state;
    public final Letters letters;
    public final GroupLogs groupLogs;
    public final FoldRounds folding;
    public final Checkpoints checkpoints;
    public final Commits commits;

    private final Space space;

    private View(
            Path directory, long number, Recovery.Recovered recovered, Opening opening, @Nullable Checkpoint from) {
        this.directory = directory;
        this.number = number;
        space = opening.space;
        fold = recovered.fold();
        state = fold.state();
        pipeline = state.pipeline;
        letters = recovered.letters();
        groupLogs = recovered.groupLogs();
        folding = new FoldRounds(fold, letters, opening.settings.clock(), opening.workers);
        commits = new Commits(
                fold, folding, letters, opening.journal(), opening.settings().passed());
        checkpoints = new Checkpoints(
                directory,
                new Checkpoints.Engine(
                        fold,
                        letters,
                        groupLogs,
                        recovered.replaced(),
                        opening,
                        PipelineText.stored(pipeline),
                        from == null ? 0 : from.number(),
                        from == null ? Instant.EPOCH : from.at()));
    }

    /// The parts that the views of one engine share.
    ///
    /// @param codes empty if no pipeline has a function
    public record Opening(
            Path root,
            EngineLimits settings,
            Workers workers,
            Optional<Codes> codes,
            Stored stored,
            OwnThread own,
            Guard guard,
            Space space,
            Delays delays) {
        public long identity() {
            return stored.identity();
        }

        public Journal journal() {
            return stored.journal();
        }

        public boolean reading() {
            return stored.reading();
        }

        public void requireOwner() {
            if (reading()) {
                throw new IllegalArgumentException("The data directory " + root + " was opened to be read only");
            }
        }
    }

    /// The definition that a checkpoint was taken under.
    public static Pipeline definition(Path root, Checkpoint checkpoint) {
        return switch (PipelineText.readStored(checkpoint.definition())) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused refused ->
                throw new EngineException(
                        EngineException.Kind.FORMAT,
                        "The definition stored in " + root + " cannot be read: "
                                + refused.problems().getFirst() + ". Use the version of Onefold that wrote it.");
        };
    }

    /// Requires that a definition is of the pipeline of these data.
    public static void requireName(Path root, Pipeline stored, Pipeline given) {
        if (!stored.name().equals(given.name())) {
            throw new EngineException(
                    EngineException.Kind.DEFINITION_CHANGED,
                    "The data in " + root + " is of pipeline " + stored.name() + ", not of pipeline " + given.name()
                            + ". Nothing was changed. Use the data directory of " + given.name()
                            + " (--data), or the file of " + stored.name() + ".");
        }
    }

    /// Opens the view that a checkpoint describes, or begins one with nothing.
    public static View open(Opening opening, long number, Pipeline pipeline, @Nullable Checkpoint checkpoint) {
        Path directory = FileNames.view(opening.root, number);
        if (!opening.reading()) {
            opening.space.change(() -> Disk.createDirectories(directory));
        }
        Recovery recovery = new Recovery(directory, pipeline, opening);
        return new View(directory, number, recovery.recover(checkpoint), opening, checkpoint);
    }

    /// Makes this view the one that serves; durable when it returns.
    public void serve(Opening opening) {
        checkpoints.take();
        try {
            checkpoints.await();
        } catch (EngineException e) {
            if (e.kind() == EngineException.Kind.NO_SPACE) {
                space.requireOpen();
            }
            throw e;
        }
        new Current(number, opening.identity(), opening.journal().isKept()).write(opening.root, opening.space);
    }

    /// Fills this view, which is empty, from the stored state of another view of the same kind; both hold the
    /// same sources then.
    ///
    /// @throws EngineException if the stored state cannot be brought to this definition
    public void fillFrom(View other) {
        state.sources.load(other.state.sources.store());
        letters.addAll(other.letters, checkpoints::takeIfDue);
        state.countBefore(other.state.allCounts(), other.state.causes());
        fold.fill(new ShardFold.Filling(
                other.state, other.letters, redrive -> commits.refold(redrive, redrive.id()), () -> {
                    checkpoints.takeIfDue();
                    space.requireOpen();
                }));
    }

    /// Releases memory and files.
    public void close(boolean broken) {
        fold.close();
        if (broken) { // A writer may still be at work after a failure; the process is about to end.
            checkpoints.abandon();
        } else {
            checkpoints.close();
            state.close();
            letters.free();
        }
        letters.close();
        groupLogs.close();
    }
}
