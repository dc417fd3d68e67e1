package dev.onefold.embedded.view;

import dev.onefold.core.EngineException;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Derivation;
import dev.onefold.core.state.Transition;
import dev.onefold.embedded.checkpoint.Checkpoint;
import dev.onefold.embedded.checkpoint.GroupLogs;
import dev.onefold.embedded.commit.Commits;
import dev.onefold.embedded.directory.Current;
import dev.onefold.embedded.directory.Stored;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.fold.Codes;
import dev.onefold.embedded.fold.Folding;
import dev.onefold.embedded.fold.State;
import dev.onefold.embedded.fold.Workers;
import dev.onefold.embedded.guard.Backlog;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.guard.OwnThread;
import dev.onefold.embedded.guard.Running;
import dev.onefold.embedded.guard.Space;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.rows.RowBatch;
import dev.onefold.embedded.rows.RowTranslator;
import dev.onefold.embedded.rows.Rows;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The totals under one definition: state, dead letters and checkpoints in a directory `view-N` of their own. The
/// file `CURRENT` names the one that serves; a new definition is filled beside it and takes its place by one
/// rename. Guarded by the engine's lock.
public final class View {
    public final Path directory;
    public final long number;
    public final Pipeline pipeline;
    public final State state;
    public final Letters letters;
    public final GroupLogs groupLogs;
    public final Folding folding;
    public final Checkpoints checkpoints;
    public final Commits commits;

    private final Space space;

    private View(
            Path directory, long number, Recovery.Recovered recovered, Opening opening, @Nullable Checkpoint from) {
        this.directory = directory;
        this.number = number;
        space = opening.space;
        state = recovered.state();
        pipeline = state.pipeline;
        letters = recovered.letters();
        groupLogs = recovered.groupLogs();
        folding = new Folding(
                state,
                letters,
                opening.settings.clock(),
                opening.workers,
                opening.codes.of(pipeline).orElse(null));
        commits = new Commits(state, folding, letters, opening.journal());
        checkpoints = new Checkpoints(
                directory,
                new Checkpoints.Engine(
                        state,
                        letters,
                        groupLogs,
                        opening,
                        PipelineText.stored(pipeline),
                        from == null ? 0 : from.number(),
                        from == null ? Instant.EPOCH : from.at()));
    }

    /// The parts that the views of one engine share.
    public record Opening(
            Path root,
            Running settings,
            Workers workers,
            Codes codes,
            Stored stored,
            OwnThread own,
            Guard guard,
            Space space,
            Backlog backlog) {
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

    /// Requires that a definition is of the pipeline whose data this is.
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

    /// Fills this view, which is empty, from the rows and the dead letters of another; both hold the same sources then.
    public void fillFromRows(View other, Derivation.Possible derivation) {
        state.sources.load(other.state.sources.store());
        state.saw(other.state.seenMs());
        LetterFill letterFill = new LetterFill(other, this, derivation, space);
        letterFill.takeLetters();
        RowTranslator translator = new RowTranslator(
                new RowTranslator.Translated(other.pipeline, pipeline),
                other.state.groups,
                state.groups,
                derivation,
                letterFill::refuse);
        for (Rows rows : other.state.shards) {
            translator.translate(rows, batch -> {
                applyTranslated(batch, _ -> {
                    throw new IllegalStateException("A key has two rows");
                });
                checkpoints.takeIfDue();
                space.requireOpen();
            });
        }
        for (Rows rows : state.shards) {
            rows.resetCounts();
        }
        state.count(other.state.allCounts().plus(letterFill.refusedCounts()));
        letterFill.decide();
    }

    /// Fills this view, which is empty, from the keys and the dead letters of another, whose keys an older version of
    /// the function has folded, or this one.
    ///
    /// @throws EngineException if a key cannot be brought to this version
    public void fillFromKeys(View other, Workers workers) {
        long needed = 0;
        for (Rows rows : other.state.shards) {
            needed += rows.bytes();
        }
        requireMemory(needed);
        state.sources.load(other.state.sources.store());
        letters.addAll(other.letters, checkpoints::takeIfDue);
        state.count(other.state.allCounts());
        for (int shard = 0; shard < state.shards.length; shard++) {
            for (Rows rows : other.state.shards) {
                state.shards[shard].adopt(rows, shard, state.shards.length);
            }
            state.shards[shard].countLoaded();
        }
        try {
            state.recount(workers);
            groupLogs.beginAnew();
            folding.upgradeKeys();
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

    /// Applies rows that were made of another view's.
    public void applyTranslated(RowBatch batch, Consumer<Transition.Settled> conflicts) {
        requireMemory(batch);
        List<RowBatch> byShard = new ArrayList<>();
        for (int shard = 0; shard < state.shards.length; shard++) {
            byShard.add(new RowBatch());
        }
        batch.split(byShard);
        for (int shard = 0; shard < state.shards.length; shard++) {
            state.shards[shard].apply(byShard.get(shard), conflicts);
        }
    }

    private void requireMemory(RowBatch batch) {
        long needed = state.valueBytesFor(batch.count(), batch.bytes());
        for (Rows rows : state.shards) {
            needed += rows.store().bytesFor(batch.bytes(), batch.count());
        }
        requireMemory(needed);
    }

    private void requireMemory(long needed) {
        if (!state.memory.fits(needed)) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "There is not enough memory to fill the new view beside the old one: " + state.memory.bytesMax()
                            + " bytes are allowed for each. Allow more (--state-memory); the old view is as it was.");
        }
    }

    /// Releases memory and files.
    public void close(boolean broken) {
        folding.close();
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
