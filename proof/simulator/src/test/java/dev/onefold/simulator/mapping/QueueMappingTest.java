package dev.onefold.simulator.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.event.Invocation.Message;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fakes.queue.QueueClient;
import dev.onefold.fakes.queue.SimulatedQueues;
import dev.onefold.fixtures.Seeds;
import dev.onefold.mapping.Invoker;
import dev.onefold.mapping.MappingFaults;
import dev.onefold.mapping.MappingSettings;
import dev.onefold.mapping.QueueMapping;
import dev.onefold.simulator.deployment.VirtualScheduler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class QueueMappingTest {
    private static final String NAME = "retries";
    private static final Duration VISIBILITY = Duration.ofSeconds(30);
    private static final MappingSettings RETRIES = MappingSettings.retries();

    private final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
    private final SimulatedQueues queues = new SimulatedQueues(time, 1);
    private final QueueClient sender = queues.client();
    private final List<String> events = new ArrayList<>();
    private final List<List<String>> batches = new ArrayList<>();

    QueueMappingTest() {
        queues.create(NAME, VISIBILITY, 3);
    }

    private void send(String body) {
        time.runUntil(sender.sendMessage(
                request -> request.queueUrl(SimulatedQueues.url(NAME)).messageBody(body)));
    }

    private QueueMapping map(MappingSettings settings, Function<List<Message>, BatchResponse> answer) {
        Invoker function = event -> {
            events.add(new String(event, StandardCharsets.UTF_8));
            if (!(Invocation.read(event) instanceof Invocation.Messages(var messages))) {
                throw new AssertionError("These are no messages of a queue");
            }
            batches.add(messages.stream().map(Message::body).toList());
            return CompletableFuture.completedFuture(answer.apply(messages).json());
        };
        return QueueMapping.open(
                new VirtualScheduler(time),
                new QueueMapping.Queue(queues.client(), SimulatedQueues.url(NAME), SimulatedQueues.arn(NAME)),
                function,
                settings,
                MappingFaults.NONE);
    }

    private static BatchResponse failing(List<Message> messages, String body) {
        return new BatchResponse(messages.stream()
                .filter(message -> message.body().equals(body))
                .map(Message::id)
                .toList());
    }

    @Test
    void what_is_done_is_deleted_and_the_function_is_given_what_lambda_gives_it() {
        send("\"one\"");
        map(RETRIES, _ -> BatchResponse.DONE);
        time.runFor(Duration.ofSeconds(5));
        assertThat(batches).containsExactly(List.of("\"one\""));
        assertThat(events.getFirst())
                .startsWith("{\"Records\":[{\"messageId\":\"")
                .contains(
                        "\"body\":\"\\\"one\\\"\",\"attributes\":{",
                        "\"ApproximateReceiveCount\":\"1\"",
                        "\"SentTimestamp\":\"1893456000000\"",
                        "\"messageAttributes\":{},\"md5OfBody\":\"",
                        "\"eventSource\":\"aws:sqs\"",
                        "\"eventSourceARN\":\"arn:aws:sqs:eu-central-1:000000000000:retries\","
                                + "\"awsRegion\":\"eu-central-1\"}]}");
        assertThat(queues.bodies(NAME)).isEmpty();
    }

    @Test
    void what_is_reported_as_failed_comes_again_and_after_three_times_lies_aside() {
        send("good");
        send("poison");
        map(RETRIES, messages -> failing(messages, "poison"));
        time.runFor(Duration.ofSeconds(5));
        assertThat(queues.bodies(NAME)).containsExactly("poison");
        time.runFor(Duration.ofMinutes(5));
        assertThat(batches.stream().filter(List.of("poison")::equals)).hasSize(2);
        assertThat(batches.stream().flatMap(List::stream).filter("good"::equals))
                .hasSize(1);
        assertThat(queues.bodies(NAME)).isEmpty();
        assertThat(queues.bodies(NAME + "-aside")).containsExactly("poison");
    }

    @Test
    void where_the_function_fails_nothing_is_deleted() {
        send("one");
        QueueMapping mapping = map(RETRIES, _ -> {
            throw new IllegalStateException("no");
        });
        time.runFor(Duration.ofSeconds(5));
        assertThat(queues.bodies(NAME)).containsExactly("one");
        assertThat(mapping.lastProcessingResult()).startsWith("PROBLEM: The function failed");
    }

    @Test
    void a_batch_of_more_than_one_request_waits_for_its_window() {
        assertThatThrownBy(() -> map(RETRIES.withBatch(11, Duration.ZERO), _ -> BatchResponse.DONE))
                .hasMessageContaining("maximumBatchingWindow");
        IntStream.range(0, 25).forEach(i -> send("m" + i));
        map(RETRIES.withBatch(20, Duration.ofSeconds(3)), _ -> BatchResponse.DONE);
        time.runFor(Duration.ofMinutes(1));
        assertThat(batches).extracting(List::size).containsExactly(20, 5);
        assertThat(queues.bodies(NAME)).isEmpty();
    }

    @Test
    void whatever_queue_and_function_do_every_message_is_done_or_lies_aside() {
        Seeds.forEachSeed(0, 40, seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            VirtualTime now = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
            SimulatedQueues nasty = new SimulatedQueues(now, seed);
            nasty.create(NAME, VISIBILITY, 4);
            QueueClient client = nasty.client();
            for (int i = 0; i < 40; i++) {
                String body = "m" + i;
                now.runUntil(client.sendMessage(
                        request -> request.queueUrl(SimulatedQueues.url(NAME)).messageBody(body)));
            }
            nasty.inject(Faults.none()
                    .with(Faults.Timing.USUAL)
                    .with(Fault.UNPROCESSED, 0.1)
                    .with(Fault.REPLY_LOST, 0.05)
                    .with(Fault.ERROR_BEFORE, 0.05));
            Set<String> done = new HashSet<>();
            QueueMapping.open(
                    new VirtualScheduler(now),
                    new QueueMapping.Queue(nasty.client(), SimulatedQueues.url(NAME), SimulatedQueues.arn(NAME)),
                    event -> {
                        if (random.nextInt(4) == 0) {
                            throw new IllegalStateException("now and then");
                        }
                        if (Invocation.read(event) instanceof Invocation.Messages(var messages)) {
                            messages.forEach(message -> done.add(message.body()));
                        }
                        return CompletableFuture.completedFuture(BatchResponse.DONE.json());
                    },
                    RETRIES,
                    MappingFaults.of(seed, 0.2));
            now.runFor(Duration.ofMinutes(20));
            assertThat(nasty.bodies(NAME)).isEmpty();
            Set<String> found = new HashSet<>(nasty.bodies(NAME + "-aside"));
            found.addAll(done);
            assertThat(found).hasSize(40);
        });
    }
}
