package dev.onefold.cli.data;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.Words;
import dev.onefold.core.EngineException;
import dev.onefold.embedded.source.SpaceListener;
import java.nio.file.Path;
import java.time.Instant;
import java.util.function.BooleanSupplier;

/// Reports on standard error that intake waits for space on the disk or for a receiver of batches, at once and
/// each minute. After a request to stop, [#requireGoingOn] ends the wait. Is thread-safe.
public final class FullDisk implements SpaceListener {
    private final Caller caller;
    private final BooleanSupplier stopped;
    private volatile boolean isWaitingForReceiver;
    private volatile boolean isWaitingForSpace;

    /// @param stopped whether a stop was asked for
    public FullDisk(Caller caller, BooleanSupplier stopped) {
        this.caller = caller;
        this.stopped = stopped;
    }

    @Override
    public void waiting(Instant since, Path file) {
        isWaitingForSpace = true;
        caller.note("The disk is full since " + since + ": no space for " + caller.shown(file)
                + ". Intake waits, answers go on. Make space, and intake goes on by itself.");
    }

    @Override
    public void ended(Instant since) {
        isWaitingForSpace = false;
        if (!stopped.getAsBoolean()) {
            caller.note("There is space on the disk again, after a wait since " + since + ". Intake goes on.");
        }
    }

    @Override
    public void waitingForReceiver(Instant since, long bytes, long bytesMax) {
        isWaitingForReceiver = true;
        caller.note("Intake waits for the receiver since " + Words.time(since) + ": " + Words.bytes(bytes)
                + " of batches are sealed and not delivered, and " + Words.bytes(bytesMax)
                + " are allowed (--undelivered-max). It goes on by itself when enough is delivered, or when a person has"
                + " decided about what was put aside or is in doubt: 'onefold batches PIPELINE list' shows it.");
    }

    @Override
    public void endedForReceiver(Instant since) {
        isWaitingForReceiver = false;
        caller.note("Intake goes on, after a wait for the receiver since " + Words.time(since) + ".");
    }

    /// Whether intake waits for space on the disk.
    public boolean isWaitingForSpace() {
        return isWaitingForSpace;
    }

    /// Whether intake waits for a receiver of batches.
    public boolean isWaitingForReceiver() {
        return isWaitingForReceiver;
    }

    /// The reason why a stopped command waited.
    public String reason() {
        return isWaitingForReceiver && !isWaitingForSpace ? "intake waited for the receiver" : "the disk was full";
    }

    /// Gives up waiting if a stop was asked for.
    public void requireGoingOn() {
        if (stopped.getAsBoolean()) {
            throw new EngineException(EngineException.Kind.NO_SPACE, "Stopped while " + reason());
        }
    }
}
