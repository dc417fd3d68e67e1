package dev.onefold.cli.aws;

import dev.onefold.aws.event.StreamName;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.CatchUp;
import dev.onefold.cli.seed.Home;
import dev.onefold.cli.show.Words;
import dev.onefold.tables.compare.SourceComparison.Passing;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// Waits until a deployment's rows have what their source has: until it is in the stream; for seedings that run; until
/// all that the stream has is in the rows, for which it is read here; and for the retry queue. One thread.
final class DeployedPassing implements Passing {
    private static final long SLICE_MS = 50;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private final Store store;
    private final long number;
    private final Home.Work work;
    private final Input input;
    private boolean noted;
    private boolean notedBehind;

    /// Where live changes come from.
    ///
    /// @param stream ARN of the stream that State reads; `null` if it has read none
    /// @param retries what the mapping has given up
    record Input(
            AwsCommand aws,
            StreamOfRecords kinesis,
            @Nullable String stream,
            Optional<RetryQueue> retries) {}

    /// Makes a client for the streams of Kinesis.
    interface StreamOfRecords {
        KinesisAsyncClient client();
    }

    /// @param number seedings with a lower one are waited for
    DeployedPassing(Store store, long number, Home.Work work, Input input) {
        this.store = store;
        this.number = number;
        this.work = work;
        this.input = input;
    }

    @Override
    public void await() throws IOException, InterruptedException {
        pause(work.lag());
        while (SeedLease.isRunning(store, number)) {
            if (!noted) {
                work.caller().note("Waits for a seeding that is under way.");
                noted = true;
            }
            pause(Duration.ofSeconds(1));
        }
        String stream = input.stream();
        if (stream != null) {
            CatchUp.Done done = catchUp(stream, work.stop()::isMade);
            if (done.behind() > 0 && !notedBehind) {
                notedBehind = true;
                work.caller()
                        .note("State is behind by more than "
                                + CatchUp.LATEST.toMinutes() + " minutes in "
                                + Words.count(done.behind(), "shard")
                                + " of " + stream + ". What it has not taken was folded from here.");
            }
        }
        awaitRetries();
    }

    private CatchUp.Done catchUp(String stream, BooleanSupplier isStopped) {
        if (StreamName.isTable(stream)) {
            try (DynamoDbStreamsAsyncClient client = input.aws().changes()) {
                return CatchUp.run(store, client, stream, isStopped);
            }
        }
        try (KinesisAsyncClient client = input.kinesis().client()) {
            return CatchUp.run(store, client, stream, isStopped);
        }
    }

    private void awaitRetries() throws IOException, InterruptedException {
        if (input.retries().isEmpty()) {
            return;
        }
        RetryQueue queue = input.retries().get();
        long begun = System.nanoTime();
        for (long size = queue.size(); size > 0; size = queue.size()) {
            if (System.nanoTime() - begun > PATIENCE.toNanos()) {
                throw new IOException("the retry queue has " + Words.count(size, "message")
                        + ", which name records that are not in the rows yet, and would look like differences;"
                        + " compare when it is empty");
            }
            pause(Duration.ofSeconds(2));
        }
    }

    private void pause(Duration time) throws InterruptedException {
        long until = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < until) {
            if (work.stop().isMade()) {
                throw new InterruptedException("It was stopped");
            }
            Thread.sleep(Math.min(SLICE_MS, 1 + (until - System.nanoTime()) / 1_000_000));
        }
    }
}
