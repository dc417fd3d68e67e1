package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.aws.Connection;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.IdRemoval;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.BatchTemplate;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.local.function.FunctionFaults;
import dev.onefold.local.gate.Faults;
import dev.onefold.mapping.StreamMapping;
import dev.onefold.mapping.source.KinesisSource;
import dev.onefold.receivers.Verification;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.model.BucketAlreadyOwnedByYouException;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/// Batches from a queue of SQS, or from a stream, to an HTTP endpoint: real servers, real sandboxes, the roles
/// enforced.
class BatchEndToEndTest {
    private static final int ENTRIES_MAX = 10;
    private static final int LARGE = 400_000;
    private static final String HIDDEN_SECONDS = "10";
    private static final int REPEATED = 1_000;
    private static final int REPETITIONS_MAX = 50;
    private static final Duration PATIENCE = Duration.ofMinutes(30);

    /// Bodies of messages, some of them twice, and what is right for them.
    private static final class Messages {
        final List<String> bodies = new ArrayList<>();
        final TreeSet<String> distinct = new TreeSet<>();
        final String broken = "{\"id\":\"broken\"";

        Messages(int count, int doubles, long seed) {
            Random random = new Random(seed);
            for (int i = 0; i < count; i++) {
                String text = i == 0 ? "x".repeat(LARGE) : "text-" + random.nextLong();
                distinct.add("{\"id\":\"m" + i + "\",\"text\":\"" + text + "\"}");
            }
            bodies.addAll(distinct);
            List<String> small =
                    distinct.stream().filter(body -> body.length() < LARGE).toList();
            for (int i = 0; i < doubles; i++) {
                bodies.add(small.get(random.nextInt(small.size())));
            }
            bodies.add(broken);
            Collections.shuffle(bodies, random);
        }
    }

    private static Pipeline pipeline(String address, int size, String wait) {
        return delivering("{\"http\":\"" + address + "\",\"timeout\":\"10s\"},\"receiver\":\"idempotent\"", size, wait);
    }

    /// @param deliver the receiver, and settings behind it
    private static Pipeline delivering(String deliver, int size, String wait) {
        String text =
                "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":" + size
                        + ",\"wait\":\"" + wait + "\",\"deliver\":" + deliver
                        + ",\"retry\":{\"delays\":[\"1s\"],\"for\":\"1h\"}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private static LocalDeployment deployment(Pipeline pipeline, String batchSize, StackFaults faults)
            throws IOException {
        LocalDeployment deployment = LocalDeployment.open(
                "orders",
                BatchTemplate.of(pipeline, BatchTemplate.Input.NEW_QUEUE).yaml(),
                Map.of("BatchSize", batchSize, "MaximumBatchingWindow", "1", "Lanes", "8"),
                Parts.machine(2),
                faults);
        // The template hides what has failed for six minutes, and nobody waits here for that long.
        queues(deployment)
                .setQueueAttributes(request -> request.queueUrl(deployment.value("InputQueue"))
                        .attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, HIDDEN_SECONDS)))
                .join();
        return deployment;
    }

    private static SqsAsyncClient queues(LocalDeployment deployment) {
        return deployment.clients("Operator").queues;
    }

    private static void send(LocalDeployment deployment, List<String> bodies) {
        List<CompletableFuture<?>> sent = new ArrayList<>();
        for (int from = 0; from < bodies.size(); from += ENTRIES_MAX) {
            List<String> some = bodies.subList(from, Math.min(from + ENTRIES_MAX, bodies.size()));
            List<SendMessageBatchRequestEntry> entries = IntStream.range(0, some.size())
                    .mapToObj(i -> SendMessageBatchRequestEntry.builder()
                            .id(Integer.toString(i))
                            .messageBody(some.get(i))
                            .build())
                    .toList();
            sent.add(queues(deployment)
                    .sendMessageBatch(request ->
                            request.queueUrl(deployment.value("InputQueue")).entries(entries)));
        }
        CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new)).join();
    }

    private static void put(LocalDeployment deployment, Pipeline pipeline, Messages messages) {
        deployment.put(
                pipeline,
                messages.bodies.stream()
                        .map(body -> body.getBytes(StandardCharsets.UTF_8))
                        .iterator(),
                _ -> {});
    }

    /// Waits until the receiver has so many records, and nothing is left in the queue.
    private static void await(LocalDeployment deployment, Drop drop, long records, String queue) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (drop.batches().values().stream().mapToLong(List::size).sum() < records || !isEmpty(deployment, queue)) {
            assertThat(System.nanoTime())
                    .as(() -> drop + "; " + deployment.mappingResults())
                    .isLessThan(end);
            Connection.THREADS.pause(Duration.ofMillis(100));
        }
    }

    /// Brings the same input again, which changes nothing, until what is chance has happened: sandboxes of each
    /// of these functions were killed, and roles allow nothing that nobody has used.
    private static void repeatUntilAllHasHappened(LocalDeployment deployment, List<String> functions, Runnable again) {
        for (int times = 0; times < REPETITIONS_MAX && !hasAllHappened(deployment, functions); times++) {
            again.run();
            freeAsSeal(deployment);
        }
        assertThat(functions)
                .allSatisfy(function -> assertThat(
                                deployment.function(function).counts().killed())
                        .as(() -> function + " " + deployment.function(function).counts())
                        .isPositive());
        assertThat(EndToEnd.unused(deployment)).isEmpty();
    }

    private static boolean hasAllHappened(LocalDeployment deployment, List<String> functions) {
        return functions.stream()
                        .allMatch(function ->
                                deployment.function(function).counts().killed() > 0)
                && EndToEnd.unused(deployment).isEmpty();
    }

    private static boolean isEmpty(LocalDeployment deployment, String queue) {
        return queues(deployment)
                .getQueueAttributes(request -> request.queueUrl(deployment.value(queue))
                        .attributeNames(
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE))
                .join()
                .attributes()
                .values()
                .stream()
                .allMatch("0"::equals);
    }

    /// Each distinct message is in exactly one batch, and there are as few batches as can be.
    private static void assertRight(LocalDeployment deployment, Drop drop, Messages messages, int size) {
        assertThat(drop.wrong()).isEmpty();
        Map<String, String> batchOf = new HashMap<>();
        drop.batches()
                .forEach((id, lines) -> lines.forEach(
                        line -> assertThat(batchOf.put(line, id)).as(line).isNull()));
        assertThat(new TreeSet<>(batchOf.keySet())).isEqualTo(messages.distinct);
        assertThat(drop.batches()).hasSize(Math.ceilDiv(messages.distinct.size(), size));
        assertThat(new LetterTable(deployment.store()).list(0, 10))
                .extracting(DeadLetter::reason)
                .containsOnly(Reason.MALFORMED)
                .isNotEmpty();
        assertThat(deployment.usage().refused()).isEmpty();
    }

    @Test
    @Tag("campaign")
    void each_distinct_message_of_a_queue_is_in_one_batch_though_sandboxes_are_killed() throws IOException {
        int size = 100;
        Messages messages = new Messages(4 * size, 20, 3);
        StackFaults faults = new StackFaults(
                3,
                new Faults(3, 2, 5, 3, 5, 10, Duration.ofMillis(20)),
                new FunctionFaults(20, 20, 20, 8),
                FunctionFaults.NONE,
                0.05);
        try (Drop drop = new Drop();
                LocalDeployment deployment = deployment(pipeline(drop.address(), size, "1h"), "40", faults)) {
            send(deployment, messages.bodies);
            await(deployment, drop, messages.distinct.size(), "InputQueue");
            assertRight(deployment, drop, messages, size);
            freeAsSeal(deployment);
            repeatUntilAllHasHappened(deployment, List.of("Collect"), () -> {
                send(deployment, messages.bodies);
                await(deployment, drop, messages.distinct.size(), "InputQueue");
            });
            assertRight(deployment, drop, messages, size);
        }
    }

    /// What Seal does a week later: batches that are done go, and their content.
    private static void freeAsSeal(LocalDeployment deployment) {
        var clients = deployment.clients("SealRole");
        Store store = new Store(
                        clients.tables,
                        deployment.store().tables(),
                        Connection.THREADS,
                        new SecureRandom(),
                        InstantSource.system())
                .with(new Store.Bucket(
                        () -> clients.objects, deployment.store().bucket().name()));
        BatchDefinition definition = BatchDefinition.find(store).orElseThrow();
        Batching batching = (Batching) definition.pipeline().fold();
        new IdRemoval(store, batching, definition.lanes(), Duration.ZERO).run(Duration.ofHours(1));
        String bucket = deployment.store().bucket().name().orElseThrow();
        clients.objects
                .deleteObject(
                        request -> request.bucket(bucket).key("chunks/none")) // The large one may be in the last batch.
                .join();
    }

    /// What lies under a key; empty if nothing does.
    private static void make(LocalDeployment deployment, String bucket) {
        try {
            deployment
                    .clients("Operator")
                    .objects
                    .createBucket(request -> request.bucket(bucket))
                    .join();
        } catch (CompletionException e) { // An answer that was lost: the client has asked again.
            assertThat(e).hasCauseInstanceOf(BucketAlreadyOwnedByYouException.class);
        }
    }

    private static Optional<byte[]> object(LocalDeployment deployment, String bucket, String key) {
        try {
            return Optional.of(deployment
                    .clients("Operator")
                    .objects
                    .getObject(request -> request.bucket(bucket).key(key), AsyncResponseTransformer.toBytes())
                    .join()
                    .asByteArray());
        } catch (CompletionException notThereOrLost) {
            return Optional.empty();
        }
    }

    /// A function that takes batches. One invocation in three fails, half of these after the batch was taken.
    private static final class Loading {
        final Map<String, List<String>> batches = new TreeMap<>();
        final List<String> wrong = new ArrayList<>();
        private int invocations;

        synchronized String take(LocalDeployment deployment, String payload) {
            invocations++;
            if (invocations % 6 == 3) {
                throw new IllegalStateException("before");
            }
            JsonNode batch;
            try {
                batch = new ObjectMapper().readTree(payload);
            } catch (JsonProcessingException e) {
                throw new IllegalStateException("The payload is not JSON", e);
            }
            byte[] content = object(
                            deployment,
                            batch.path("bucket").asText(),
                            batch.path("key").asText())
                    .orElseThrow(() -> new IllegalStateException("not read"));
            if (!Sha256.hex(content).equals(batch.path("sha256").asText())
                    || content.length != batch.path("bytes").asLong()) {
                wrong.add(payload + " is not of its content");
            }
            List<String> lines =
                    new String(content, StandardCharsets.UTF_8).lines().toList();
            List<String> before = batches.putIfAbsent(batch.path("batch").asText(), lines);
            if (before != null && !before.equals(lines)) {
                wrong.add(payload + " came with two contents");
            }
            if (invocations % 6 == 0) {
                throw new IllegalStateException("after");
            }
            return "null";
        }

        synchronized List<String> records() {
            return batches.values().stream().flatMap(List::stream).sorted().toList();
        }
    }

    @Test
    @Tag("campaign")
    void a_function_gets_each_batch_of_a_queue_until_it_has_taken_it() throws IOException {
        int size = 10;
        Messages messages = new Messages(6 * size, 20, 9);
        StackFaults faults = new StackFaults(
                9,
                new Faults(10, 10, 5, 10, 5, 10, Duration.ofMillis(20)),
                new FunctionFaults(20, 20, 20, 8),
                FunctionFaults.NONE,
                0.05);
        Loading loading = new Loading();
        try (LocalDeployment deployment = deployment(
                delivering("{\"lambda\":\"load\",\"timeout\":\"30s\"},\"receiver\":\"idempotent\"", size, "1h"),
                "40",
                faults)) {
            deployment.receivers().put("load", payload -> loading.take(deployment, payload));
            send(deployment, messages.bodies);
            long end = System.nanoTime() + Duration.ofMinutes(5).toNanos();
            while (loading.records().size() < messages.distinct.size()) {
                assertThat(System.nanoTime())
                        .as(() -> loading.batches.keySet() + "; " + deployment.mappingResults())
                        .isLessThan(end);
                Connection.THREADS.pause(Duration.ofMillis(100));
            }
            assertThat(loading.wrong).isEmpty();
            assertThat(loading.records()).isEqualTo(List.copyOf(messages.distinct));
            assertThat(loading.batches).hasSize(6);
            assertThat(deployment.usage().refused()).isEmpty();
        }
    }

    @Test
    @Tag("campaign")
    void batches_of_a_queue_are_objects_of_s3_that_their_manifests_prove(@TempDir Path folder) throws IOException {
        int size = 20;
        int batches = 3;
        Messages messages = new Messages(batches * size, 20, 5);
        StackFaults faults = new StackFaults(
                5,
                new Faults(20, 20, 5, 20, 5, 10, Duration.ofMillis(20)),
                new FunctionFaults(20, 20, 20, 8),
                FunctionFaults.NONE,
                0.05);
        String deliver = "{\"s3\":\"s3://warehouse/in/orders-{number}.ndjson.gz\",\"manifest\":true}";
        try (LocalDeployment deployment = deployment(delivering(deliver, size, "1h"), "40", faults)) {
            make(deployment, "warehouse");
            send(deployment, messages.bodies);
            long end = System.nanoTime() + Duration.ofMinutes(5).toNanos();
            for (int number = 1; number <= batches; number++) {
                for (String name : List.of("orders-%06d.ndjson.gz", "orders-%06d.json")) {
                    String file = name.formatted(number);
                    Optional<byte[]> found = object(deployment, "warehouse", "in/" + file);
                    while (found.isEmpty()) {
                        assertThat(System.nanoTime())
                                .as(() -> file + "; " + deployment.mappingResults())
                                .isLessThan(end);
                        Connection.THREADS.pause(Duration.ofMillis(100));
                        found = object(deployment, "warehouse", "in/" + file);
                    }
                    Files.write(folder.resolve(file), found.get());
                }
            }
            Verification verification = Verification.of(folder, 1);
            assertThat(verification.findings()).isEmpty();
            TreeSet<String> lines = new TreeSet<>();
            for (int number = 1; number <= batches; number++) {
                Path file = folder.resolve("orders-%06d.ndjson.gz".formatted(number));
                try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
                    new String(in.readAllBytes(), StandardCharsets.UTF_8)
                            .lines()
                            .forEach(
                                    line -> assertThat(lines.add(line)).as(line).isTrue());
                }
            }
            assertThat(lines).isEqualTo(messages.distinct);
            assertThat(deployment.usage().refused()).isEmpty();
        }
    }

    @Test
    @Tag("campaign")
    void each_distinct_record_of_a_stream_is_in_one_batch_though_sandboxes_are_killed() throws IOException {
        int size = 100;
        Messages messages = new Messages(4 * size, 20, 5);
        StackFaults faults = new StackFaults(
                5,
                new Faults(3, 2, 5, 3, 5, 10, Duration.ofMillis(20)),
                new FunctionFaults(20, 20, 20, 8),
                FunctionFaults.NONE,
                0.05);
        try (Drop drop = new Drop();
                RealTime time = new RealTime()) {
            Pipeline pipeline = pipeline(drop.address(), size, "1h");
            try (LocalDeployment deployment = LocalDeployment.open(
                    "orders",
                    BatchTemplate.of(pipeline, BatchTemplate.Input.NEW_STREAM).yaml(),
                    Map.of("BatchSize", "40", "MaximumBatchingWindow", "1", "Lanes", "8", "ParallelizationFactor", "2"),
                    Parts.machine(2),
                    faults)) {
                EndToEnd.shortenRetries(deployment);
                KinesisSource stream = new KinesisSource(
                        deployment.clients("CollectRole").streams, deployment.value("InputStream.Arn"));
                try (StreamMapping givingUp = EndToEnd.givingUp(deployment, time, stream, "Collect")) {
                    put(deployment, pipeline, messages);
                    await(deployment, drop, messages.distinct.size(), "Retries");
                    assertThat(givingUp.lastProcessingResult()).contains("RetryAttemptsExhausted");
                }
                assertRight(deployment, drop, messages, size);
                freeAsSeal(deployment);
                repeatUntilAllHasHappened(deployment, List.of("Collect"), () -> {
                    put(deployment, pipeline, messages);
                    await(deployment, drop, messages.distinct.size(), "Retries");
                });
                assertRight(deployment, drop, messages, size);
            }
        }
    }

    @Test
    @Tag("campaign")
    void thousands_of_messages_come_out_right_while_sandboxes_of_all_functions_are_killed() throws IOException {
        int size = 650; // A divisor of the distinct ones: no batch waits for its time.
        Messages messages = new Messages(2_600, 200, 7);
        StackFaults faults = new StackFaults(
                7, EndToEnd.FAULTS, new FunctionFaults(10, 10, 10, 25), new FunctionFaults(20, 20, 20, 10), 0.03);
        try (Drop drop = new Drop();
                LocalDeployment deployment = deployment(pipeline(drop.address(), size, "5m"), "500", faults)) {
            long start = System.nanoTime();
            send(deployment, messages.bodies);
            await(deployment, drop, messages.distinct.size(), "InputQueue");
            assertRight(deployment, drop, messages, size);
            List<String> functions = List.of("Collect", "Seal", "Deliver");
            functions.forEach(function -> System.out.println(
                    function + " " + deployment.function(function).counts()));
            repeatUntilAllHasHappened(deployment, functions, () -> {
                send(deployment, messages.bodies.subList(0, REPEATED));
                await(deployment, drop, messages.distinct.size(), "InputQueue");
            });
            assertRight(deployment, drop, messages, size);
            System.out.println(drop + " after " + Duration.ofNanos(System.nanoTime() - start) + "; requests "
                    + deployment.usage().requests());
        }
    }
}
