package dev.onefold.simulator.publication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.function.PublishFunction;
import dev.onefold.aws.publication.Publication;
import dev.onefold.aws.publication.Publication.Outcome;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.fakes.aws.DeploymentTables;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fakes.aws.table.Change;
import dev.onefold.oracle.Oracle;
import dev.onefold.simulator.deployment.Deployment;
import dev.onefold.simulator.deployment.Reducers;
import dev.onefold.simulator.embedded.PipelineYaml;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/// A deployment whose totals are items of a table that other programs read, on the simulated service, and what
/// is right by the oracle.
final class PublicationLife {
    static final String TABLE = "restaurant-counts";
    private static final String SUMS = """
            pipeline: trades
            input:
              key: id
              version: v
              delete: gone = true
            rollups:
              main:
                levels: [desk, region]
                measures:
                  value: sum(value) decimal(18,2)
                  trades: count()
                  mean: average(value) decimal(18,2)
              regions:
                levels: [region]
                measures:
                  value: sum(value) decimal(18,2)
                  trades: count()
            publish: {table: restaurant-counts, top: 2 by trades}
            """;
    private static final String VALUES = """
            pipeline: trades
            input:
              key: id
              version: v
              delete: gone = true
            rollups:
              main:
                levels: [desk, region]
                measures:
                  value: sum(value) decimal(18,2)
                  trades: count()
              regions:
                levels: [region]
                measures:
                  most: max(value) decimal(18,2)
                  desks: distinct(desk)
            publish: {table: restaurant-counts, top: 2 by trades}
            """;
    static final Publishing.Items PUBLISHING =
            (Publishing.Items) Objects.requireNonNull(PipelineYaml.read(SUMS).publishing());
    private static final PrintStream SILENT = new PrintStream(OutputStream.nullOutputStream());
    static final Duration INVOCATION_MAX = Duration.ofSeconds(60);
    static final Duration AFTERWARDS = Duration.ofMinutes(30);
    private static final List<String> DESKS = List.of("FX", "IR", "", "a/b~c");

    final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
    private final SplittableRandom random;
    final Deployment deployment;
    private final Oracle oracle;
    final AwsEngine engine;
    private final @Nullable CutJudge judge;
    final Map<String, Long> cuts = new HashMap<>(); // The highest that an item had, also one that is gone.
    private @Nullable AssertionError failure;
    private int records;

    /// One whose items are added to.
    PublicationLife(long seed) {
        this(seed, true);
    }

    /// @param isSummed whether the pipeline has no extremes and no distinct counts
    PublicationLife(long seed, boolean isSummed) {
        String yaml = isSummed ? SUMS : VALUES;
        Pipeline pipeline = PipelineYaml.read(yaml);
        oracle = Oracle.of(yaml.substring(0, yaml.indexOf("publish:")));
        random = new SplittableRandom(seed);
        boolean isJudged = isSummed && seed % 2 == 0;
        deployment = new Deployment(
                time,
                new SimulatedDynamoDb(time, random.nextLong()),
                isJudged ? CutJudge.oneDeltaInACommit(random) : random.split());
        deployment.of(deployment
                .dynamo
                .client("deploy")
                .createTable(DeploymentTables.output(TABLE, List.of("id"), Set.of())));
        int lanes = 1 + random.nextInt(3);
        engine = deployment.engine(pipeline, lanes, 2);
        deployment.dynamo.onWrite(TABLE, this::check);
        judge = isJudged ? new CutJudge(deployment, lanes, this::items) : null;
    }

    /// No item goes back to an earlier cut, nor comes back in one.
    private void check(Change change) {
        String id = change.key().get("id").s();
        if (id.equals(":onefold") || change.after() != null && !change.after().containsKey("cut")) {
            return;
        }
        Map<String, AttributeValue> after = change.after();
        long cut = after == null
                ? cuts.getOrDefault(id, 0L)
                : new BigDecimal(after.get("cut").n()).longValueExact();
        if (cut < cuts.getOrDefault(id, 0L) && failure == null) {
            failure = new AssertionError(id + " was of cut " + cuts.get(id) + ", and is of cut " + cut);
        }
        cuts.put(id, cut);
    }

    Arrival record(String line) {
        records++;
        byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
        oracle.accept("s", records, bytes);
        return new Arrival("s/shard", Integer.toString(records), 0, bytes);
    }

    Arrival trade(String id, int version, String desk, String region, String value) {
        return record("{\"id\":\"%s\",\"v\":%d,\"desk\":\"%s\",\"region\":\"%s\",\"value\":%s}"
                .formatted(id, version, desk, region, value));
    }

    void take(Arrival... arrivals) {
        StateAndMap.process(deployment.process(deployment.dynamo.client("function")), List.of(arrivals));
        engine.reduce();
    }

    Store store() {
        return deployment.process(deployment.dynamo.client("publish"));
    }

    /// As the function does it.
    Outcome step() {
        return new Publication(store(), PUBLISHING).step(INVOCATION_MAX, false);
    }

    Outcome.Published publish(Store store) {
        return (Outcome.Published) new Publication(store, PUBLISHING).step(INVOCATION_MAX, true);
    }

    Map<String, Map<String, AttributeValue>> items() {
        Map<String, Map<String, AttributeValue>> items = new TreeMap<>();
        deployment
                .dynamo
                .backup(TABLE)
                .items()
                .forEach(item -> items.put(item.get("id").s(), item));
        return items;
    }

    /// By the oracle: each group is one item, and nothing else is there but the mark and the top list.
    void requireRight() {
        Map<String, Map<String, AttributeValue>> items = items();
        Map<String, Map<String, String>> expected = new TreeMap<>();
        for (String rollup : oracle.rollups()) {
            oracle.totals(rollup).forEach((group, measures) -> {
                Map<String, String> values = new TreeMap<>();
                measures.forEach((name, value) -> {
                    if (value != null) {
                        values.put(name, plain(value));
                    }
                });
                List<String> levels = rollup.equals("main") ? List.of("desk", "region") : List.of("region");
                for (int i = 0; i < group.size(); i++) {
                    values.put(levels.get(i), group.get(i));
                }
                StringBuilder id = new StringBuilder(rollup);
                group.forEach(
                        part -> id.append('/').append(part.replace("~", "~0").replace("/", "~1")));
                values.put("rollup", rollup);
                values.put("depth", String.valueOf(group.size()));
                expected.put(id.toString(), values);
            });
        }
        Map<String, Map<String, String>> found = new TreeMap<>();
        long mark = new BigDecimal(items.get(":onefold").get("cut").n()).longValueExact();
        items.forEach((id, item) -> {
            if (!id.startsWith(":") && !id.endsWith(":top") && !id.endsWith(":reserve")) {
                Map<String, String> values = new TreeMap<>();
                item.forEach((name, value) ->
                        values.put(name, value.n() != null ? plain(value.n()) : value.s() != null ? value.s() : ""));
                assertThat(Long.parseLong(values.get("cut"))).isLessThanOrEqualTo(mark);
                values.keySet().removeAll(Set.of("id", "kept", "cut", "cut_at"));
                found.put(id, values);
            }
        });
        assertThat(found).isEqualTo(expected);
        assertThat(topOf(items)).isEqualTo(topOf(expected.values()));
        if (failure != null) {
            throw failure;
        }
        if (judge != null) {
            judge.requireRight();
        }
    }

    private static String plain(String number) {
        return new BigDecimal(number).stripTrailingZeros().toPlainString();
    }

    private static List<String> topOf(Map<String, Map<String, AttributeValue>> items) {
        return items.get("main:top").get("groups").l().stream()
                .map(AttributeValue::m)
                .map(group -> group.get("trades").n())
                .toList();
    }

    private static List<String> topOf(Iterable<Map<String, String>> expected) {
        List<String> counts = new ArrayList<>();
        expected.forEach(values -> {
            if (values.get("rollup").equals("main") && values.get("depth").equals("2")) {
                counts.add(values.get("trades"));
            }
        });
        counts.sort((a, b) -> new BigDecimal(b).compareTo(new BigDecimal(a)));
        return counts.subList(0, Math.min(2, counts.size()));
    }

    /// The tables for a process whose transactions are on their way for ever.
    Store holding(List<TransactWriteItemsRequest> held) {
        return transacting(request -> {
            held.add(request);
            return new CompletableFuture<>();
        });
    }

    /// The tables for a process whose puts of groups are on their way for ever.
    @SuppressWarnings("FutureReturnValueIgnored") // A proxy returns what the client would.
    Store holdingPuts(List<PutItemRequest> held) {
        return proxied("putItem", (arguments, call) -> {
            @SuppressWarnings("unchecked") // The one that our code calls.
            Consumer<PutItemRequest.Builder> request = (Consumer<PutItemRequest.Builder>) arguments[0];
            PutItemRequest put = PutItemRequest.builder().applyMutation(request).build();
            if (put.tableName().equals(TABLE) && !put.item().get("id").s().equals(":onefold")) {
                held.add(put);
                return new CompletableFuture<>();
            }
            return call.get();
        });
    }

    /// The tables for a process with transactions of a test's.
    @SuppressWarnings("FutureReturnValueIgnored") // A proxy returns what the client would.
    Store transacting(Function<TransactWriteItemsRequest, CompletableFuture<?>> transactions) {
        return proxied("transactWriteItems", (arguments, _) -> {
            @SuppressWarnings("unchecked") // The one that our code calls.
            Consumer<TransactWriteItemsRequest.Builder> request =
                    (Consumer<TransactWriteItemsRequest.Builder>) arguments[0];
            return transactions.apply(
                    TransactWriteItemsRequest.builder().applyMutation(request).build());
        });
    }

    /// The tables for a process that never reads the headers of all lanes in one transaction: others are at work on
    /// them.
    Store withoutInstants() {
        return proxied("transactGetItems", (arguments, call) -> {
            @SuppressWarnings("unchecked") // The one that our code calls.
            Consumer<TransactGetItemsRequest.Builder> request =
                    (Consumer<TransactGetItemsRequest.Builder>) arguments[0];
            Map<String, AttributeValue> key = TransactGetItemsRequest.builder()
                    .applyMutation(request)
                    .build()
                    .transactItems()
                    .getFirst()
                    .get()
                    .key();
            return !AttributeValue.fromS("headers").equals(key.get("p"))
                    ? call.get()
                    : CompletableFuture.failedFuture(TransactionCanceledException.builder()
                            .cancellationReasons(CancellationReason.builder()
                                    .code("TransactionConflict")
                                    .build())
                            .build());
        });
    }

    private Store proxied(String name, BiFunction<Object[], Supplier<Object>, Object> requests) {
        Store store = store();
        DynamoDbAsyncClient client = (DynamoDbAsyncClient) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DynamoDbAsyncClient.class}, (_, method, arguments) -> {
                    Supplier<Object> call = () -> {
                        try {
                            return method.invoke(store.client(), arguments);
                        } catch (ReflectiveOperationException failed) {
                            throw new LinkageError(failed.toString(), failed);
                        }
                    };
                    return method.getName().equals(name) ? requests.apply(arguments, call) : call.get();
                });
        return new Store(client, store.tables(), store.threads(), store.random(), store.clock());
    }

    /// Records come, deltas are reduced, and several functions publish; each may be killed at any moment, and
    /// the service loses, repeats, delays and refuses requests.
    void live(int count) {
        boolean isFaulty = random.nextInt(4) > 0;
        double faultChance = isFaulty ? random.nextDouble() * 0.3 : 0;
        Faults faults = Faults.none().with(random.nextBoolean() ? Faults.Timing.USUAL : Faults.Timing.NONE);
        for (Fault fault : Fault.values()) {
            if (isFaulty && random.nextBoolean()) {
                faults = faults.with(fault, random.nextDouble() * (fault == Fault.DIES_WITH_CLIENT ? 1 : 0.08));
            }
        }
        deployment.dynamo.inject(faults);
        Reducers reducers = new Reducers(deployment, random.split(), faultChance, faults);
        List<Arrival> arrivals = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            String id = "k" + random.nextInt(8);
            arrivals.add(
                    random.nextInt(4) == 0
                            ? record("{\"id\":\"" + id + "\",\"v\":" + i + ",\"gone\":true}")
                            : trade(
                                    id,
                                    i,
                                    DESKS.get(random.nextInt(DESKS.size())),
                                    "R" + random.nextInt(3),
                                    random.nextInt(50) + ".5"));
        }
        CompletableFuture<Void> intake = CompletableFuture.runAsync(() -> putAll(arrivals), time::start);
        boolean[] isOver = {false};
        for (int i = 0; i < 1 + random.nextInt(3); i++) {
            keepPublishing(isOver, faultChance);
        }
        while (!intake.isDone()) {
            time.runFor(Duration.ofSeconds(1));
        }
        deployment.dynamo.inject(Faults.none());
        time.runFor(AFTERWARDS); // Late requests arrive, and change nothing.
        isOver[0] = true;
        reducers.close();
        time.runFor(Duration.ofMinutes(3));
        engine.reduce();
        new PublishFunction(store(), PUBLISHING, SILENT).handle(INVOCATION_MAX::toMillis);
        requireRight();
        assertThat(intake).isCompleted();
    }

    private void putAll(List<Arrival> arrivals) {
        for (int from = 0; from < arrivals.size(); ) {
            int to = Math.min(arrivals.size(), from + 1 + random.nextInt(6));
            Store function = deployment.process(deployment.dynamo.client("state"));
            function.threads().pause(Duration.ofMillis(random.nextInt(2_000)));
            try {
                StateAndMap.process(function, arrivals.subList(from, to));
                from = to;
            } catch (RuntimeException unlucky) {
                function.threads().pause(Duration.ofMillis(100)); // The batch comes again.
            }
        }
    }

    /// A sandbox after the other: each does some invocations and may be killed in the middle of one.
    private void keepPublishing(boolean[] isOver, double faultChance) {
        if (isOver[0]) {
            return;
        }
        SimulatedClient client = deployment.dynamo.client("publish");
        PublishFunction function = new PublishFunction(deployment.process(client), PUBLISHING, SILENT);
        time.start(() -> {
            try {
                while (!isOver[0]) {
                    Instant end = time.instant().plus(INVOCATION_MAX);
                    function.handle(() -> Duration.between(time.instant(), end).toMillis());
                    client.after(Duration.ofMillis(random.nextInt(5_000))).join();
                }
            } catch (RuntimeException unlucky) {
                client.kill();
            }
        });
        Duration life = random.nextDouble() < faultChance * 3
                ? Duration.ofMillis(1 + random.nextInt(4_000))
                : Duration.ofSeconds(40 + random.nextInt(60));
        time.after(life, () -> {
            client.kill();
            keepPublishing(isOver, faultChance);
        });
    }
}
