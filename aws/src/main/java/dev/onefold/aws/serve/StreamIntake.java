package dev.onefold.aws.serve;

import dev.onefold.aws.store.Threads;
import dev.onefold.aws.stream.PartitionKeys;
import dev.onefold.aws.stream.Producer;
import dev.onefold.aws.stream.StreamRecord;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// Puts the lines of a request into the stream of a deployment.
///
/// @param client made when the first request needs it
/// @param stream its name or its ARN
/// @param random for jitter
public record StreamIntake(Supplier<KinesisAsyncClient> client, String stream, Threads threads, RandomGenerator random)
        implements Intake {
    @Override
    public String noun() {
        return "stream";
    }

    @Override
    public String refuses() {
        return "they are larger than a record of it may be";
    }

    @Override
    public Outcome put(Pipeline pipeline, List<String> lines, Duration most) {
        PartitionKeys keys = new PartitionKeys(pipeline);
        SortedSet<Long> refused = new TreeSet<>();
        Producer producer = new Producer(client.get(), stream, threads, random, (record, _) -> {
            synchronized (refused) {
                refused.add(record.number());
            }
        });
        CompletableFuture<Void> end = new CompletableFuture<>();
        var _ = end.copy()
                .completeOnTimeout(null, most.toMillis(), TimeUnit.MILLISECONDS)
                .thenRun(() -> {
                    if (!end.isDone()) {
                        producer.giveUp("The stream has not taken all lines within " + most.toSeconds() + " s");
                    }
                });
        long added = 0;
        RuntimeException failure = null;
        try {
            for (String line : lines) {
                byte[] data = Utf8.encode("A line", line);
                producer.add(new StreamRecord(added + 1, keys.of(data), data));
                added++;
            }
        } catch (RuntimeException failed) {
            failure = failed;
        }
        try {
            producer.finish();
        } catch (RuntimeException failed) {
            failure = failed;
        }
        end.complete(null);
        return new Outcome(producer.sent().records(), notPut(producer, lines.size(), added), refused, failure);
    }

    private static List<Long> notPut(Producer producer, int lines, long added) {
        List<Long> all = new ArrayList<>(producer.notPut());
        for (long line = added + 1; line <= lines; line++) {
            if (all.isEmpty() || all.getLast() < line) {
                all.add(line);
            }
        }
        return all;
    }
}
