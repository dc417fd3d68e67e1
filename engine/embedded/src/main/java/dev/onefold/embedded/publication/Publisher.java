package dev.onefold.embedded.publication;

import dev.onefold.core.EngineException;
import dev.onefold.core.Status;
import dev.onefold.core.TotalsTable;
import dev.onefold.core.TotalsTable.Mark;
import dev.onefold.core.TotalsTable.Session;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.totals.CellAnswers;
import dev.onefold.core.totals.Leaves;
import dev.onefold.core.totals.Lines;
import dev.onefold.embedded.fold.State;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.view.View;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Keeps a copy of the totals that other programs read.
///
/// Each transaction brings the copy from one cut to the next: the groups that have changed, and the mark that
/// says so. The mark is read from the copy in the same transaction. If it is neither the last one that this
/// publisher has seen committed nor the one whose commit was not answered, the copy is that of an earlier
/// engine, or it was restored from a backup: then all groups are written. If it is a later one of another
/// publisher, another engine has taken the copy over, and this one writes no more. A cut is committed after a
/// checkpoint that covers it, so the copy never holds a change that a crash of the engine takes back. While the
/// copy cannot be reached, the waiting changes take one bit a group.
///
/// It has a thread of its own, and holds the engine's lock only while changed numbers are copied.
public final class Publisher implements AutoCloseable {
    private static final Duration PAUSE_FAILED_MAX = Duration.ofSeconds(3);
    private static final Duration WAIT = Duration.ofMillis(50);
    private static final Duration CLOSE_MAX = Duration.ofSeconds(10);
    /// Time between two looks at the copy while nothing changes: it may have been restored.
    private static final Duration LOOK_INTERVAL = Duration.ofSeconds(30);
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");

    private final Parts parts;
    private final Duration every;
    private final String writer;
    private final BlockingQueue<CompletableFuture<Boolean>> asked = new LinkedBlockingQueue<>();
    private volatile boolean isClosing;
    private final List<Image> images = new ArrayList<>();
    private @Nullable State imaged; // The state that the images are of.
    private @Nullable Mark confirmed;
    private @Nullable Mark attempted;
    private boolean isOther; // The totals are in another view than those that were published last.
    private boolean valuesChanged; // Of a roll-up that is written whole.
    private List<Tuple> shownFrom = List.of(); // The first groups in the images.
    private @Nullable Instant looked;
    private volatile Status.OfPublication status = new Status.OfPublication(0, Optional.empty(), Optional.empty(), "");
    private final @Nullable Thread thread;

    /// The parts of a publisher.
    ///
    /// @param view supplier of the view that serves
    /// @param checkpoint takes a checkpoint, and waits until it is durable
    /// @param table makes the copy for a definition
    public record Parts(
            Supplier<View> view,
            Guard guard,
            InstantSource clock,
            Runnable checkpoint,
            Function<Pipeline, TotalsTable> table) {}

    /// @param isThreaded whether it has a thread of its own; otherwise the caller calls [#step]
    public Publisher(Parts parts, Duration every, boolean isThreaded) {
        this.parts = parts;
        this.every = every;
        writer = UUID.randomUUID().toString();
        thread = isThreaded
                ? Thread.ofPlatform().daemon().name("onefold-publish").start(this::run)
                : null;
    }

    private void run() {
        CompletableFuture<Boolean> asker = null;
        try {
            for (boolean isLast = false; !isLast; ) {
                isLast = isClosing; // Everything before the closing is in this step.
                boolean isDone = step();
                if (asker != null) {
                    asker.complete(isDone);
                }
                isLast |= isClosing && !isDone; // A copy that cannot be reached does not hold up the end.
                Duration pause = isDone || every.compareTo(PAUSE_FAILED_MAX) < 0 ? every : PAUSE_FAILED_MAX;
                asker = isLast ? null : asked.poll(pause.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (EngineException e) {
            status = status.failed(parts.clock.instant(), String.valueOf(e.getMessage()));
        } finally {
            if (asker != null) {
                asker.complete(false);
            }
            asked.forEach(each -> each.complete(false));
        }
    }

    /// Brings the copy to the current totals, if it is behind; returns whether that succeeded. The caller
    /// waits for the thread of the publisher, if it has one.
    ///
    /// @param goesOn whether the caller continues to wait: a database may take a long time to answer
    public boolean publish(BooleanSupplier goesOn) {
        if (thread == null) {
            return step();
        }
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        asked.add(answer);
        while (!answer.isDone() && goesOn.getAsBoolean() && thread.isAlive()) {
            answer.copy()
                    .completeOnTimeout(false, WAIT.toMillis(), TimeUnit.MILLISECONDS)
                    .join();
        }
        if (!answer.isDone()) {
            status = status.failed(parts.clock.instant(), "The copy has not answered yet");
        }
        return answer.getNow(false);
    }

    /// The status of the copy.
    public Status.OfPublication status() {
        return status;
    }

    /// Brings the copy to the current totals, if it is behind; false if that failed, and will be tried again.
    ///
    /// @throws EngineException if the engine is closed or has stopped
    public synchronized boolean step() {
        // A database keeps no more than microseconds, and the mark is compared with what was read back.
        Instant now = parts.clock.instant().truncatedTo(ChronoUnit.MILLIS);
        try {
            if (confirmed != null
                    && looked != null
                    && Duration.between(looked, now).abs().compareTo(LOOK_INTERVAL) < 0
                    && !parts.guard.reading(this::isChanged)) {
                return true;
            }
            boolean isDone = publish(now);
            looked = now;
            return isDone;
        } catch (TotalsTable.Unavailable e) {
            fail(now, e);
            return false;
        } catch (EngineException e) {
            forget();
            if (e.kind() == EngineException.Kind.STOPPED) {
                throw e;
            }
            fail(now, e);
            return false;
        } catch (RuntimeException | OutOfMemoryError e) {
            forget();
            fail(now, e);
            return false;
        }
    }

    private void fail(Instant now, Throwable e) {
        String reason = e instanceof TotalsTable.Unavailable || e instanceof EngineException
                ? String.valueOf(e.getMessage())
                : String.valueOf(e);
        if (status.failure().isEmpty()) {
            LOG.log(System.Logger.Level.WARNING, "Totals cannot be published now. " + reason);
        }
        status = status.failed(now, reason);
    }

    /// Forgets the state of the copy, so that all is written: the session ended where the copy may have taken
    /// changes that no image has noted.
    private void forget() {
        images.forEach(Image::close);
        images.clear();
        imaged = null;
        confirmed = null;
        attempted = null;
    }

    private boolean isChanged() {
        State state = parts.view.get().state;
        return state != imaged
                || isOther
                || valuesChanged
                || !shownFrom.equals(state.firstShown())
                || images.stream().anyMatch(Image::hasChanged)
                || state.hasMoved();
    }

    /// False if another definition serves now: the next step writes it.
    private boolean publish(Instant now) {
        Pipeline pipeline = parts.view.get().pipeline;
        try (Session session = parts.table.apply(pipeline).begin()) {
            Optional<Mark> found = session.mark();
            requireOurs(found);
            boolean isKnown = session.isWhole()
                    && found.isPresent()
                    && (found.get().equals(confirmed) || found.get().equals(attempted));
            List<Rollup> rollups = Rollups.of(pipeline).all();
            List<@Nullable Lines> wholes = new ArrayList<>();
            try {
                if (!parts.guard.reading(() -> take(pipeline, rollups, !isKnown, wholes))) {
                    return false;
                }
                images.forEach(Image::bringForward);
                boolean isAll = !isKnown || isOther;
                boolean isNew = isAll || wholes.stream().anyMatch(each -> each != null);
                if (!isNew && images.stream().noneMatch(Image::hasChanged)) {
                    confirmed = found.get();
                    attempted = null;
                    status = status.done(confirmed.cut(), confirmed.at());
                    return true;
                }
                Mark next = new Mark(found.map(Mark::cut).orElse(0L) + 1, writer, now);
                session.begin(next);
                write(session, rollups, isAll, wholes);
                parts.checkpoint.run();
                attempted = next;
                session.commit();
                confirmed = next;
                attempted = null;
                valuesChanged = false;
                isOther = false;
                images.forEach(Image::confirm);
                status = status.done(next.cut(), next.at());
                return true;
            } finally {
                wholes.forEach(each -> {
                    if (each != null) {
                        each.close();
                    }
                });
            }
        }
    }

    /// The engine that was opened last writes to the copy. One that was restored from a backup is behind.
    private void requireOurs(Optional<Mark> found) {
        Mark known = confirmed;
        if (known != null
                && found.isPresent()
                && !found.get().writer().equals(writer)
                && found.get().cut() > known.cut()) {
            throw new TotalsTable.Unavailable(
                    "Another engine publishes to the same table since cut "
                            + found.get().cut() + " of " + found.get().at()
                            + ", so this one has stopped doing so. Name another table under 'publish', or stop the"
                            + " other engine and start this one again",
                    null);
        }
    }

    /// Copies one cut of all roll-ups, under the engine's lock; false if the definition is not this one any
    /// more.
    private boolean take(Pipeline pipeline, List<Rollup> rollups, boolean all, List<@Nullable Lines> wholes) {
        View view = parts.view.get();
        State state = view.state;
        if (!view.pipeline.equals(pipeline)) {
            return false;
        }
        if (state != imaged || !images.stream().allMatch(image -> image.isOf(state.groups))) {
            isOther = true;
            images.forEach(Image::close);
            images.clear();
            imaged = state;
        }
        boolean haveEnded = !shownFrom.equals(state.firstShown());
        shownFrom = state.firstShown();
        int image = 0;
        for (int rollup = 0; rollup < rollups.size(); rollup++) {
            Leaves leaves = state.served(rollup);
            BitSet moved = state.takeMoved(rollup);
            if (CellAnswers.isEnough(rollups.get(rollup))) {
                boolean isNew = images.size() == image;
                if (isNew) {
                    images.add(new Image(rollup, rollups.get(rollup), leaves));
                }
                images.get(image++).take(leaves, isNew ? null : moved);
                wholes.add(null);
            } else {
                valuesChanged |= haveEnded || moved == null || !moved.isEmpty();
                wholes.add(
                        all || isOther || valuesChanged
                                ? leaves.lines(
                                        new Query(rollups.get(rollup).name(), List.of(), Integer.MAX_VALUE, null),
                                        _ -> {})
                                : null);
            }
        }
        return true;
    }

    private void write(Session session, List<Rollup> rollups, boolean all, List<@Nullable Lines> wholes) {
        int image = 0;
        for (int rollup = 0; rollup < rollups.size(); rollup++) {
            Lines whole = wholes.get(rollup);
            if (whole != null) {
                session.replace(rollup);
                for (Answer.Line line : whole) {
                    session.put(rollup, line);
                }
            } else if (CellAnswers.isEnough(rollups.get(rollup))) {
                Image changed = images.get(image++);
                if (all) {
                    changed.writeAll(session);
                } else {
                    changed.writeChanged(session);
                }
            }
        }
    }

    /// Publishes the remaining changes, if the copy can be reached, and ends.
    @Override
    public void close() {
        isClosing = true;
        asked.add(new CompletableFuture<>());
        if (thread != null) {
            try {
                thread.join(CLOSE_MAX);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        if (thread == null || !thread.isAlive()) { // Otherwise it uses them until its database answers.
            images.forEach(Image::close);
            images.clear();
        }
    }
}
