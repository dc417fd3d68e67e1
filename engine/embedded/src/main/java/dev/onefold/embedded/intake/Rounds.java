package dev.onefold.embedded.intake;

import dev.onefold.core.Counts;
import dev.onefold.core.EngineException;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.fold.Chunk;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.guard.Backlog;
import dev.onefold.embedded.guard.Delays;
import dev.onefold.embedded.guard.EngineLimits;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.guard.Space;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.Stage;
import dev.onefold.embedded.view.Checkpoints;
import dev.onefold.embedded.view.View;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The rounds of a fold, and the waits between them. A round holds the engine's lock; a wait for a checkpoint
/// or for space does not.
public final class Rounds {
    private static final long GIVE_UP_POLL_MS = 100;

    private final Supplier<View> view;
    private final EngineLimits settings;
    private final Guard guard;
    private final Space space;
    private final Delays delays;

    public Rounds(Supplier<View> view, View.Opening opening) {
        this.view = view;
        settings = opening.settings();
        guard = opening.guard();
        space = opening.space();
        delays = opening.delays();
    }

    public Delays delays() {
        return delays;
    }

    public EngineLimits settings() {
        return settings;
    }

    public Pipeline pipeline() {
        return view.get().pipeline;
    }

    public Counts counts() {
        return guard.reading(() -> view.get().state.allCounts());
    }

    public Source.@Nullable Known source(String name) {
        return guard.reading(() -> view.get().state.sources.store().stream()
                .filter(source -> source.name().equals(name))
                .findFirst()
                .orElse(null));
    }

    public List<Source.Known> files() {
        return guard.reading(() -> view.get().state.sources.store().stream()
                .filter(source -> source.position() instanceof Position.File)
                .toList());
    }

    public Source openSource(String name, Source.Kind kind) {
        return guard.locked(() -> view.get().state.sources.open(name, kind));
    }

    public void beginAt(Source partition, long offset) {
        guard.locked(() -> {
            partition.beginAt(offset);
            return partition;
        });
    }

    /// Lets partitions begin, all in one cut.
    public void beginAt(String log, SortedMap<Integer, Long> offsets, String mark) {
        guard.locked(() -> {
            offsets.forEach((number, offset) -> {
                Source partition = view.get().state.sources.open(LogBatch.source(log, number), Source.Kind.PARTITION);
                if (partition.first() < 0) {
                    partition.beginAt(offset);
                    partition.mark(mark);
                }
            });
            return log;
        });
    }

    /// Passes over offsets that a partition has no more; kept with its position.
    public void skip(Source partition, Position.Gap gap) {
        guard.locked(() -> {
            partition.skip(gap);
            return partition;
        });
    }

    public void finishLine(Source source, @Nullable MessageDigest digest) {
        guard.locked(() -> {
            source.finishLine(digest);
            return source;
        });
    }

    /// Next offsets of a log's partitions.
    ///
    /// @param durable whether only records count that a forced checkpoint covers
    public SortedMap<Integer, Long> offsets(String log, boolean durable) {
        SortedMap<Integer, Long> offsets = new TreeMap<>();
        partitions(log, durable).forEach((partition, position) -> offsets.put(partition, position.next()));
        return offsets;
    }

    /// Positions of a log's partitions.
    ///
    /// @param durable whether only records count that a forced checkpoint covers
    public SortedMap<Integer, Position.Partition> partitions(String log, boolean durable) {
        List<Source.Known> sources = durable
                ? view.get().checkpoints.durable().sources()
                : guard.reading(() -> view.get().state.sources.store());
        SortedMap<Integer, Position.Partition> partitions = new TreeMap<>();
        for (Source.Known source : sources) {
            if (source.position() instanceof Position.Partition partition
                    && LogBatch.logOf(source.name()).equals(log)) {
                partitions.put(LogBatch.partitionOf(source.name()), partition);
            }
        }
        return partitions;
    }

    /// Folds chunks in one round, or in several if many records are rejected; each after the checkpoint that is
    /// behind.
    ///
    /// @throws EngineException if the caller gave up on a full disk
    public void fold(List<Chunk> chunks, BooleanSupplier givesUp) {
        try {
            for (int from = 0; from < chunks.size(); ) {
                from += foldRound(chunks.subList(from, chunks.size()), givesUp);
            }
        } catch (EngineException e) {
            if (e.kind() == EngineException.Kind.STATE_FULL) {
                checkpointNow(givesUp);
            }
            throw e;
        }
    }

    private int foldRound(List<Chunk> chunks, BooleanSupplier givesUp) {
        int[] folded = {0};
        while (true) {
            awaitReceiver(givesUp);
            Future<?> behind = guard.locked(() -> {
                View served = view.get();
                Future<?> written = served.checkpoints.behind();
                if (written == null) {
                    settings.passed().accept(Stage.READ);
                    served.folding.takeHeader(chunks.getFirst());
                    folded[0] = served.folding.round(chunks);
                    settings.passed().accept(Stage.FOLD);
                    served.checkpoints.takeIfDue();
                }
                return written;
            });
            if (behind == null) {
                return folded[0];
            }
            long nanos = System.nanoTime();
            awaitWritten(behind, givesUp);
            view.get().checkpoints.stopped(System.nanoTime() - nanos);
        }
    }

    /// Waits, without the lock, until enough batches are delivered.
    private void awaitReceiver(BooleanSupplier givesUp) {
        for (Optional<Backlog> over = backlog(); over.isPresent(); over = backlog()) {
            over.get().requirePatience(givesUp);
            space.requireOpen();
            settings.pause().run();
        }
    }

    private Optional<Backlog> backlog() {
        return guard.reading(() -> view.get().fold.backlog());
    }

    /// Changes the state while no checkpoint is being written, so that the state being written stays as it
    /// is.
    public <T> T betweenCheckpoints(Supplier<T> change) {
        List<T> done = new ArrayList<>();
        while (done.isEmpty()) {
            Future<?> writing = guard.locked(() -> {
                Future<?> begun = view.get().checkpoints.writing();
                if (begun == null) {
                    done.add(change.get());
                }
                return begun;
            });
            if (writing != null) {
                awaitWritten(writing, () -> false);
            }
        }
        return done.getFirst();
    }

    public void checkpointNow(BooleanSupplier givesUp) {
        long[] number = {0};
        while (true) {
            Future<?> writing = guard.locked(() -> {
                Checkpoints checkpoints = view.get().checkpoints;
                if (number[0] == 0 && checkpoints.writing() == null) {
                    checkpoints.take();
                    number[0] = checkpoints.number();
                }
                return checkpoints.writing();
            });
            if (number[0] > 0 && view.get().checkpoints.durable().number() >= number[0]) {
                return;
            }
            if (writing != null) {
                awaitWritten(writing, givesUp);
            }
        }
    }

    /// Waits until a checkpoint is written or has failed, without the lock; while the disk is full, until the
    /// caller gives up.
    public void awaitWritten(Future<?> writing, BooleanSupplier givesUp) {
        boolean interrupted = false;
        try {
            while (!writing.isDone()) {
                try {
                    writing.get(GIVE_UP_POLL_MS, TimeUnit.MILLISECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    requirePatience(interrupted || givesUp.getAsBoolean());
                } catch (ExecutionException e) {
                    return; // The next step under the lock says why, and stops the engine.
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void requirePatience(boolean givenUp) {
        Instant since = space.since().orElse(null);
        if (givenUp && since != null) {
            throw new EngineException(
                    EngineException.Kind.NO_SPACE,
                    "Stopped while the disk was full, since " + since + ". Checkpoint "
                            + view.get().checkpoints.durable().number()
                            + " is the last durable one; what was folded from files since is folded again at the next run.");
        }
    }

    public long durableBytes(String source) {
        return view.get().checkpoints.durable().sources().stream()
                .filter(each -> each.name().equals(source))
                .mapToLong(Source.Known::bytes)
                .findFirst()
                .orElse(0);
    }
}
