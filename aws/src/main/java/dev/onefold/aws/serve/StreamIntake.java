package dev.onefold.aws.serve;

import dev.onefold.aws.store.Threads;
import dev.onefold.aws.stream.Outgoing;
import dev.onefold.aws.stream.PartitionKeys;
import dev.onefold.aws.stream.Producer;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// Puts the lines of a request into the stream of a deployment. What is no event is put as well: State makes a dead
/// letter of it.
///
/// @param client made when the first request needs it
/// @param stream its name or its ARN
/// @param random for jitter
public record StreamIntake(
        Supplier<KinesisAsyncClient> client, String stream, Threads threads, RandomGenerator random) {
    /// What became of the lines. Each is put, or in one of the lists, by its number from 1.
    ///
    /// @param notPut may be in the stream, and nobody knows
    /// @param tooLarge lines that this stream never takes, and why
    /// @param failure why some are not known to be in; `null` if all are
    record Outcome(
            long put,
            List<Long> notPut,
            SortedMap<Long, String> tooLarge,
            @Nullable RuntimeException failure) {
        Outcome {
            notPut = List.copyOf(notPut);
        }
    }

    /// Puts all lines; returns when the stream has acknowledged them.
    ///
    /// @param most after which nothing more is sent
    Outcome put(Pipeline pipeline, List<String> lines, Duration most) {
        PartitionKeys keys = new PartitionKeys(pipeline);
        SortedMap<Long, String> tooLarge = new TreeMap<>();
        Producer producer = new Producer(client.get(), stream, threads, random, (record, reason) -> {
            synchronized (tooLarge) {
                tooLarge.put(record.number(), reason);
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
                producer.add(new Outgoing(added + 1, keys.of(data), data));
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
        return new Outcome(producer.sent().records(), notPut(producer, lines.size(), added), tooLarge, failure);
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
