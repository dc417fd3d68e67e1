package dev.onefold.local.stack;

import dev.onefold.mapping.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Time as it passes, and one thread for all actions. The first action that throws is kept: it is a bug.
final class RealTime implements Scheduler, AutoCloseable {
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("time").factory());
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    @Override
    public Instant instant() {
        return Instant.now();
    }

    @Override
    public void after(Duration delay, Runnable action) {
        try {
            var _ = thread.schedule(() -> run(action), delay.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException closed) {
            // An answer that comes after the end: nobody waits for it.
        }
    }

    private void run(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) {
            failure.compareAndSet(null, e);
            throw e;
        }
    }

    /// Throws what an action has thrown.
    void requireFine() {
        Throwable thrown = failure.get();
        if (thrown != null) {
            throw new IllegalStateException("An action has failed, and others may wait for it for ever", thrown);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
