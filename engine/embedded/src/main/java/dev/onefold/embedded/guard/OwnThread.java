package dev.onefold.embedded.guard;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A thread of the engine's own, for everything that touches its files.
///
/// An interrupt closes the `FileChannel` that the interrupted thread works on, under every other thread.
/// Callers are interrupted by `Future.cancel`, by `shutdownNow` and by time-outs of frameworks; this thread
/// never is. The caller waits for the result, and finds its interrupt flag as it was.
public final class OwnThread implements AutoCloseable {
    private final @Nullable ExecutorService executor;
    private volatile @Nullable Thread thread;

    /// @param some false: all work is done on the thread of its caller, which a simulation needs
    public OwnThread(boolean some, String name) {
        executor = some
                ? Executors.newSingleThreadExecutor(work -> {
                    Thread made = Thread.ofPlatform().daemon().name(name).unstarted(work);
                    thread = made;
                    return made;
                })
                : null;
    }

    /// Does a piece of work and waits for it, however often the caller is interrupted. After [#close] the work
    /// is done on the caller's thread: it finds the engine closed.
    public <T extends @Nullable Object> T call(Supplier<T> work) {
        ExecutorService own = executor;
        if (own == null || Thread.currentThread().equals(thread)) {
            return work.get();
        }
        Future<T> result;
        try {
            result = own.submit(work::get);
        } catch (RejectedExecutionException closed) {
            return work.get();
        }
        return await(result);
    }

    /// Waits for a result, however often the caller is interrupted; throws the exception of the work.
    public static <T extends @Nullable Object> T await(Future<T> result) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return result.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    switch (e.getCause()) {
                        case RuntimeException failure -> throw failure;
                        case Error failure -> throw failure;
                        case null, default -> throw new IllegalStateException("The engine's work failed", e);
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /// Ends the thread after the work that it has. May be called twice.
    @Override
    public void close() {
        if (executor != null) {
            executor.shutdown();
        }
    }
}
