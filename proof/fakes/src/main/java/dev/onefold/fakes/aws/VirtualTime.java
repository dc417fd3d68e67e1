package dev.onefold.fakes.aws;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/// Time that passes only when it is run: a queue of actions, each with its instant, done in the order of their instants
/// and, at one instant, in the order in which they were asked for. One thread runs it and completes every
/// future.
///
/// Code that blocks runs on virtual threads of this time, carried by the thread that runs it: after each action, all
/// of them go on that can, before the next action is done.
public final class VirtualTime implements InstantSource {
    private static final long ACTIONS_MAX = 20_000_000;

    private final NavigableMap<Moment, Runnable> queue = new TreeMap<>();
    private final SteppedThreads threads = new SteppedThreads();
    private Instant now;
    private long order;
    private boolean running;

    /// An action to come.
    public record Moment(Instant at, long order) implements Comparable<Moment> {
        @Override
        public int compareTo(Moment other) {
            int byTime = at.compareTo(other.at);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    /// Begins at an instant.
    public VirtualTime(Instant start) {
        now = start;
    }

    @Override
    public Instant instant() {
        return now;
    }

    /// Starts a virtual thread of this time; it begins when time is run.
    public void start(Runnable task) {
        threads.execute(task);
    }

    /// Does an action after a delay, but never within this call.
    ///
    /// @return what [#cancel] takes
    public Moment schedule(Duration delay, Runnable action) {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("An action is asked for in the past, by " + delay + ".");
        }
        Moment moment = new Moment(now.plus(delay), order++);
        queue.put(moment, action);
        return moment;
    }

    /// Does an action after a delay, but never within this call.
    public void after(Duration delay, Runnable action) {
        var _ = schedule(delay, action);
    }

    /// Takes back an action that was not done yet; for one that was, this does nothing.
    public void cancel(Moment moment) {
        queue.remove(moment);
    }

    /// A future that completes after a delay.
    public CompletableFuture<@Nullable Void> after(Duration delay) {
        CompletableFuture<@Nullable Void> future = new CompletableFuture<>();
        schedule(delay, () -> future.complete(null));
        return future;
    }

    /// Runs until the future is complete, and gives its result, or throws what it failed with.
    ///
    /// @throws IllegalStateException if nothing is left to do that could complete it, or time does not get there
    public <T> T runUntil(CompletableFuture<T> future) {
        run(future, Instant.MAX);
        if (!future.isDone()) {
            throw new IllegalStateException("Nothing is left to do at " + now + ", and the future is not complete.");
        }
        try {
            return future.join();
        } catch (CompletionException failure) {
            Throwable cause = failure.getCause();
            switch (cause) {
                case RuntimeException unchecked -> throw unchecked;
                case Error error -> throw error;
                case null, default -> throw failure;
            }
        }
    }

    /// Runs until nothing is left to do.
    public void runUntilIdle() {
        run(null, Instant.MAX);
    }

    /// Runs what lies within a duration, and lets that much time pass.
    public void runFor(Duration duration) {
        Instant end = now.plus(duration);
        run(null, end);
        now = end;
    }

    private void run(@Nullable CompletableFuture<?> until, Instant end) {
        if (running) {
            throw new IllegalStateException("Time is run from within an action: start a thread instead.");
        }
        running = true;
        try {
            threads.goOn();
            for (long actions = 0; until == null || !until.isDone(); actions++) {
                Map.@Nullable Entry<Moment, Runnable> next = queue.firstEntry();
                if (next == null || next.getKey().at().isAfter(end)) {
                    return;
                }
                if (actions == ACTIONS_MAX) {
                    throw new IllegalStateException(
                            "After " + ACTIONS_MAX + " actions, at " + now + ", there is no end in sight.");
                }
                queue.remove(next.getKey());
                now = next.getKey().at();
                next.getValue().run();
                threads.goOn();
            }
        } finally {
            running = false;
        }
    }
}
