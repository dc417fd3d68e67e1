package dev.onefold.cli.serve;

import dev.onefold.api.Failure;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.FullDisk;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.run.Intake;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.run.QueueOptions;
import dev.onefold.cli.run.RunningEngine;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.run.TopicInput;
import dev.onefold.core.EngineException;
import dev.onefold.embedded.Settings;
import dev.onefold.server.Served;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/// A pipeline that is served: its engine, and a thread for each file or queue that it reads. Not thread-safe.
final class ServedPipeline implements AutoCloseable {
    private static final String ANSWERS = "requests/answers";
    private static final Duration JOIN = Duration.ofMillis(200);

    private final Caller caller;
    private final StopRequest stop;
    private final FullDisk fullDisk;
    private final RunningEngine running;
    private final PipelineArgument pipeline;
    private final List<String> troubles = new CopyOnWriteArrayList<>();
    private final List<Thread> inputs = new ArrayList<>();

    private ServedPipeline(
            Caller caller, PipelineArgument pipeline, StopRequest stop, FullDisk fullDisk, RunningEngine running) {
        this.caller = caller;
        this.pipeline = pipeline;
        this.stop = stop;
        this.fullDisk = fullDisk;
        this.running = running;
    }

    /// Opens the engine.
    ///
    /// @param ending whether the service ends: then, and when this is closed, nothing waits for space on the
    ///     disk
    static ServedPipeline open(
            Caller caller, PipelineArgument pipeline, Settings given, StopRequest ending, boolean acceptLoss)
            throws IOException {
        StopRequest stop = new StopRequest();
        FullDisk fullDisk = new FullDisk(caller, () -> ending.isMade() || stop.isMade());
        Settings settings = given.withSpaceListener(fullDisk).withPause(() -> {
            given.machine().pause().run();
            fullDisk.requireGoingOn();
        });
        return new ServedPipeline(
                caller, pipeline, stop, fullDisk, RunningEngine.open(caller, pipeline, settings, acceptLoss));
    }

    /// As the service takes it.
    Served served() {
        return new Served(
                running.engine(),
                pipeline.directory().path().resolve(ANSWERS),
                this::refusal,
                () -> List.copyOf(troubles));
    }

    private Optional<Failure> refusal() {
        if (fullDisk.isWaitingForSpace()) {
            return Optional.of(new Failure(
                    507,
                    EngineException.Kind.NO_SPACE.name(),
                    "The disk of the service is full. Nothing of the request was taken. Repeat it later."));
        }
        if (fullDisk.isWaitingForReceiver()) {
            return Optional.of(new Failure(
                    503,
                    Failure.NOT_READY,
                    "Too much waits for the receiver of the batches. Nothing of the request was taken. Repeat"
                            + " it later."));
        }
        return Optional.empty();
    }

    /// Begins to read the inputs.
    void read(ServeFile.Entry entry) {
        for (String file : entry.follow()) {
            input(file, () -> {
                new Intake(caller, running.engine(), stop, Progress.Mode.none, Intake.EqualFiles.UNSAID)
                        .follow(file, false);
                return ExitCode.DONE;
            });
        }
        String queue = entry.queue();
        if (queue != null) {
            input(queue, () -> QueueOptions.of(queue).fold(caller, running.engine(), stop));
        }
        Optional<TopicInput> topic = TopicInput.of(caller, pipeline);
        if (topic.isEmpty() && running.engine().pipeline().origin() != null) {
            throw CommandFailure.usage("Pipeline " + pipeline.directory().pipeline()
                    + " reads a topic, with what its pipeline file says. Name that file.");
        }
        topic.ifPresent(from ->
                input("topic " + from.origin().topic(), () -> from.fold(caller, running.engine(), List.of(), stop)));
    }

    /// Reads an input until a stop is asked for, or until it ends.
    interface Reading {
        ExitCode read() throws IOException;
    }

    /// Begins to read an input, in a thread of its own.
    void input(String name, Reading reading) {
        String thread = "onefold-input-" + (inputs.size() + 1);
        inputs.add(Thread.ofPlatform().name(thread).start(() -> {
            try {
                if (reading.read() != ExitCode.DONE) {
                    stopped(name, "It cannot be read any more");
                }
            } catch (Throwable e) { // Whatever it is, nobody else would say it.
                stopped(name, e instanceof Error ? e.toString() : String.valueOf(e.getMessage()));
            }
        }));
    }

    private void stopped(String name, String why) {
        if (!stop.isMade()) {
            troubles.add(name + ": " + why);
            caller.note("Warning: Input " + name + " of pipeline "
                    + pipeline.directory().pipeline() + " is not read any more: " + why
                    + "\nRequests go on. Mend it, and start the service again.");
        }
    }

    /// Throws what has stopped the engine for good, if something has.
    void requireWorking() {
        running.engine().pipeline();
    }

    /// Reads the inputs to a whole record, publishes the last cut, and closes the engine after a checkpoint.
    @Override
    public void close() {
        stop.make(ExitCode.DONE);
        try {
            for (Thread input : inputs) {
                end(input);
            }
            running.publishLast(stop);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            running.close();
        }
    }

    /// Waits until an input has ended. One that waits inside the engine for a checkpoint that waits for space
    /// sees no stop: an interrupt ends that wait, and nothing of what waited is done.
    private void end(Thread input) throws InterruptedException {
        while (!input.join(JOIN)) {
            if (fullDisk.isWaitingForSpace()) {
                input.interrupt();
            }
        }
    }
}
