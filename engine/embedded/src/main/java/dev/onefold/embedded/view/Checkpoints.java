package dev.onefold.embedded.view;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.checkpoint.Checkpoint;
import dev.onefold.embedded.checkpoint.GroupLogs;
import dev.onefold.embedded.directory.Stored;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.disk.Scale;
import dev.onefold.embedded.fold.ShardFold;
import dev.onefold.embedded.fold.State;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.guard.EngineLimits;
import dev.onefold.embedded.guard.OwnThread;
import dev.onefold.embedded.guard.Space;
import dev.onefold.embedded.letters.LetterCut;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.rows.RowFiles;
import dev.onefold.embedded.rows.RowStore;
import dev.onefold.embedded.rows.Shard;
import dev.onefold.embedded.source.Stage;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAccumulator;
import org.jspecify.annotations.Nullable;

/// Takes checkpoints: a cut between two rounds, under the engine's lock, that only notes the ends of all
/// parts; then the writing, beside the intake. One is under way at a time; when the next is due, intake waits
/// for it without the lock (see [#behind]), so that never more than two intervals of intake are to be folded
/// again.
///
/// The order is decisive: rows, groups and dead letters are forced first; then the checkpoint that names them
/// replaces the one before, in one rename; only then are the files deleted that it does not name.
public final class Checkpoints implements AutoCloseable {
    private static final long PENDING_LETTER_BYTES_MAX = Scale.of(32 << 20);
    private static final int DIRTY_MAX = Scale.of(200_000);

    private final Path directory;
    private final ShardFold fold;
    private final State state;
    private final Letters letters;
    private final GroupLogs groupLogs;
    private List<Path> replaced;
    private final EngineLimits settings;
    private final Space space;
    private final String definition;
    private final RowFiles[] files;
    private final @Nullable ExecutorService writer;
    private final Journal journal;
    private final Stored stored;
    private final boolean reading;
    private final long identity;
    private final LongAccumulator stoppedNanosMax = new LongAccumulator(Math::max, 0);
    private long startedNanos = System.nanoTime();
    private long number;
    private @Nullable Pending pending;
    private volatile Durable durable;
    private volatile Written written = new Written(0, 0);
    private volatile boolean isJournalKept; // Another view serves, and needs it.
    private volatile boolean closing; // With the engine, or as the only one: its view is discarded.

    /// The last durable checkpoint, with the sources that it covers.
    public record Durable(long number, Instant at, List<Source.Known> sources) {}

    /// Checkpoints that were written since the view was opened, and the time of all of them.
    public record Written(long checkpoints, long nanos) {}

    /// A cut that is being written.
    private record Pending(Cut cut, Future<?> written) {}

    private record Cut(
            Checkpoint base,
            List<RowStore.Cut> rows,
            GroupLogs.Cut groups,
            LetterCut letters,
            Journal.Position journal,
            ShardFold.Cut fold) {}

    public Checkpoints(Path directory, Engine parts) {
        this.directory = directory;
        fold = parts.fold;
        state = fold.state();
        letters = parts.letters;
        groupLogs = parts.groupLogs;
        replaced = parts.replaced;
        settings = parts.opening.settings();
        space = parts.opening.space();
        stored = parts.opening.stored();
        reading = stored.reading();
        identity = stored.identity();
        definition = parts.definition;
        journal = parts.opening.journal();
        number = parts.number;
        durable = new Durable(number, parts.at, state.sources.store());
        files = new RowFiles[state.shards.length];
        for (int shard = 0; shard < files.length; shard++) {
            files[shard] = new RowFiles(directory, identity, shard);
        }
        writer = reading || settings.threads() == 0
                ? null
                : Executors.newSingleThreadExecutor(
                        Thread.ofPlatform().daemon().name("onefold-checkpoint").factory());
    }

    /// The parts of the engine that checkpoints cover.
    ///
    /// @param replaced files that the next checkpoint does not name any more
    public record Engine(
            ShardFold fold,
            Letters letters,
            GroupLogs groupLogs,
            List<Path> replaced,
            View.Opening opening,
            String definition,
            long number,
            Instant at) {}

    /// The last durable checkpoint. Any thread may ask.
    public Durable durable() {
        return durable;
    }

    /// The checkpoints that were written so far. Any thread may ask.
    public Written written() {
        return written;
    }

    /// Takes a checkpoint if one is due and none is being written.
    public void takeIfDue() {
        if (reading) {
            return;
        }
        finishIfWritten();
        if (pending == null && isDue()) {
            long nanos = System.nanoTime();
            take();
            stopped(System.nanoTime() - nanos);
        }
    }

    private boolean isDue() {
        return System.nanoTime() - startedNanos >= settings.checkpointInterval().toNanos()
                || letters.pendingBytes() > PENDING_LETTER_BYTES_MAX
                || fold.isCheckpointDue()
                || dirty() > DIRTY_MAX;
    }

    /// The checkpoint that is being written while the next one is due already; else `null`. Intake waits for it
    /// before its next round.
    @Nullable
    public Future<?> behind() {
        finishIfWritten();
        Pending waiting = pending;
        return waiting == null || !isDue() ? null : waiting.written;
    }

    /// The checkpoint that is being written; `null` if none is.
    @Nullable
    public Future<?> writing() {
        finishIfWritten();
        Pending waiting = pending;
        return waiting == null ? null : waiting.written;
    }

    /// Number of the last checkpoint that was taken; durable once [#durable] says so.
    public long number() {
        return number;
    }

    /// Notes for how long intake has waited for a checkpoint. Any thread.
    public void stopped(long nanos) {
        stoppedNanosMax.accumulate(nanos);
    }

    /// The longest that a checkpoint has stopped intake, since the engine was opened; waiting for the one
    /// before is part of it.
    public Duration stoppedMax() {
        return Duration.ofNanos(stoppedNanosMax.get());
    }

    private long dirty() {
        long dirty = state.changedValues();
        for (Shard shard : state.shards) {
            for (int rollup = 0; rollup < state.groups.length; rollup++) {
                dirty += shard.cells(rollup).dirtyCount()
                        + shard.forgotten(rollup).dirtyCount();
            }
        }
        return dirty;
    }

    /// Cuts here and begins to write; waits for the writing of the checkpoint before.
    public void take() {
        if (reading) {
            return; // The memory of a reader stays as it was recovered.
        }
        await();
        startedNanos = System.nanoTime();
        List<RowStore.Cut> rows = new ArrayList<>();
        for (int shard = 0; shard < files.length; shard++) {
            state.shards[shard].map(files[shard]); // All that was cut before is durable.
        }
        for (Shard shard : state.shards) {
            rows.add(shard.cut());
        }
        Journal.Position position = journal.position();
        ShardFold.Cut foldCut = fold.cut();
        Checkpoint base = new Checkpoint(
                identity,
                ++number,
                settings.clock().instant(),
                definition,
                rows.stream().map(RowStore.Cut::kept).toList(),
                List.of(),
                new Checkpoint.Log(0, 0),
                position,
                state.sources.store(),
                state.allCounts(),
                state.causes(),
                foldCut.state(),
                state.seenMs());
        Cut cut = new Cut(base, rows, groupLogs.cut(state.cells()), letters.cut(), position, foldCut);
        ExecutorService thread = writer;
        if (thread == null) {
            write(cut);
            letters.written(cut.letters);
        } else {
            pending = new Pending(cut, thread.submit(() -> write(cut)));
        }
    }

    /// Waits until the checkpoint that is being written is durable.
    public void await() {
        Pending waiting = pending;
        if (waiting == null) {
            return;
        }
        OwnThread.await(waiting.written);
        letters.written(waiting.cut.letters);
        pending = null;
    }

    /// Takes the last checkpoint, unless the disk is full.
    public void takeLast() {
        try {
            take();
            await();
        } catch (EngineException e) {
            if (e.kind() != EngineException.Kind.NO_SPACE) {
                throw e;
            }
        }
    }

    private void finishIfWritten() {
        if (pending != null && pending.written.isDone()) {
            await();
        }
    }

    /// Intake waits at the next checkpoint while the disk is full; the part that is written so far is written
    /// again.
    private void write(Cut cut) {
        long began = System.nanoTime();
        try {
            while (true) {
                try {
                    writeOnce(cut);
                    written = new Written(written.checkpoints + 1, written.nanos + System.nanoTime() - began);
                    return;
                } catch (OutOfSpaceException e) {
                    space.isFull(this, e);
                    pause(e);
                }
            }
        } finally {
            space.leave(this);
        }
    }

    /// While another view serves, which needs the journal, checkpoints of this one delete nothing of it.
    public void keepJournal(boolean isNeeded) {
        isJournalKept = isNeeded;
    }

    private boolean isClosing() {
        return closing || space.isClosing();
    }

    private void pause(OutOfSpaceException full) {
        if (!isClosing()) {
            try {
                settings.pause().run();
            } catch (EngineException e) {
                if (writer == null) {
                    throw new IllegalStateException("A checkpoint was given up for want of space", e);
                }
                // It is for callers to give up: a checkpoint that was cut is written, or the engine is closed.
            }
        }
        if (isClosing()) {
            throw new EngineException(
                    EngineException.Kind.NO_SPACE,
                    "The disk is full: there is no space for " + full.file() + ". The engine closes at checkpoint "
                            + durable.number() + "; what was folded from files since is folded again at the next run.",
                    full);
        }
    }

    private void writeOnce(Cut cut) throws OutOfSpaceException {
        Checkpoint base = cut.base;
        for (int shard = 0; shard < files.length; shard++) {
            for (RowStore.Range range : cut.rows.get(shard).written()) {
                files[shard].write(range, base.number());
            }
        }
        List<Checkpoint.Log> logs = groupLogs.write(cut.groups);
        Checkpoint.Log letterLog = letters.write(cut.letters);
        cut.fold.write();
        Checkpoint checkpoint = base.naming(logs, letterLog);
        stored.requireOwned(); // A second owner would have read the checkpoint before, and continue from there.
        settings.passed().accept(Stage.WRITE);
        checkpoint.write(directory);
        settings.passed().accept(Stage.CHECKPOINT);
        release(cut);
        durable = new Durable(base.number(), base.at(), base.sources());
    }

    private void release(Cut cut) {
        for (int shard = 0; shard < files.length; shard++) {
            for (dev.onefold.embedded.rows.Segment segment : cut.rows.get(shard).released()) {
                files[shard].delete(segment.sequence());
                state.shards[shard].store().free(segment);
            }
        }
        replaced.forEach(Disk::delete);
        replaced = List.of();
        groupLogs.release(cut.groups);
        letters.release(cut.letters);
        if (!isJournalKept) {
            journal.release(cut.journal);
        }
        cut.fold.written();
    }

    /// Ends the writing: when this returns, nobody writes any more, and memory and files can be released.
    @Override
    public void close() {
        abandon();
        boolean interrupted = false;
        ExecutorService thread = writer;
        while (thread != null && !thread.isTerminated()) {
            try {
                thread.awaitTermination(1, TimeUnit.DAYS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Begins nothing any more, and does not wait.
    public void abandon() {
        closing = true;
        if (writer != null) {
            writer.shutdown();
        }
    }
}
