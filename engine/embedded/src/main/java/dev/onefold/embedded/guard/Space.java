package dev.onefold.embedded.guard;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.source.SpaceListener;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The wait for space on a full disk. The user is told at once, each minute, and when there is space again. Any
/// thread.
public final class Space {
    private static final Duration TELL_INTERVAL = Duration.ofMinutes(1);

    private final Runnable pause;
    private final InstantSource clock;
    private final SpaceListener listener;
    private final Set<Object> waiting = Collections.newSetFromMap(new IdentityHashMap<>());
    private @Nullable Instant since;
    private long toldNanos;
    private volatile boolean closing;

    /// @param pause waits a little before the disk is tried again; to give up, it throws
    public Space(Runnable pause, InstantSource clock, SpaceListener listener) {
        this.pause = pause;
        this.clock = clock;
        this.listener = listener;
    }

    /// Work that may find the disk full, and changes nothing then.
    public interface Work<T> {
        T run() throws OutOfSpaceException;
    }

    /// Work without a result that may find the disk full, and changes nothing then.
    public interface Change {
        void run() throws OutOfSpaceException;
    }

    /// Makes a change as soon as there is space for it.
    ///
    /// @throws EngineException if the pause gives up
    public void change(Change change) {
        await(() -> {
            change.run();
            return true;
        });
    }

    /// Does a piece of work as soon as there is space for it.
    ///
    /// @throws EngineException if the pause gives up
    public <T> T await(Work<T> work) {
        try {
            while (true) {
                try {
                    return work.run();
                } catch (OutOfSpaceException e) {
                    isFull(work, e);
                    pause.run();
                    requireOpen();
                }
            }
        } finally {
            leave(work);
        }
    }

    /// From now on nobody waits for space, and no long work continues: the engine is being closed.
    public void closing() {
        closing = true;
    }

    /// Whether the engine is being closed.
    public boolean isClosing() {
        return closing;
    }

    /// Requires, for long work, that the engine is not being closed.
    public void requireOpen() {
        if (closing) {
            throw new EngineException(
                    EngineException.Kind.STOPPED,
                    "The engine was closed before this work was done. The totals are as they were; do it again.");
        }
    }

    /// Notes that somebody has found the disk full and will try again.
    public void isFull(Object waiter, OutOfSpaceException full) {
        Instant begun;
        synchronized (this) {
            boolean first = waiting.isEmpty();
            waiting.add(waiter);
            if (first) {
                since = clock.instant();
            }
            begun = since;
            if (begun == null || (!first && System.nanoTime() - toldNanos < TELL_INTERVAL.toNanos())) {
                return;
            }
            toldNanos = System.nanoTime();
        }
        listener.waiting(begun, full.file());
    }

    /// Notes that somebody waits no longer, because there was space or because the caller gave up.
    public void leave(Object waiter) {
        Instant begun;
        synchronized (this) {
            if (!waiting.remove(waiter) || !waiting.isEmpty()) {
                return;
            }
            begun = since;
            since = null;
        }
        if (begun != null) {
            listener.ended(begun);
        }
    }

    /// Since when intake waits for space; empty if it does not.
    public synchronized Optional<Instant> since() {
        return Optional.ofNullable(since);
    }
}
