package dev.onefold.aws.resync;

import dev.onefold.aws.event.StreamName;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.CatchUp;
import dev.onefold.tables.compare.SourceComparison.Passing;
import dev.onefold.tables.compare.SourceComparison.Waiting;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// Waits until a deployment's rows have what their source has: until it is in the stream; for seedings that
/// run; until all that the stream has is in the rows, for which it is read here; and for the retry queue. One
/// thread.
public final class DeployedCatchUp implements Passing {
    private static final long SLICE_MS = 50;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private final Store store;
    private final long number;
    private final Input input;
    private final Waiting waiting;
    private boolean noted;
    private boolean notedBehind;

    /// Where live changes come from.
    ///
    /// @param stream ARN of the stream that State reads; `null` if it has read none
    /// @param kinesis makes a client for the streams of Kinesis
    /// @param changes makes a client for the change streams of tables
    /// @param retries names the records that the mapping has given up
    public record Input(
            @Nullable String stream,
            Supplier<KinesisAsyncClient> kinesis,
            Supplier<DynamoDbStreamsAsyncClient> changes,
            Optional<RetryQueue> retries) {}

    /// @param number seedings with a lower one are waited for
    public DeployedCatchUp(Store store, long number, Input input, Waiting waiting) {
        this.store = store;
        this.number = number;
        this.input = input;
        this.waiting = waiting;
    }

    @Override
    public void await() throws IOException, InterruptedException {
        pause(waiting.lag());
        while (SeedLease.isRunning(store, number)) {
            if (!noted) {
                waiting.notes().accept("Waits for a seeding that is under way.");
                noted = true;
            }
            pause(Duration.ofSeconds(1));
        }
        String stream = input.stream();
        if (stream != null) {
            CatchUp.Done done = catchUp(stream);
            if (done.behind() > 0 && !notedBehind) {
                notedBehind = true;
                waiting.notes()
                        .accept("State is behind by more than " + CatchUp.LATEST.toMinutes() + " minutes in "
                                + done.behind() + (done.behind() == 1 ? " shard" : " shards") + " of " + stream
                                + ". What it has not taken was folded from here.");
            }
        }
        awaitRetries();
    }

    private CatchUp.Done catchUp(String stream) {
        if (StreamName.isTable(stream)) {
            try (DynamoDbStreamsAsyncClient client = input.changes().get()) {
                return CatchUp.run(store, client, stream, waiting.isStopped());
            }
        }
        try (KinesisAsyncClient client = input.kinesis().get()) {
            return CatchUp.run(store, client, stream, waiting.isStopped());
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
                throw new IOException("the retry queue has " + size + (size == 1 ? " message" : " messages")
                        + ", which name records that are not in the rows yet, and would look like differences;"
                        + " compare when it is empty");
            }
            pause(Duration.ofSeconds(2));
        }
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
