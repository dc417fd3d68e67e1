package dev.onefold.cli.trial;

import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.StopRequest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// The request to end the trial early, which deletes the trial's resources, too. Is thread-safe.
record Signals(StopRequest request) {
    private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /// Somebody wants it to end.
    static final class Stopped extends RuntimeException {
        private static final long serialVersionUID = 1;

        Stopped() {
            super("Stopped.");
        }
    }

    boolean isMade() {
        return request.isMade();
    }

    /// Fails if it is to end.
    void check() {
        if (isMade()) {
            throw new Stopped();
        }
    }

    /// Waits, at most until somebody wants it to end.
    void pause(Duration pause) {
        long until = System.nanoTime() + pause.toNanos();
        while (!isMade() && System.nanoTime() < until) {
            LockSupport.parkNanos(Math.min(SLICE_NANOS, until - System.nanoTime()));
        }
    }

    /// How a trial ends that was stopped: nothing was compared, so it is no success.
    ExitCode exitCode() {
        return request.exitCodeUnfinished();
    }
}
