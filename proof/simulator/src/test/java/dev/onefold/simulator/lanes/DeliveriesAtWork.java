package dev.onefold.simulator.lanes;

import dev.onefold.aws.batch.AwsBatches;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Cutter;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.batch.Deliver.Handover;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.store.Store;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.simulator.deployment.Deployment;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A deployment of batches, one call after the other, with a receiver that answers as a test says.
final class DeliveriesAtWork {
    static final Duration INVOCATION = Duration.ofMinutes(5);
    static final Duration MARGIN = Duration.ofMinutes(1);
    static final Deliver.Limits LIMITS = new Deliver.Limits(MARGIN, Duration.ofSeconds(30));
    static final int LANES = 4;

    final Deployment deployment = Deployment.calm();
    final Pipeline pipeline;

    /// What each attempt handed over, in the order of the attempts.
    final List<Manifest> attempts = new ArrayList<>();

    /// All records that were handed over, in the order of the attempts.
    final List<String> lines = new ArrayList<>();

    /// What the receiver does: by default it takes everything.
    Function<Attempt, Outcome> receiver = _ -> new Outcome.Done();

    private int sent;

    /// An attempt to deliver.
    ///
    /// @param client of its invocation
    record Attempt(Handover handover, SimulatedClient client, Store store) {
        long number() {
            return handover.manifest().number().number();
        }

        List<String> lines() {
            return new String(content(handover), StandardCharsets.UTF_8).lines().toList();
        }

        void pause(Duration pause) {
            store.threads().pause(pause);
        }

        /// Ends the invocation; does not return.
        Outcome die() {
            client.kill();
            pause(Duration.ofMillis(1));
            throw new AssertionError("A dead invocation goes on");
        }
    }

    /// @param settings of the batch section, behind size 5 and wait 2m
    DeliveriesAtWork(String settings) {
        this(5, settings);
    }

    DeliveriesAtWork(int size, String settings) {
        this(size, "{\"http\":\"http://host/x\"}", settings);
    }

    /// @param destination under `deliver`
    DeliveriesAtWork(String destination, String settings) {
        this(5, destination, settings);
    }

    private DeliveriesAtWork(int size, String destination, String settings) {
        this(read("{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":" + size
                + ",\"wait\":\"2m\",\"deliver\":" + destination + "," + settings + "}}"));
    }

    DeliveriesAtWork(Pipeline pipeline) {
        this.pipeline = pipeline;
    }

    private static Pipeline read(String text) {
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> read;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    Batching batching() {
        return (Batching) pipeline.fold();
    }

    <T> T in(SimulatedClient client, Function<Store, T> function) {
        return deployment.time.runUntil(begin(client, function));
    }

    <T> T in(Function<Store, T> function) {
        return in(deployment.dynamo.client("sandbox"), function);
    }

    private <T> CompletableFuture<T> begin(SimulatedClient client, Function<Store, T> function) {
        CompletableFuture<T> done = new CompletableFuture<>();
        Store store = deployment.process(client);
        var _ = deployment.start(() -> done.complete(function.apply(store))).exceptionally(failure -> {
            done.completeExceptionally(failure.getCause());
            return null;
        });
        return done;
    }

    private static byte[] content(Handover handover) {
        try (InputStream content = handover.content().get()) {
            return content.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Collects so many new records and seals all full batches.
    void seal(int records) {
        collect(IntStream.range(sent, sent + records)
                .mapToObj(i -> "{\"id\":" + i + "}")
                .toArray(String[]::new));
        sent += records;
        cut();
        passed(Duration.ofSeconds(10)); // Clocks differ by three seconds.
    }

    /// Collects messages; the same body is the same message.
    void collect(String... bodies) {
        List<Arrival> arrivals = Stream.of(bodies)
                .map(body -> new Arrival("queue", "m" + body.hashCode(), 0, body.getBytes(StandardCharsets.UTF_8)))
                .toList();
        in(store -> new Collect(store, pipeline, LANES).collect(arrivals));
    }

    void cut() {
        in(store -> new Cutter(store, batching(), LANES).run());
    }

    void passed(Duration time) {
        deployment.time.runFor(time);
    }

    /// Begins an invocation.
    CompletableFuture<Integer> begin() {
        SimulatedClient client = deployment.dynamo.client("sandbox");
        Instant end = deployment.time.instant().plus(INVOCATION);
        return begin(
                client, store -> deliverer(store, client).run(() -> Duration.between(deployment.time.instant(), end)));
    }

    Deliver deliverer(Store store, SimulatedClient client) {
        return new Deliver(store, pipeline, receiver(store, client), LIMITS);
    }

    /// An invocation that takes messages and hands them over, from its begin to its end, unless it is killed.
    CompletableFuture<List<Collect.Fate>> direct(Duration within, Arrival... messages) {
        return collecting(collect -> collect.collect(List.of(messages), within).fates());
    }

    /// Several invocations of one process.
    <T> CompletableFuture<T> collecting(Function<Collect, T> invocations) {
        SimulatedClient client = deployment.dynamo.client("sandbox");
        return begin(client, store -> {
            BatchDefinition.openOrCreate(store, pipeline, LANES);
            return invocations.apply(Collect.direct(store, pipeline, LANES, receiver(store, client), LIMITS));
        });
    }

    private Deliver.Receiver receiver(Store store, SimulatedClient client) {
        DeliveryRules rules = new DeliveryRules(
                batching(), batching().deliver().span("remembers").orElse(null));
        return new Deliver.Receiver(rules, handover -> {
            attempts.add(handover.manifest());
            new String(content(handover), StandardCharsets.UTF_8).lines().forEach(lines::add);
            return receiver.apply(new Attempt(handover, client, store));
        });
    }

    /// An invocation, from its begin to its end.
    int deliver() {
        return deployment.time.runUntil(begin());
    }

    /// An invocation that may be ended in the middle, and a minute of time.
    void wake() {
        var _ = begin();
        passed(Duration.ofMinutes(1));
    }

    /// The numbers of all attempts.
    List<Long> delivered() {
        return attempts.stream().map(manifest -> manifest.number().number()).toList();
    }

    /// What a person does.
    <T> T person(Function<SealedBatches, T> decision) {
        return in(store -> decision.apply(new AwsBatches(store, new BatchDefinition(pipeline, LANES))));
    }

    SealedBatches.Line settle(BatchNumber number, Delivery.How how) {
        return person(batches -> batches.settle(number, how));
    }

    /// The state of a batch in a word.
    String state(int number) {
        return person(
                batches -> batches.find(BatchNumber.of(number)).orElseThrow().state());
    }

    /// Takes an item out of the table, as long as it is not seen yet. It is given back to [#show].
    ///
    /// @param key without its first byte
    Map<String, AttributeValue> hide(String key) {
        return in(store -> {
            Map<String, AttributeValue> item = rows(store).stream()
                    .filter(each -> key(each).equals(key))
                    .findFirst()
                    .orElseThrow();
            store.client()
                    .deleteItem(
                            request -> request.tableName(store.tables().rows()).key(Map.of("k", item.get("k"))))
                    .join();
            return item;
        });
    }

    void show(Map<String, AttributeValue> item) {
        in(store -> store.client()
                .putItem(request -> request.tableName(store.tables().rows()).item(item))
                .join());
    }

    /// The keys of all rows, each without its first byte.
    List<String> keys() {
        return in(store -> rows(store).stream().map(DeliveriesAtWork::key).toList());
    }

    private static List<Map<String, AttributeValue>> rows(Store store) {
        return store.client()
                .scan(request -> request.tableName(store.tables().rows()))
                .join()
                .items();
    }

    private static String key(Map<String, AttributeValue> item) {
        byte[] bytes = item.get("k").b().asByteArray();
        return new String(bytes, 1, bytes.length - 1, StandardCharsets.UTF_8);
    }
}
