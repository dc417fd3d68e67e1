package dev.onefold.embedded.fold;

import dev.onefold.embedded.guard.OwnThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// Runs the parts of one step at the same time and waits for all; with no threads, one after the other on the
/// caller's thread.
public final class Workers implements AutoCloseable {
    private final int threads;
    private final @Nullable ExecutorService executor;

    public Workers(int threads) {
        this.threads = threads;
        executor = threads < 2
                ? null
                : Executors.newFixedThreadPool(
                        threads - 1,
                        Thread.ofPlatform().daemon().name("onefold-worker-", 1).factory());
    }

    /// Whether work is done on threads of the engine's own.
    public boolean hasThreads() {
        return threads > 0;
    }

    /// How many parts are useful.
    public int parallelism() {
        return Math.max(1, threads);
    }

    /// Runs parts 0 to `parts` − 1; the caller does the last one itself.
    public void run(int parts, IntConsumer part) {
        ExecutorService pool = executor;
        if (pool == null) {
            for (int i = 0; i < parts; i++) {
                part.accept(i);
            }
            return;
        }
        List<Future<?>> others = new ArrayList<>(parts - 1);
        for (int i = 0; i < parts - 1; i++) {
            int number = i;
            others.add(pool.submit(() -> part.accept(number)));
        }
        Throwable failure = null;
        try {
            part.accept(parts - 1);
        } catch (RuntimeException | Error e) {
            failure = e;
        }
        for (Future<?> other : others) { // A step is never left half done.
            try {
                OwnThread.await(other);
            } catch (RuntimeException | Error e) {
                failure = failure == null ? e : failure;
            }
        }
        switch (failure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException(failure);
        }
    }

    @Override
    public void close() {
        if (executor != null) {
            executor.shutdownNow();
        }
    }
}
