package dev.onefold.tables;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/// Runs pieces of work beside each other. If one fails or stops, the others stop, too.
final class Beside {
    private Beside() {}

    /// A piece of work.
    interface Work {
        /// @return whether the others are to continue
        boolean run(Going going) throws IOException, InterruptedException;
    }

    /// Whether the work continues.
    interface Going {
        boolean isOn();
    }

    /// Returns when no work runs any more. If the caller is interrupted, so is all the work.
    static void run(List<Work> works, int threads) throws IOException, InterruptedException {
        AtomicBoolean on = new AtomicBoolean(true);
        ExecutorService executor = Executors.newFixedThreadPool(
                threads, Thread.ofVirtual().name("onefold-rows-", 0).factory());
        try (executor) {
            List<Future<?>> futures = new ArrayList<>();
            for (Work work : works) {
                futures.add(executor.submit(() -> {
                    boolean finished = false;
                    try {
                        finished = !on.get() || work.run(on::get);
                    } finally {
                        if (!finished) {
                            on.set(false);
                        }
                    }
                    return null;
                }));
            }
            try {
                await(futures, on);
            } catch (InterruptedException e) {
                executor.shutdownNow(); // Some may wait for a taker that takes no more.
                throw e;
            }
        }
    }

    private static void await(List<Future<?>> futures, AtomicBoolean on) throws IOException, InterruptedException {
        try {
            for (Future<?> future : futures) {
                future.get();
            }
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case IOException failure -> throw new IOException(failure.getMessage(), failure);
                case RuntimeException failure -> throw failure;
                case Error failure -> throw failure;
                case null, default -> throw new IllegalStateException(e.getCause());
            }
        } finally {
            on.set(false);
        }
    }
}
