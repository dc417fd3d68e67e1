package dev.onefold.embedded.publication;

import dev.onefold.core.EngineException;
import dev.onefold.core.Status;
import dev.onefold.core.TotalsTable;
import dev.onefold.core.TotalsTable.Mark;
import dev.onefold.core.TotalsTable.Session;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.CellAnswers;
import dev.onefold.core.query.Leaves;
import dev.onefold.core.query.Lines;
import dev.onefold.core.query.Query;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Keeps a copy of the totals that other programs read.
///
/// Each transaction brings the copy from one cut to the next: the groups that have changed, and the mark
/// that says so. The mark is read from the copy in the same transaction. If it is neither the last one that
/// this publisher has seen committed nor the one whose commit was not answered, somebody else wrote to the
/// copy, or it was restored from a backup: then all groups are written. A cut is committed after a
/// checkpoint that covers it, so the copy never holds what a crash of the engine takes back. What waits for
/// a copy that cannot be reached is one bit a group.
///
/// It has a thread of its own, and holds the engine's lock only while changed numbers are copied.
public final class Publisher implements AutoCloseable {
    private static final Duration PAUSE_MAX = Duration.ofSeconds(4);
    private static final Duration CLOSE_MAX = Duration.ofSeconds(10);
    /// The copy is looked at that often while nothing changes: it may have been restored.
    private static final Duration LOOK_INTERVAL = Duration.ofSeconds(30);
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");

    private final Parts parts;
    private final Duration every;
    private final String writer;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final List<Image> images = new ArrayList<>();
    private @Nullable State imaged; // Whose images they are.
    private @Nullable Mark confirmed;
    private @Nullable Mark attempted;
    private boolean isOther; // The totals are in another view than those that were published last.
    private boolean valuesChanged; // Of a roll-up that is written whole.
    private @Nullable Instant looked;
    private volatile Status.OfPublication status = new Status.OfPublication(0, Optional.empty(), Optional.empty(), "");
    private final @Nullable Thread thread;

    /// What it works with.
    ///
    /// @param view the one that serves
    /// @param checkpoint takes one, and waits until it is durable
    /// @param table makes the copy for a definition
    public record Parts(
            Supplier<View> view,
            Guard guard,
            InstantSource clock,
            Runnable checkpoint,
            Function<Pipeline, TotalsTable> table) {}

    /// @param isThreaded whether it works by itself; else the caller calls [#step]
    public Publisher(Parts parts, Duration every, boolean isThreaded) {
        this.parts = parts;
        this.every = every;
        writer = UUID.randomUUID().toString();
        thread = isThreaded
                ? Thread.ofPlatform().daemon().name("onefold-publish").start(this::run)
                : null;
    }

    private void run() {
        try {
            boolean isLast = false;
            while (!isLast) {
                boolean failed = !step();
                Duration pause = failed ? every.multipliedBy(2) : every;
                long millis = Math.min(pause.toMillis(), PAUSE_MAX.toMillis());
                isLast = closing.await(millis, TimeUnit.MILLISECONDS);
                if (isLast && !failed) {
                    step();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (EngineException e) {
            if (e.kind() != EngineException.Kind.STOPPED) {
                LOG.log(System.Logger.Level.ERROR, "Totals are no longer published. " + e.getMessage());
            }
            status = status.failed(parts.clock.instant(), String.valueOf(e.getMessage()));
        }
    }

    /// How it is.
    public Status.OfPublication status() {
        return status;
    }

    /// Brings the copy to the totals of now, if it is not there; false if that failed, and will be tried
    /// again.
    public synchronized boolean step() {
        // A database keeps no more than microseconds, and the mark is compared with what was read back.
        Instant now = parts.clock.instant().truncatedTo(ChronoUnit.MILLIS);
        if (confirmed != null
                && looked != null
                && Duration.between(looked, now).compareTo(LOOK_INTERVAL) < 0
                && !parts.guard.reading(this::isChanged)) {
            return true;
        }
        try {
            publish(now);
            looked = now;
            return true;
        } catch (TotalsTable.Unavailable e) {
            if (status.failure().isEmpty()) {
                LOG.log(System.Logger.Level.WARNING, "Totals cannot be published now. " + e.getMessage());
            }
            status = status.failed(now, String.valueOf(e.getMessage()));
            return false;
        }
    }

    private boolean isChanged() {
        State state = parts.view.get().state;
        return state != imaged || valuesChanged || images.stream().anyMatch(Image::hasChanged) || state.hasMoved();
    }

    private void publish(Instant now) {
        Pipeline pipeline = parts.view.get().pipeline;
        try (Session session = parts.table.apply(pipeline).begin()) {
            Optional<Mark> found = session.mark();
            boolean isKnown = session.isWhole()
                    && found.isPresent()
                    && (found.get().equals(confirmed) || found.get().equals(attempted));
            List<Rollup> rollups = Rollups.of(pipeline).all();
            List<@Nullable Lines> wholes = new ArrayList<>();
            try {
                if (!parts.guard.reading(() -> take(pipeline, rollups, !isKnown, wholes))) {
                    return; // Another definition serves now: the next step writes it.
                }
                images.forEach(Image::bringForward);
                boolean isAll = !isKnown || isOther;
                boolean isNew = isAll || wholes.stream().anyMatch(each -> each != null);
                if (!isNew && images.stream().noneMatch(Image::hasChanged)) {
                    confirmed = found.get();
                    attempted = null;
                    status = status.done(confirmed.cut(), confirmed.at());
                    return;
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
            } finally {
                wholes.forEach(each -> {
                    if (each != null) {
                        each.close();
                    }
                });
            }
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
        if (state != imaged) {
            isOther = true;
            images.forEach(Image::close);
            images.clear();
            imaged = state;
        }
        int image = 0;
        for (int rollup = 0; rollup < rollups.size(); rollup++) {
            Leaves leaves = state.served(rollup);
            BitSet moved = state.takeMoved(rollup);
            if (CellAnswers.isEnough(rollups.get(rollup))) {
                if (images.size() == image) {
                    images.add(new Image(rollup, rollups.get(rollup), leaves));
                }
                images.get(image++).take(leaves, moved);
                wholes.add(null);
            } else {
                valuesChanged |= moved == null || !moved.isEmpty();
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

    /// Publishes what is not published, if the copy can be reached, and ends.
    @Override
    public void close() {
        closing.countDown();
        if (thread != null) {
            try {
                thread.join(CLOSE_MAX);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        if (thread == null || !thread.isAlive()) {
            images.forEach(Image::close);
            images.clear();
        }
    }
}
