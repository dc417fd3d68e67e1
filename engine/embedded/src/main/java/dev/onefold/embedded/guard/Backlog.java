package dev.onefold.embedded.guard;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.source.SpaceListener;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The wait for receivers: intake waits while sealed batches that are not delivered take more than a bound on
/// disk. The user is told at once, when intake continues, and at most each minute when it waits again. The
/// open batch does not count, so it is sealed in any case, and sealed batches are delivered without intake.
/// Any thread.
public final class Backlog {
    private static final Duration TELL_INTERVAL = Duration.ofMinutes(1);

    private final long bytesMax;
    private final InstantSource clock;
    private final SpaceListener listener;
    private @Nullable Instant since;
    private long toldNanos; // 0: never.
    private boolean isTold; // Of the current wait.

    public Backlog(EngineLimits settings) {
        bytesMax = settings.undeliveredBytesMax();
        clock = settings.clock();
        listener = settings.listener();
    }

    /// Bytes of sealed batches that are not delivered, above which intake waits.
    public long bytesMax() {
        return bytesMax;
    }

    /// Whether intake has to wait now.
    ///
    /// @param bytes of sealed batches that are not delivered
    public boolean isOver(long bytes) {
        boolean isOver = bytes > bytesMax;
        Instant begun;
        synchronized (this) {
            Instant before = since;
            if (!isOver && before == null) {
                return false;
            }
            begun = before == null ? clock.instant() : before;
            since = isOver ? begun : null;
            long now = System.nanoTime();
            if (isOver ? wasTold(now) : !isTold) {
                return isOver;
            }
            isTold = isOver;
            toldNanos = isOver ? now : toldNanos;
        }
        if (isOver) {
            listener.waitingForReceiver(begun, bytes, bytesMax);
        } else {
            listener.endedForReceiver(begun);
        }
        return isOver;
    }

    private boolean wasTold(long now) {
        return toldNanos != 0 && now - toldNanos < TELL_INTERVAL.toNanos();
    }

    /// Since when intake waits; empty if it does not. A caller may have given up meanwhile.
    ///
    /// @param bytes of sealed batches that are not delivered
    public synchronized Optional<Instant> since(long bytes) {
        return bytes > bytesMax ? Optional.ofNullable(since) : Optional.empty();
    }

    /// Refuses to wait longer, if the caller gives up.
    public void requirePatience(BooleanSupplier givesUp) {
        if (givesUp.getAsBoolean()) {
            throw new EngineException(
                    EngineException.Kind.NO_SPACE,
                    "Stopped while intake waited for the receiver: more than " + bytesMax
                            + " bytes are sealed and not delivered. What was acknowledged is safe.");
        }
    }
}
