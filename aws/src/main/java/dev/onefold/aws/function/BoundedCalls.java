package dev.onefold.aws.function;

import dev.onefold.core.process.StepFunction;
import dev.onefold.process.Step;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/// Calls the user's function on a thread of its own, and waits for it a second at most. A call that does not return is
/// interrupted and left alone: its thread goes on until it returns or the process ends, and the next call has another
/// thread. One caller at a time.
final class BoundedCalls implements StepFunction.Caller {
    private final Duration most;
    private ExecutorService thread = thread();

    /// @param most how long a call may take
    BoundedCalls(Duration most) {
        this.most = most;
    }

    private static ExecutorService thread() {
        return Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("onefold-function").factory());
    }

    @Override
    public Step<?> call(Supplier<Step<?>> function) {
        Future<Step<?>> answer = thread.submit(function::get);
        boolean interrupted = false;
        long end = System.nanoTime() + most.toNanos();
        try {
            while (true) {
                try {
                    return answer.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    thread.shutdownNow();
                    thread = thread();
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
