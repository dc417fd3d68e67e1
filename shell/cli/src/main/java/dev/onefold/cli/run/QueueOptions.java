package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.source.QueueBatch;
import dev.onefold.sqs.Queue;
import dev.onefold.sqs.QueueIntake;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// An SQS queue as the input of a run.
public final class QueueOptions {
    @Option(
            names = "--queue",
            paramLabel = "URL",
            description = "Instead of --input: an SQS queue whose messages are folded, until the command is stopped. A"
                    + " message is deleted from the queue when it is safe on disk; one that is no event is a dead letter,"
                    + " and deleted. Credentials come from the environment, as for other AWS tools.")
    private @Nullable String url;

    @Option(names = "--until-empty", description = "With --queue: ends when the queue shows no more messages.")
    private boolean untilEmpty;

    @Option(
            names = "--maximum-concurrency",
            paramLabel = "N",
            description = "With --queue: how many receivers read it at a time, 1 to 64. Default: 8.")
    private @Nullable Integer maximumConcurrency;

    @Option(
            names = "--visibility-timeout",
            paramLabel = "SECONDS",
            description =
                    "With --queue: how long a message is hidden from other readers when it is received, 3 to 43200."
                            + " It is hidden again before that ends, as long as this run works. Default: 30.")
    private @Nullable Integer visibilitySeconds;

    /// A queue that a file of settings names.
    public static QueueOptions of(String url) {
        QueueOptions options = new QueueOptions();
        options.url = url;
        options.requireSense(false);
        return options;
    }

    /// Whether the input is a queue.
    boolean isThere() {
        return url != null;
    }

    /// Refuses what cannot be.
    void requireSense(boolean hasInputs) {
        if (isThere() && hasInputs) {
            throw CommandFailure.usage("--queue stands in place of --input.");
        }
        if (!isThere() && (untilEmpty || maximumConcurrency != null || visibilitySeconds != null)) {
            throw CommandFailure.usage(
                    "--until-empty, --maximum-concurrency and --visibility-timeout are for --queue.");
        }
        if (isThere()) {
            queue();
            settings(_ -> {});
        }
    }

    /// Refuses a pipeline that cannot read a queue, before a directory is made for it.
    public void requirePossible(@Nullable Pipeline pipeline) {
        if (isThere() && pipeline != null) {
            QueueBatch.problem(pipeline).ifPresent(problem -> {
                throw CommandFailure.usage(problem);
            });
        }
    }

    private Queue queue() {
        try {
            return Queue.of(String.valueOf(url));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(String.valueOf(e.getMessage()));
        }
    }

    private QueueIntake.Settings settings(java.util.function.Consumer<String> notes) {
        try {
            return new QueueIntake.Settings(
                    maximumConcurrency == null ? QueueIntake.Settings.CONCURRENCY_DEFAULT : maximumConcurrency,
                    visibilitySeconds == null
                            ? QueueIntake.Settings.VISIBILITY_DEFAULT
                            : Duration.ofSeconds(visibilitySeconds),
                    untilEmpty,
                    notes);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(e.getMessage() + ".");
        }
    }

    /// Folds messages until a stop is wished, or the queue is empty.
    ///
    /// @return [ExitCode#DIFFERENT] if the queue was read and cannot be read any more, for example because it
    ///     was deleted
    public ExitCode fold(Caller caller, EmbeddedEngine engine, StopRequest stop) {
        Queue queue = queue();
        try (SqsAsyncClient client = queue.client(null)) {
            caller.note("Reading queue " + queue.name() + (untilEmpty ? " until it is empty." : ". Ctrl-C ends it."));
            QueueIntake intake = new QueueIntake(client, queue, engine, settings(caller::note));
            try {
                intake.run(stop::isMade);
            } catch (SdkException | IllegalStateException e) {
                if (!intake.wasRead()) {
                    throw e;
                }
                caller.note(Reason.of(e) + "\nWhat was taken from the queue is safe.");
                return ExitCode.DIFFERENT;
            }
        } catch (SdkException | IllegalStateException e) {
            throw CommandFailure.usage(Reason.of(e));
        }
        return ExitCode.DONE;
    }
}
