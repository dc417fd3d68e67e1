package dev.onefold.aws.function;

import dev.onefold.core.keyed.StepFunction;
import dev.onefold.process.Step;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/// Calls the user's function on a thread of its own, and waits for it a second at most, from when it runs. As
/// many calls run at once as there are processors, so that the second of a call is its own. A call that does not
/// return is interrupted and left alone: its thread goes on until it returns or the process ends. Any thread may
/// call.
///
/// Such a thread takes a processor and memory for as long as the process lives. When there are [#LEFT_MAX] of them, the
/// process is to end: Lambda starts another one then.
final class BoundedCalls implements StepFunction.Caller {
    /// Threads of calls that have not returned in time, in a process that goes on.
    static final int LEFT_MAX = 8;

    private static final AtomicInteger LEFT = new AtomicInteger();

    private final Duration most;
    private final Semaphore running;
    private final ExecutorService threads = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("onefold-function").factory());

    /// @param most how long a call may take
    /// @param atOnce how many may run at a time
    BoundedCalls(Duration most, int atOnce) {
        this.most = most;
        running = new Semaphore(atOnce);
    }

    /// Whether so many calls are running that were left alone that the process is to end.
    static boolean isFull() {
        return LEFT.get() >= LEFT_MAX;
    }

    @Override
    public Step<?> call(Supplier<Step<?>> function) {
        running.acquireUninterruptibly();
        try {
            return run(function);
        } finally {
            running.release();
        }
    }

    private Step<?> run(Supplier<Step<?>> function) {
        AtomicBoolean over = new AtomicBoolean(); // Either it has returned or it was left alone.
        CompletableFuture<Long> begun = new CompletableFuture<>();
        Future<Step<?>> answer = threads.submit(() -> {
            begun.complete(System.nanoTime());
            try {
                return function.get();
            } finally {
                if (!over.compareAndSet(false, true)) {
                    LEFT.decrementAndGet();
                }
            }
        });
        boolean interrupted = false;
        long end = begun.join() + most.toNanos();
        try {
            while (true) {
                try {
                    return answer.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    if (over.compareAndSet(false, true)) {
                        LEFT.incrementAndGet();
                    }
                    answer.cancel(true);
                    throw new StepFunction.OverrunException(
                            "The function did not return within " + most.toSeconds() + " s");
                } catch (ExecutionException e) {
                    switch (e.getCause()) {
                        case RuntimeException failure -> throw failure;
                        case Error failure -> throw failure;
                        case null, default -> throw new IllegalStateException("A call of the function failed", e);
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
