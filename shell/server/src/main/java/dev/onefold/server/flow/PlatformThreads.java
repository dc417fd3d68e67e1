package dev.onefold.server.flow;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// Runs work that keeps a processor busy for long, and so may not run on a virtual thread. Any thread may
/// call.
public final class PlatformThreads implements AutoCloseable {
    private final ExecutorService threads;

    /// @param prefix of the threads' names
    public PlatformThreads(String prefix) {
        threads = Executors.newCachedThreadPool(
                Thread.ofPlatform().name(prefix, 0).daemon().factory());
    }

    /// The work of a thread.
    public interface Work {
        void run() throws IOException;
    }

    /// Runs work, and returns when it has ended, even if the caller is interrupted: the work uses resources that
    /// the caller releases afterwards.
    ///
    /// @throws IOException if the work throws it
    public void run(Work work) throws IOException {
        Future<?> running = threads.submit(() -> {
            work.run();
            return null;
        });
        boolean isInterrupted = false;
        try {
            for (boolean hasEnded = false; !hasEnded; ) {
                try {
                    running.get();
                    hasEnded = true;
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case IOException gone -> throw gone;
                case RuntimeException wrong -> throw wrong;
                case Error wrong -> throw wrong;
                case null, default -> throw new IllegalStateException(e.getCause());
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /// Takes no more work.
    @Override
    public void close() {
        threads.shutdown();
    }
}
