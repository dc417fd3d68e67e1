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
    private final Caller caller;
    private final BooleanSupplier stopped;

    /// @param stopped whether a stop was asked for
    public FullDisk(Caller caller, BooleanSupplier stopped) {
        this.caller = caller;
        this.stopped = stopped;
    }

    @Override
    public void waiting(Instant since, Path file) {
        caller.note("The disk is full since " + since + ": no space for " + caller.shown(file)
                + ". Intake waits, answers go on. Make space, and intake goes on by itself.");
    }

    @Override
    public void ended(Instant since) {
        if (!stopped.getAsBoolean()) {
            caller.note("There is space on the disk again, after a wait since " + since + ". Intake goes on.");
        }
    }

    /// Gives up waiting if a stop was asked for.
    public void requireGoingOn() {
        if (stopped.getAsBoolean()) {
            throw new EngineException(EngineException.Kind.NO_SPACE, "Stopped while the disk was full");
        }
    }
}
