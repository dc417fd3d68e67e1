package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Stored;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fakes.aws.SimulatedClient;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/// A deployment that takes 80 trades a second, and readers each of whom asks once a second. Each trade is in two
/// roll-ups, so an answer of both that is no cut shows it.
final class BusyTrades {
    static final int LANES = 4;
    static final int DESKS = 12;
    private static final int PAGE = 6;
    static final Pipeline TRADES = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup("desks", r -> r.levels("desk").sum("value", "value", 20, 2).count("trades"))
            .rollup("books", r -> r.levels("book").count("trades"))
            .build();

    final Deployment deployment = Deployment.calm();
    final AwsEngine engine = deployment.engine(TRADES, LANES, 64);
    Definition definition = new Definitions(function()).load();
    int sequence;
    int answers;
    /// Changes since it was set to 0 after which an item has a copy for a reader who holds an epoch.
    int held;

    private boolean over;

    Store function() {
        return deployment.store(deployment.dynamo.client("function"));
    }

    /// Begins, and lets three seconds pass.
    void live(int readers) {
        deployment.dynamo.inject(AwsFigures.latency(Duration.ofMillis(100)));
        deployment.dynamo.onWrite(deployment.tables.totals(), change -> {
            boolean isItem = change.after() != null && change.after().containsKey("r");
            held += isItem && change.after().containsKey(Stored.HELD) ? 1 : 0;
        });
        IntStream.range(0, LANES).forEach(lane -> TradeFixtures.keepReducing(deployment, lane, () -> over));
        put();
        for (int reader = 0; reader < readers; reader++) {
            SimulatedClient client = deployment.dynamo.client("reader");
            deployment.time.schedule(Duration.ofMillis(1_000L * reader / readers), () -> ask(client));
        }
        deployment.time.runFor(Duration.ofSeconds(3));
    }

    /// Nothing more comes, and nobody asks any more.
    void end() {
        over = true;
        deployment.time.runFor(Duration.ofSeconds(5));
    }

    List<Header> headers() {
        return IntStream.range(0, LANES)
                .mapToObj(lane -> Header.of(deployment
                        .of(deployment
                                .dynamo
                                .client("look")
                                .getItem(request -> request.tableName(deployment.tables.totals())
                                        .key(Header.keyOf(lane))
                                        .consistentRead(true)))
                        .item()))
                .toList();
    }

    /// How many trades a reading has; -1 if its roll-ups are not of one instant.
    static long trades(TotalsReads.Reading reading) {
        List<Long> trades = reading.totals().stream()
                .map(totals -> totals.leaves().values().stream()
                        .mapToLong(Aggregate::rows)
                        .sum())
                .toList();
        return trades.getFirst().equals(trades.getLast()) ? trades.getFirst() : -1;
    }

    /// Reads both roll-ups.
    ///
    /// @param page how long each page takes to come, of few items; `null` if all come at once
    CompletableFuture<TotalsReads.Reading> read(SimulatedClient client, @Nullable Supplier<Duration> page) {
        return read(store(client, page));
    }

    CompletableFuture<TotalsReads.Reading> read(Store store) {
        Tuple all = Tuple.of(List.of());
        return deployment.start(() -> new TotalsReads(store, definition)
                .read(List.of(
                        TotalsReads.Part.of(definition.servedView(), 0, all),
                        TotalsReads.Part.of(definition.servedView(), 1, all))));
    }

    /// The tables as a process sees them to which each page of the totals takes so long.
    Store store(SimulatedClient client, @Nullable Supplier<Duration> page) {
        return new Store(
                page == null ? client : slow(client, page),
                deployment.tables,
                new SimulatedThreads(deployment.time, client),
                new SplittableRandom(7),
                deployment.time);
    }

    private DynamoDbAsyncClient slow(SimulatedClient client, Supplier<Duration> page) {
        return (DynamoDbAsyncClient) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {DynamoDbAsyncClient.class},
                (_, method, arguments) -> arguments != null
                                && arguments[0] instanceof QueryRequest request
                                && request.tableName().equals(deployment.tables.totals())
                        ? client.after(page.get())
                                .thenCompose(_ -> client.query(
                                        request.toBuilder().limit(PAGE).build()))
                        : method.invoke(client, arguments));
    }

    private void put() {
        if (over) {
            return;
        }
        List<Arrival> batch = IntStream.range(0, 20)
                .mapToObj(_ -> new Arrival(
                        "s/shard",
                        Integer.toString(++sequence),
                        0,
                        "{\"id\":\"t%d\",\"v\":1,\"desk\":\"desk%d\",\"book\":\"book%d\",\"value\":1}"
                                .formatted(sequence, sequence % DESKS, sequence % 5)
                                .getBytes(StandardCharsets.UTF_8)))
                .toList();
        var _ = deployment.start(() -> StateAndMap.process(function(), batch));
        deployment.time.schedule(Duration.ofMillis(250), this::put);
    }

    private void ask(SimulatedClient client) {
        if (over) {
            return;
        }
        var _ = read(client, null).handle((_, failure) -> {
            answers += failure == null ? 1 : 0;
            deployment.time.schedule(Duration.ofSeconds(1), () -> ask(client));
            return null;
        });
    }
}
