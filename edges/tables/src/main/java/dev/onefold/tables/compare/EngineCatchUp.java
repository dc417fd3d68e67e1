package dev.onefold.tables.compare;

import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Engine;
import dev.onefold.core.Status;
import dev.onefold.core.Sync;
import dev.onefold.core.query.Answer;
import dev.onefold.tables.compare.SourceComparison.Passing;
import dev.onefold.tables.compare.SourceComparison.Waiting;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Waits until the engine has what its source has: as long as a change takes to it; then for what files have
/// grown by; then for seedings that run; then for what the engine does not take by itself. One thread.
public final class EngineCatchUp implements Passing {
    private static final long SLICE_MS = 50;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final Engine engine;
    private final Sync sync;
    private final Sync.Run run;
    private final @Nullable String stream;
    private final Waiting waiting;
    private boolean noted;

    /// @param run seedings with a lower number are waited for
    /// @param stream ARN of the change stream of the source; `null` if there is none, or it plays no part
    public EngineCatchUp(Engine engine, Sync sync, Sync.Run run, @Nullable String stream, Waiting waiting) {
        this.engine = engine;
        this.sync = sync;
        this.run = run;
        this.stream = stream;
        this.waiting = waiting;
    }

    @Override
    public void await() throws IOException, InterruptedException {
        pause(waiting.lag());
        if (engine.capabilities().has(Capability.STATUS)) {
            awaitFiles();
        }
        while (sync.isRunning(run.number())) {
            if (!noted) {
                waiting.notes().accept("Waits for a seeding that is under way.");
                noted = true;
            }
            pause(Duration.ofSeconds(1));
        }
        run.catchUp(stream, waiting.isStopped(), waiting.notes());
    }

    private void awaitFiles() throws IOException, InterruptedException {
        Status status = engine.status();
        requireSpace(status);
        long wanted = bytes(status) + status.lagBytes();
        long moved = System.nanoTime();
        for (long before = bytes(status); status.lagBytes() > 0 && bytes(status) < wanted; before = bytes(status)) {
            if (System.nanoTime() - moved > PATIENCE.toNanos()) {
                throw new IOException("files have grown by " + status.lagBytes() + " bytes"
                        + " that nobody folds; follow them with 'onefold run', and compare then");
            }
            pause(Duration.ofMillis(SLICE_MS));
            status = engine.status();
            requireSpace(status);
            moved = bytes(status) > before ? System.nanoTime() : moved;
        }
    }

    private static void requireSpace(Status status) throws IOException {
        if (status.waitingForSpaceSince().isPresent()) {
            throw new IOException("the engine waits for space on its disk since "
                    + status.waitingForSpaceSince().get() + ", and takes no change meanwhile; make room, and compare"
                    + " then");
        }
    }

    private static long bytes(Status status) {
        return status.sources().stream().mapToLong(Answer.Progress::bytes).sum();
    }

    private void pause(Duration time) throws InterruptedException {
        long until = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < until) {
            if (waiting.isStopped().getAsBoolean()) {
                throw new InterruptedException("It was stopped");
            }
            Thread.sleep(Math.min(SLICE_MS, 1 + (until - System.nanoTime()) / 1_000_000));
        }
    }
}
