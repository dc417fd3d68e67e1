package dev.onefold.cli.data;

import dev.onefold.cli.call.Caller;
import dev.onefold.core.EngineException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Waits for a data directory that another process has for a moment: a command that opened it, or an engine that is
/// starting and does not answer yet.
public final class Patience {
    private static final long NOTICE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /// Most commands own a directory for less time. A longer owner is probably a running engine.
    public static final Duration COMMAND_MAX = Duration.ofSeconds(3);

    private final Caller caller;
    private final long nanosMax;
    private final long startNanos = System.nanoTime();
    private boolean noticed;

    public Patience(Caller caller, Duration max) {
        this.caller = caller;
        nanosMax = max.toNanos();
    }

    /// Waits a little, so that the caller may try again.
    ///
    /// @throws EngineException the given one, when trying again is no use
    public void waitAgain(EngineException e) {
        long waited = System.nanoTime() - startNanos;
        if (e.kind() != EngineException.Kind.IN_USE || waited > nanosMax) {
            throw e;
        }
        if (waited > NOTICE_NANOS && !noticed) {
            noticed = true;
            caller.note("Waiting, because another process has the data directory ...");
        }
        LockSupport.parkNanos(PAUSE_NANOS);
    }
}
