package dev.onefold.embedded.intake;

import dev.onefold.core.Engine.Appended;
import dev.onefold.core.EngineException;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.embedded.commit.Request;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.fold.Lines;
import dev.onefold.embedded.guard.EngineLimits;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.guard.OwnThread;
import dev.onefold.embedded.guard.Space;
import dev.onefold.embedded.view.Checkpoints;
import dev.onefold.embedded.view.View;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/// The queue of requests that wait to be committed. It belongs to the engine: a view is exchanged only while
/// nobody has a request under way. The engine's own thread commits all that is in the queue at once.
///
/// A request waits for a view that is being filled, for a checkpoint that is behind, and for space on the disk,
/// each without the engine's lock. An interrupt ends only these waits, and the request leaves the queue; a
/// request that is being committed is waited for.
public final class Submissions {
    /// Bytes that one call may append.
    public static final int APPEND_BYTES_MAX = 256 << 20;

    private static final long LOOK_MS = 50;

    private final Supplier<View> view;
    private final EngineLimits settings;
    private final OwnThread own;
    private final Guard guard;
    private final Space space;
    private final Lock standing;
    private final ConcurrentLinkedDeque<Request> queue = new ConcurrentLinkedDeque<>();

    /// @param standing held while requests are under way: the view is not exchanged meanwhile
    public Submissions(Supplier<View> view, View.Opening opening, Lock standing) {
        this.view = view;
        settings = opening.settings();
        own = opening.own();
        guard = opening.guard();
        space = opening.space();
        this.standing = standing;
    }

    /// The next step of a request: it is done, or it waits for a condition.
    private sealed interface Step {
        record Done() implements Step {}

        record Checkpoint(Future<?> written) implements Step {}

        record Full() implements Step {}

        /// Others were committed; the next step is for this one.
        record Turn() implements Step {}
    }

    /// Commits a request; durable when it returns.
    ///
    /// @throws EngineException if it is refused or given up: nothing of it is done then; or if the engine has
    /// stopped
    public Request commit(Request request) {
        request.requireIdentity(view.get().pipeline);
        hold(standing, "another call that recomputes the totals");
        try {
            queue.add(request);
            for (Step step = step(request); !(step instanceof Step.Done); step = step(request)) {
                try {
                    await(step);
                    if (space.isClosing()) {
                        throw new EngineException(
                                EngineException.Kind.STOPPED, "The engine was closed while this call waited");
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    withdraw(request, EngineException.Kind.INTERRUPTED, "Interrupted while waiting for a checkpoint");
                } catch (EngineException e) {
                    withdraw(request, e.kind(), String.valueOf(e.getMessage()));
                }
            }
        } finally {
            queue.remove(request);
            space.leave(request);
            standing.unlock();
        }
        EngineException refused = request.refused();
        if (refused != null) {
            throw refused;
        }
        return request;
    }

    /// A copy of a list that a caller gave.
    ///
    /// @throws IllegalArgumentException if the list or an element is null
    public static <T> List<T> given(List<T> list, String what) {
        if (list == null || list.stream().anyMatch(Objects::isNull)) {
            throw new IllegalArgumentException(what + " are null, or one of them is");
        }
        return List.copyOf(list);
    }

    /// Takes a lock. An interrupt ends the wait for it, not the call. A thread that waits longer goes first,
    /// so that callers without end keep nobody from rebuilding or closing.
    public static void hold(Lock lock, String what) {
        boolean interrupted = Thread.interrupted();
        try {
            boolean taken = lock.tryLock(0, TimeUnit.NANOSECONDS); // Plain tryLock would overtake.
            if (!taken && interrupted) {
                throw new InterruptedException();
            }
            if (!taken) {
                lock.lockInterruptibly();
            }
        } catch (InterruptedException e) {
            interrupted = true;
            throw nothingDone(EngineException.Kind.INTERRUPTED, "Interrupted while waiting for " + what);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Step step(Request request) {
        return own.call(() -> guard.locked(() -> {
            if (request.isDone()) {
                return new Step.Done();
            }
            View served = view.get();
            if (request.lines() > 0 && served.fold.backlog().isPresent()) {
                served.checkpoints.takeIfDue(); // A sealed batch is delivered once a checkpoint has it.
                return new Step.Full();
            }
            Future<?> written = served.checkpoints.behind();
            if (written != null) {
                return new Step.Checkpoint(written);
            }
            boolean full = false;
            try {
                served.commits.commit(queue);
            } catch (OutOfSpaceException e) {
                space.isFull(request, e);
                full = true;
            }
            served.checkpoints.takeIfDue();
            return request.isDone() ? new Step.Done() : full ? new Step.Full() : new Step.Turn();
        }));
    }

    private void await(Step step) throws InterruptedException {
        switch (step) {
            case Step.Done _, Step.Turn _ -> {}
            case Step.Full _ -> settings.pause().run();
            case Step.Checkpoint(var written) -> awaitWritten(written, view.get().checkpoints);
        }
    }

    /// A failed checkpoint stops the engine at the next step, which says why. While the disk is full, the
    /// caller pauses between its looks, and so may give up.
    private void awaitWritten(Future<?> written, Checkpoints checkpoints) throws InterruptedException {
        long nanos = System.nanoTime();
        try {
            while (!written.isDone()) {
                try {
                    written.get(LOOK_MS, TimeUnit.MILLISECONDS);
                } catch (TimeoutException slow) {
                    if (space.since().isPresent()) {
                        settings.pause().run();
                    }
                }
            }
        } catch (ExecutionException failed) {
            return;
        } finally {
            checkpoints.stopped(System.nanoTime() - nanos);
        }
    }

    /// Takes a request back, unless it was committed meanwhile.
    private void withdraw(Request request, EngineException.Kind kind, String why) {
        boolean done = own.call(() -> guard.locked(() -> request.isDone() || !queue.remove(request)));
        if (!done) {
            throw nothingDone(kind, why);
        }
    }

    private static EngineException nothingDone(EngineException.Kind kind, String why) {
        return new EngineException(kind, why + ". Nothing of this call was done; call again.");
    }

    /// The bytes of records, each ended by a line end.
    public byte[] lines(List<String> records) {
        return Lines.of(RecordEnds.of(view.get().pipeline), records, APPEND_BYTES_MAX);
    }

    /// Commits numbered lines, in as many entries as are needed.
    public Appended append(String source, long firstRecord, byte[] lines, int length, UnaryOperator<Request> commit) {
        Lines.requireNumbered(source, firstRecord);
        Lines.requireLength(lines, length, APPEND_BYTES_MAX);
        RecordEnds ends = RecordEnds.of(view.get().pipeline);
        Lines.requireEnds(ends, lines, length, firstRecord - 1);
        if (length == 0) {
            return of(commit.apply(Request.lines(source, Request.NEXT, lines, 0)));
        }
        Appended appended = Appended.none(0);
        long record = firstRecord;
        for (int from = 0; from < length; ) {
            int to = Lines.end(ends, lines, from, length);
            byte[] part = from == 0 && to == length ? lines : Arrays.copyOfRange(lines, from, to);
            Request request = Request.lines(source, record, part, to - from);
            appended = appended.plus(of(commit.apply(request)));
            record += request.lines();
            from = to;
        }
        return appended;
    }

    /// The answer to a committed request: the fates of its records.
    public static Appended of(Request request) {
        return new Appended(request.acknowledged(), request.counts(), request.letters());
    }
}
