package dev.onefold.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.ConfigFactory;
import dev.onefold.core.EngineException;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.apache.pekko.actor.ActorSystem;
import org.elasticmq.NodeAddress;
import org.elasticmq.rest.sqs.SQSRestServer;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/// Messages of a real queue (ElasticMQ, over HTTP) in a real engine, whose process ends anywhere.
@Timeout(120)
class QueueIntakeTest {
    private static ActorSystem actors;
    private static SQSRestServer server;
    private static SqsAsyncClient client;
    private static int queues;

    @TempDir
    Path directory;

    private final List<String> notes = new ArrayList<>();

    @BeforeAll
    static void open() {
        actors = ActorSystem.create(
                "queues",
                ConfigFactory.parseString("pekko.loglevel=OFF, pekko.stdout-loglevel=OFF, pekko.daemonic=on,"
                                + " pekko.jvm-shutdown-hooks=off")
                        .withFallback(ConfigFactory.load()));
        server = SQSRestServerBuilder.withActorSystem(actors)
                .withInterface("127.0.0.1")
                .withPort(0)
                .withServerAddress(new NodeAddress("http", "127.0.0.1", 9324, ""))
                .start();
        client = SqsAsyncClient.builder()
                .endpointOverride(URI.create("http://127.0.0.1:"
                        + server.waitUntilStarted().localAddress().getPort()))
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(AnonymousCredentialsProvider.create())
                .build();
    }

    @AfterAll
    static void close() {
        client.close();
        actors.terminate(); // Not stopped in order: the server would wait 20 seconds for polls that nobody reads.
    }

    private static Queue queue() {
        String name = "q" + ++queues;
        return Queue.of(
                client.createQueue(request -> request.queueName(name)).join().queueUrl());
    }

    private static Pipeline sum(String id) {
        return ((Reading.Read)
                        PipelineText.read("{\"pipeline\":\"q\",\"input\":{\"id\":" + id + "},\"rollup\":{\"levels\":[],"
                                + "\"measures\":{\"records\":\"count()\",\"sum\":\"sum(n) decimal(18,0)\"}}}"))
                .pipeline();
    }

    private QueueIntake.Settings settings(boolean untilEmpty) {
        return new QueueIntake.Settings(3, Duration.ofSeconds(3), untilEmpty, notes::add);
    }

    private static void send(Queue queue, List<String> bodies) {
        try (QueueSender sender = new QueueSender(client, queue, -1, (number, why) -> {
            throw new AssertionError("Record " + number + ": " + why);
        })) {
            for (int i = 0; i < bodies.size(); i++) {
                sender.add(i + 1L, bodies.get(i).getBytes(StandardCharsets.UTF_8));
            }
            sender.finish();
            assertThat(sender.sent()).isEqualTo(bodies.size());
        }
    }

    private static List<String> totals(EmbeddedEngine engine) {
        return engine.query(Query.all("main")).lines().getFirst().values().stream()
                .map(String::valueOf)
                .toList();
    }

    private static int left(Queue queue) {
        return client
                .getQueueAttributes(request -> request.queueUrl(queue.url()).attributeNamesWithStrings("All"))
                .join()
                .attributesAsStrings()
                .entrySet()
                .stream()
                .filter(each -> each.getKey().startsWith("ApproximateNumberOfMessages"))
                .mapToInt(each -> Integer.parseInt(each.getValue()))
                .sum();
    }

    /// The end of a process, wherever it is.
    private static final class Killed extends Error {}

    /// A client whose process may be killed at any answer: a sent request is executed, or was not sent at all.
    private final class Mortal {
        private final RandomGenerator random;
        private final Set<String> received = ConcurrentHashMap.newKeySet();
        private final List<String> calls = new CopyOnWriteArrayList<>();
        private volatile boolean kills = true;

        Mortal(RandomGenerator random) {
            this.random = random;
        }

        SqsAsyncClient client() {
            return (SqsAsyncClient) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {SqsAsyncClient.class}, (proxy, method, arguments) -> {
                        Object first = arguments == null ? null : arguments[0];
                        if (first instanceof java.util.function.Consumer<?>) {
                            return java.lang.reflect.InvocationHandler.invokeDefault(proxy, method, arguments);
                        }
                        Object answer = answer(method, arguments);
                        return answer;
                    });
        }

        private CompletableFuture<?> answer(Method method, Object[] arguments) throws Throwable {
            calls.add(method.getName());
            int fate = kills ? chance() : 5;
            if (fate == 0) {
                return CompletableFuture.failedFuture(new Killed());
            }
            Object answer;
            try {
                answer = method.invoke(client, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
            CompletableFuture<?> future = ((CompletableFuture<?>) answer).whenComplete((result, _) -> {
                if (result instanceof ReceiveMessageResponse messages) {
                    messages.messages().forEach(message -> received.add(message.receiptHandle()));
                } else if (arguments[0] instanceof DeleteMessageBatchRequest deleted) {
                    deleted.entries().forEach(entry -> received.remove(entry.receiptHandle()));
                }
            });
            return fate > 1 ? future : future.thenCompose(_ -> CompletableFuture.failedFuture(new Killed()));
        }

        private synchronized int chance() {
            return random.nextInt(6);
        }

        /// The time for which messages are hidden has passed.
        void showAgain(Queue queue) {
            received.forEach(receipt -> client.changeMessageVisibility(request ->
                            request.queueUrl(queue.url()).receiptHandle(receipt).visibilityTimeout(0))
                    .exceptionally(_ -> null)
                    .join());
            received.clear();
        }
    }

    private static Settings engineSettings() {
        return Settings.defaults().withThreads(0).withCheckpointInterval(Duration.ofHours(1));
    }

    private void countThroughKills(RandomGenerator random, boolean byMessage) {
        Queue queue = queue();
        List<String> bodies = new ArrayList<>();
        Map<String, Long> right = new TreeMap<>();
        int bad = 0;
        for (int i = 0; i < 60; i++) {
            int id = random.nextInt(50);
            if (random.nextInt(10) == 0) {
                bodies.add("poison " + i);
                bad++;
            } else {
                bodies.add("{\"id\":\"i" + id + "\",\n\"n\":" + (1L << id % 40) + "}");
                right.put(byMessage ? "m" + i : "i" + id, 1L << id % 40);
            }
        }
        send(queue, bodies);
        Pipeline pipeline = sum(byMessage ? "\"message\"" : "\"id\"");
        SimulatedDisk disk = SimulatedDisk.empty();
        for (int life = 0; life < 200 && left(queue) > 0; life++) {
            Mortal mortal = new Mortal(random);
            mortal.kills = life < 12;
            if (mortal.kills && random.nextBoolean()) {
                disk.inject(Faults.none().withCrashAtChange(random.nextInt(1, 30)));
            }
            try (EmbeddedEngine engine = EmbeddedEngine.open(disk.getPath("/data"), pipeline, engineSettings())) {
                new QueueIntake(mortal.client(), queue, engine, settings(true)).run(() -> false);
            } catch (Killed | SimulatedCrash end) {
                assertThat(mortal.kills).isTrue();
            }
            disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
            mortal.showAgain(queue);
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(disk.getPath("/data"), pipeline, engineSettings())) {
            long sum = right.values().stream().mapToLong(Long::longValue).sum();
            assertThat(totals(engine)).containsExactly(String.valueOf(right.size()), String.valueOf(sum));
            assertThat(engine.deadLetters().size()).isEqualTo(bad);
        }
        assertThat(left(queue)).isZero();
    }

    @Test
    @Tag("campaign")
    void each_message_counts_once_though_the_process_is_killed_between_reception_force_and_deletion() {
        Seeds.forAllSeeds(2, random -> countThroughKills(random, true));
    }

    @Test
    @Tag("campaign")
    void each_id_in_a_body_counts_once_though_the_process_is_killed_between_reception_force_and_deletion() {
        Seeds.forAllSeeds(2, random -> countThroughKills(random, false));
    }

    @Test
    @Tag("campaign")
    @Timeout(1_200)
    void of_many_queues_each_message_counts_once_through_kills() {
        Seeds.forAllSeeds(15, random -> countThroughKills(random, random.nextBoolean()));
    }

    @Test
    @Tag("campaign")
    void messages_are_hidden_again_while_the_disk_is_full_and_deleted_when_there_is_space() {
        Queue queue = queue();
        send(queue, List.of("{\"id\":1,\"n\":5}"));
        SimulatedDisk disk = SimulatedDisk.empty();
        Mortal observed = new Mortal(RandomGenerator.getDefault());
        observed.kills = false;
        Settings waits = engineSettings().withPause(() -> {
            if (observed.calls.contains("changeMessageVisibilityBatch")) {
                disk.inject(Faults.none());
            }
            Thread.onSpinWait();
        });
        try (EmbeddedEngine engine = EmbeddedEngine.open(disk.getPath("/data"), sum("\"id\""), waits)) {
            disk.inject(Faults.none().withSpaceBytesMax(0));
            new QueueIntake(observed.client(), queue, engine, settings(true)).run(() -> false);
            assertThat(totals(engine)).containsExactly("1", "5");
        }
        assertThat(observed.calls).containsSubsequence("changeMessageVisibilityBatch", "deleteMessageBatch");
        assertThat(left(queue)).isZero();
    }

    @Test
    @Tag("campaign")
    void a_stop_while_the_disk_is_full_shows_the_messages_again_at_once() {
        Queue queue = queue();
        send(queue, List.of("{\"id\":1,\"n\":5}", "{\"id\":2,\"n\":6}"));
        SimulatedDisk disk = SimulatedDisk.empty();
        AtomicBoolean stop = new AtomicBoolean();
        Settings givesUp = engineSettings().withPause(() -> {
            stop.set(true);
            throw new EngineException(EngineException.Kind.NO_SPACE, "Stopped while the disk was full");
        });
        QueueIntake.Settings hidesForLong =
                new QueueIntake.Settings(3, QueueIntake.Settings.VISIBILITY_DEFAULT, true, notes::add);
        try (EmbeddedEngine engine = EmbeddedEngine.open(disk.getPath("/data"), sum("\"id\""), givesUp)) {
            disk.inject(Faults.none().withSpaceBytesMax(0));
            assertThatThrownBy(() -> new QueueIntake(client, queue, engine, hidesForLong).run(stop::get))
                    .hasMessageContaining("Stopped while the disk was full");
            disk.inject(Faults.none());
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(disk.getPath("/data"), sum("\"id\""), engineSettings())) {
            new QueueIntake(client, queue, engine, settings(true)).run(() -> false);
            assertThat(totals(engine)).containsExactly("2", "11");
        }
        assertThat(left(queue)).isZero();
    }

    @Test
    void a_deletion_that_is_refused_without_a_reason_is_said_and_intake_goes_on() {
        Queue queue = queue();
        send(queue, List.of("{\"id\":1,\"n\":5}"));
        SqsAsyncClient refusing = (SqsAsyncClient) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {SqsAsyncClient.class}, (proxy, method, arguments) -> {
                    Object first = arguments == null ? null : arguments[0];
                    if (first instanceof java.util.function.Consumer<?>) {
                        return java.lang.reflect.InvocationHandler.invokeDefault(proxy, method, arguments);
                    }
                    if (first instanceof DeleteMessageBatchRequest) {
                        return CompletableFuture.completedFuture(DeleteMessageBatchResponse.builder()
                                .failed(BatchResultErrorEntry.builder().id("0").build())
                                .build());
                    }
                    return method.invoke(client, arguments);
                });
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(SimulatedDisk.empty().getPath("/data"), sum("\"id\""), engineSettings())) {
            new QueueIntake(refusing, queue, engine, settings(true)).run(() -> false);
            assertThat(totals(engine)).containsExactly("1", "5");
        }
        assertThat(notes).anyMatch(note -> note.contains("could not be deleted so far: 1 (the queue gives no reason)"));
    }

    @Test
    void a_stop_ends_a_poll_that_waits() throws InterruptedException {
        Queue queue = queue();
        AtomicBoolean stop = new AtomicBoolean();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, sum("\"id\""), Settings.defaults())) {
            QueueIntake intake = new QueueIntake(client, queue, engine, settings(false));
            Thread running = Thread.ofVirtual().start(() -> intake.run(stop::get));
            send(queue, List.of("{\"id\":1,\"n\":5}", "{\"id\":2,\"n\":6}"));
            while (intake.records() < 2) {
                Thread.onSpinWait();
            }
            stop.set(true);
            running.join();
            assertThat(totals(engine)).containsExactly("2", "11");
        }
    }

    /// Long, because the stand-in ends no poll of a queue that goes.
    @Test
    @Tag("campaign")
    void a_queue_that_is_deleted_while_it_is_read_is_said_and_what_it_brought_is_kept() {
        Queue queue = queue();
        send(queue, List.of("{\"id\":1,\"n\":5}"));
        AtomicBoolean isDeleted = new AtomicBoolean();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, sum("\"id\""), Settings.defaults())) {
            QueueIntake intake = new QueueIntake(client, queue, engine, settings(false));
            assertThatThrownBy(() -> intake.run(() -> {
                        if (intake.records() > 0 && !isDeleted.getAndSet(true)) {
                            client.deleteQueue(request -> request.queueUrl(queue.url()))
                                    .join();
                        }
                        return false;
                    }))
                    .hasMessageContaining("it does not exist. It was deleted, or its URL is wrong");
            assertThat(intake.wasRead()).isTrue();
            assertThat(totals(engine)).containsExactly("1", "5");
        }
    }

    @Test
    void a_queue_that_is_not_at_aws_needs_no_region() {
        try (SqsAsyncClient local = queue().client(null)) {
            assertThat(local.serviceClientConfiguration().region()).isNotNull();
        }
    }

    @Test
    void a_queue_that_is_not_there_is_named() {
        Queue none = Queue.of("http://127.0.0.1:9324/000000000000/none");
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, sum("\"id\""), Settings.defaults())) {
            assertThatThrownBy(() -> new QueueIntake(client, none, engine, settings(false)).run(() -> false))
                    .hasMessageContaining("Queue http://127.0.0.1:9324/000000000000/none cannot be read: it does not"
                            + " exist. It was deleted, or its URL is wrong");
        }
    }

    @Test
    void the_url_of_a_queue_says_its_name_and_its_region() {
        assertThat(Queue.of("https://sqs.eu-central-1.amazonaws.com/123456789012/orders"))
                .extracting(Queue::source, Queue::region)
                .containsExactly("sqs:123456789012/orders", "eu-central-1");
        assertThat(Queue.of("http://localhost:9324/000000000000/orders").region())
                .isEmpty();
        for (String wrong : List.of("orders", "https://sqs.eu-central-1.amazonaws.com/orders", "http://a b/1/c")) {
            assertThatThrownBy(() -> Queue.of(wrong)).hasMessageContaining("is not the URL of a queue");
        }
        assertThatThrownBy(() -> Queue.of("http://localhost:9324/000000000000/orders.fifo"))
                .hasMessageContaining("only standard queues");
    }
}
