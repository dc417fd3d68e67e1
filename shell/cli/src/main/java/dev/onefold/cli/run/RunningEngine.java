package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.data.DataDirectory;
import dev.onefold.cli.data.EngineAccess;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.EngineException;
import dev.onefold.core.Status;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The engine of a pipeline in this process, with the delivery of its batches and the publication of its
/// totals. Not thread-safe.
public final class RunningEngine implements AutoCloseable {
    /// A stop waits that long for the copy that the totals are published to.
    private static final Duration PUBLISHED_WITHIN = Duration.ofSeconds(10);

    private static final long FILL_AGAIN_S = 60;

    private final Caller caller;
    private final EmbeddedEngine engine;
    private @Nullable RunDeliveries delivering; // If the pipeline makes batches.
    private PublishedTotals.@Nullable Copy publishing; // If totals are published.
    private final CountDownLatch closing = new CountDownLatch(1);
    private @Nullable Thread filling; // While a topic is read.

    private RunningEngine(Caller caller, EmbeddedEngine engine) {
        this.caller = caller;
        this.engine = engine;
    }

    /// Refuses receivers and copies that cannot be used here, before there is a data directory.
    public static void requirePossible(Caller caller, PipelineArgument pipeline) {
        Pipeline definition = pipeline.directory().definition();
        if (definition == null) {
            return;
        }
        if (definition.fold() instanceof Batching batching) {
            RunDeliveries.requirePossible(definition, batching, pipeline.folder());
        }
        PublishedTotals.of(definition, pipeline.folder(), caller)
                .ifPresent(copy -> copy.end().run());
    }

    /// Opens the data directory, takes a changed pipeline file over, and begins to deliver and to publish.
    ///
    /// @param acceptLoss whether a changed pipeline file may lose fields for ever
    public static RunningEngine open(Caller caller, PipelineArgument pipeline, Settings settings, boolean acceptLoss)
            throws IOException {
        DataDirectory data = pipeline.directoryWithFunction();
        RunningEngine running = new RunningEngine(caller, EngineAccess.own(data, settings, caller));
        boolean isOpen = false;
        try {
            running.begin(pipeline, data, acceptLoss);
            isOpen = true;
            return running;
        } finally {
            if (!isOpen) {
                running.close();
            }
        }
    }

    private void begin(PipelineArgument pipeline, DataDirectory data, boolean acceptLoss) throws IOException {
        engine.status()
                .function()
                .flatMap(Status.OfFunction::otherJar)
                .ifPresent(warning -> caller.note("Warning: " + warning));
        TopicInput.lend(Optional.of(pipeline), engine);
        takeOver(acceptLoss, TopicInput.of(caller, pipeline).isPresent());
        if (engine.pipeline().fold() instanceof Batching) {
            delivering = RunDeliveries.begin(caller, engine, pipeline.folder(), data, pipeline.dataAgain());
        }
        Optional<PublishedTotals.Copy> published =
                PublishedTotals.of(engine.wanted().orElseGet(engine::pipeline), pipeline.folder(), caller);
        published.ifPresent(copy -> {
            engine.publish(copy.table(), copy.every());
            publishing = copy;
        });
    }

    /// A changed pipeline file becomes a new view first; the old one answers meanwhile. No reading of a topic waits
    /// for it: where the rows are not enough, the old totals go on until the new ones are there.
    private void takeOver(boolean acceptLoss, boolean readsTopic) {
        if (engine.wanted().isEmpty()) {
            return;
        }
        DefinitionChange change = engine.change(engine.wanted().get());
        boolean isPossible = isPossible(change, acceptLoss);
        boolean isBeside = readsTopic && (!isPossible || change instanceof DefinitionChange.FromSources);
        if (isPossible) {
            caller.note("The pipeline file has changed: its new totals are made " + DefinitionChangeText.way(change)
                    + "." + (isBeside ? " The old ones go on until then." : "") + DefinitionChangeText.doubt(change));
        }
        if (isBeside) {
            filling = Thread.ofPlatform().name("onefold-change").start(() -> fillBeside(acceptLoss));
        } else {
            engine.fillView(FileSource::reopen, acceptLoss);
        }
    }

    /// Tries again until it succeeds or the engine is closed.
    private void fillBeside(boolean acceptLoss) {
        String noted = "";
        try {
            do {
                try {
                    engine.fillView(FileSource::reopen, acceptLoss);
                    caller.note("The new totals serve now.");
                    return;
                } catch (RuntimeException | OutOfMemoryError e) {
                    String why = e instanceof EngineException ? String.valueOf(e.getMessage()) : e.toString();
                    if (closing.getCount() > 0 && !why.equals(noted)) {
                        noted = why;
                        caller.note("Warning: " + why + "\nThe old totals go on. It is tried again each minute.");
                    }
                }
            } while (!closing.await(FILL_AGAIN_S, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Whether the engine will not refuse it.
    private static boolean isPossible(DefinitionChange change, boolean acceptLoss) {
        return switch (change) {
            case DefinitionChange.FromRows(var lost, var _) -> acceptLoss || lost.isEmpty();
            case DefinitionChange.None _, DefinitionChange.FromSources _ -> true;
            case DefinitionChange.Impossible _ -> false;
        };
    }

    public EmbeddedEngine engine() {
        return engine;
    }

    /// The delivery of batches; empty if the pipeline makes none.
    Optional<RunDeliveries> delivering() {
        return Optional.ofNullable(delivering);
    }

    /// Publishes the last cut, if totals are published. A caller who stops a run waits no longer than a moment
    /// for it.
    public void publishLast(StopRequest stop) {
        if (publishing == null) {
            return;
        }
        long[] stoppedNanos = {0};
        boolean isDone = engine.publishNow(() -> {
            long now = System.nanoTime();
            stoppedNanos[0] = stop.isMade() && stoppedNanos[0] == 0 ? now : stoppedNanos[0];
            return stoppedNanos[0] == 0 || now - stoppedNanos[0] < PUBLISHED_WITHIN.toNanos();
        });
        if (!isDone) {
            caller.note("The totals are not published: "
                    + engine.status()
                            .publication()
                            .map(Status.OfPublication::failure)
                            .orElse("")
                    + ". The next run publishes them.");
        }
    }

    private static void join(@Nullable Thread thread) {
        boolean interrupted = false;
        while (thread != null && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Closes the engine, and then the receiver: no delivery is under way by then. May be called twice.
    @Override
    public void close() {
        closing.countDown();
        RunDeliveries deliveries = delivering;
        delivering = null;
        if (deliveries != null) {
            deliveries.stopTelling();
        }
        PublishedTotals.Copy copy = publishing;
        publishing = null;
        try {
            engine.close(); // A fill that is under way is given up.
        } finally {
            join(filling);
            if (copy != null) {
                copy.end().run();
            }
            if (deliveries != null) {
                deliveries.close();
            }
        }
    }
}
