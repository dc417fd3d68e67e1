package dev.onefold.simulator.mapping;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.event.FailedBatch;
import dev.onefold.aws.event.Invocation;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fakes.queue.SimulatedQueues;
import dev.onefold.fakes.stream.KinesisClient;
import dev.onefold.fakes.stream.SimulatedKinesis;
import dev.onefold.mapping.Destination;
import dev.onefold.mapping.Invoker;
import dev.onefold.mapping.MappingFaults;
import dev.onefold.mapping.MappingSettings;
import dev.onefold.mapping.StreamMapping;
import dev.onefold.mapping.Target;
import dev.onefold.mapping.source.KinesisSource;
import dev.onefold.simulator.deployment.VirtualScheduler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import software.amazon.awssdk.core.SdkBytes;

/// A simulated stream and a queue, and a function that notes what it is given and answers as the test says.
final class Bench {
    static final String STREAM = "trades";
    static final String FUNCTION = "arn:aws:lambda:eu-central-1:000000000000:function:state";
    static final String QUEUE = "retries";

    final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
    final SimulatedKinesis kinesis = new SimulatedKinesis(time, 1);
    final SimulatedQueues queues = new SimulatedQueues(time, 2);
    final KinesisClient producer = kinesis.client();
    final List<byte[]> events = new ArrayList<>();

    /// The data of each invocation, whatever became of it.
    final List<List<String>> batches = new ArrayList<>();

    /// The data of the records of invocations that succeeded, as the answer says.
    final List<String> done = new ArrayList<>();

    Duration duration = Duration.ofMillis(10);
    int concurrent;
    int concurrentMax;
    private Function<List<Arrival>, BatchResponse> answer = _ -> BatchResponse.DONE;

    Bench(int shards) {
        kinesis.create(STREAM, shards);
        queues.create(QUEUE, Duration.ofSeconds(30), 3);
    }

    static String text(Arrival arrival) {
        return new String(arrival.data(), StandardCharsets.UTF_8);
    }

    /// From now on the function answers so; what it throws is its failure.
    void answers(Function<List<Arrival>, BatchResponse> newAnswer) {
        answer = newAnswer;
    }

    /// From now on the function fails for a batch that has such a record.
    void failsFor(Predicate<String> poison) {
        answers(batch -> {
            if (batch.stream().map(Bench::text).anyMatch(poison)) {
                throw new IllegalStateException("poison");
            }
            return BatchResponse.DONE;
        });
    }

    Invoker function() {
        return event -> {
            events.add(event);
            if (!(Invocation.read(event) instanceof Invocation.Batch(var arrivals, var _))) {
                throw new AssertionError("It is no batch of a stream");
            }
            batches.add(arrivals.stream().map(Bench::text).toList());
            concurrentMax = Math.max(concurrentMax, ++concurrent);
            return time.after(duration).thenApply(_ -> {
                concurrent--;
                BatchResponse response = answer.apply(arrivals);
                for (Arrival arrival : arrivals) {
                    if (response.failures().contains(arrival.sequence())) {
                        break;
                    }
                    done.add(text(arrival));
                }
                return response.json();
            });
        };
    }

    StreamMapping map(MappingSettings settings) {
        return map(settings, MappingFaults.NONE);
    }

    StreamMapping map(MappingSettings settings, MappingFaults mappingFaults) {
        return StreamMapping.open(
                new VirtualScheduler(time),
                new KinesisSource(kinesis.client(), SimulatedKinesis.arn(STREAM)),
                new Target(function(), FUNCTION, new Destination(queues.client(), SimulatedQueues.url(QUEUE))),
                settings,
                mappingFaults);
    }

    /// Puts a record, and gives its sequence number.
    String put(String partitionKey, byte[] data) {
        return time.runUntil(producer.putRecord(request ->
                        request.streamName(STREAM).partitionKey(partitionKey).data(SdkBytes.fromByteArray(data))))
                .sequenceNumber();
    }

    String put(String partitionKey, String data) {
        return put(partitionKey, data.getBytes(StandardCharsets.UTF_8));
    }

    /// Puts records of one partition key each.
    void putAll(String... data) {
        Arrays.stream(data).forEach(each -> put(each, each));
    }

    void run(Duration duration) {
        time.runFor(duration);
    }

    /// What the on-failure destination was told.
    List<FailedBatch> givenUp() {
        return queues.bodies(QUEUE).stream().map(FailedBatch::read).toList();
    }

    <T> T of(CompletableFuture<T> future) {
        return time.runUntil(future);
    }
}
