package dev.onefold.cli.data;

import dev.onefold.cli.call.Caller;
import dev.onefold.core.EngineException;
import dev.onefold.embedded.source.SpaceListener;
import java.nio.file.Path;
import java.time.Instant;
import java.util.function.BooleanSupplier;

/// What a command does while the disk is full: says so on standard error, at once and each minute, and waits until
/// there is space or a stop is asked for. Any thread.
public final class FullDisk implements SpaceListener {
    private static final long PAUSE_MS = 500;

    private final Caller caller;
    private final BooleanSupplier stopped;

    /// @param stopped whether a stop was asked for
    public FullDisk(Caller caller, BooleanSupplier stopped) {
        this.caller = caller;
        this.stopped = stopped;
    }

    @Override
    public void waiting(Instant since, Path file) {
        caller.err()
                .println("The disk is full since " + since + ": no space for " + caller.shown(file)
                        + ". Intake waits, answers go on. Make space, and intake goes on by itself.");
    }

    @Override
    public void ended(Instant since) {
        if (!stopped.getAsBoolean()) {
            caller.err().println("There is space on the disk again, after a wait since " + since + ". Intake goes on.");
        }
    }

    /// Waits a little before the disk is tried again.
    ///
    /// @throws EngineException if a stop was asked for
    public void pause() {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EngineException(
                    EngineException.Kind.INTERRUPTED, "Interrupted while waiting for space on the disk", e);
        }
        if (stopped.getAsBoolean()) {
            throw new EngineException(EngineException.Kind.NO_SPACE, "Stopped while the disk was full");
        }
    }
}
