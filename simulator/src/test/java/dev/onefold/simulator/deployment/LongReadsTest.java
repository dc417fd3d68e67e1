package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.Arrival;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Store;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Stored;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.reduce.Delays;
import dev.onefold.aws.reduce.Lag;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.simulator.aws.SimulatedClient;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/// One answer takes longer to read than the next closings of epochs, beside people who ask all the time.
class LongReadsTest {
    private static final int LANES = 4;
    private static final int READERS = 50;
    private static final int DESKS = 12;
    private static final int PAGE = 6;
    private static final Duration LAG_MAX = Duration.ofSeconds(4);
    private static final Pipeline TRADES = Pipeline.named("trades")
            .key("id")
            .version("v")
            .rollup("desks", r -> r.levels("desk").sum("value", "value", 20, 2).count("trades"))
            .rollup("books", r -> r.levels("book").count("trades"))
            .build();

    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TRADES, LANES, 64);
    private final Definition definition = deployment.of(new Definitions(function()).load());
    private int sequence;
    private int answers;
    private int held;
    private boolean over;

    private static Duration pageTakes() {
        return Duration.ofSeconds(3);
    }

    private Store function() {
        return deployment.store(deployment.dynamo.client("function"));
    }

    @Test
    void an_answer_whose_pages_take_three_seconds_is_whole_while_fifty_readers_ask_each_second() {
        live(READERS);
        SimulatedClient client = deployment.dynamo.client("long");
        Instant start = deployment.time.instant();
        TotalsReads.Reading reading = deployment.of(read(client, LongReadsTest::pageTakes));
        requireWhole(reading);
        assertThat(Duration.between(start, deployment.time.instant())).isLessThan(Duration.ofSeconds(30));
        assertThat(Duration.between(reading.at(), deployment.time.instant())).isLessThan(Duration.ofSeconds(20));
        end();
    }

    @Test
    @Tag("campaign")
    void a_long_reader_that_has_died_holds_up_neither_reduce_nor_others_and_its_copies_go() {
        live(10);
        SimulatedClient dying = deployment.dynamo.client("dying");
        var _ = read(dying, LongReadsTest::pageTakes);
        Instant patience = deployment.time.instant().plusSeconds(30);
        while (held == 0 && deployment.time.instant().isBefore(patience)) {
            deployment.time.runFor(Duration.ofMillis(100));
        }
        assertThat(held).as("items with a copy for the reader").isPositive();
        dying.kill();
        int before = answers;
        requireWhole(deployment.of(read(deployment.dynamo.client("long"), LongReadsTest::pageTakes)));
        assertThat(answers - before).isGreaterThan(10);
        deployment.time.runFor(Duration.ofSeconds(13)); // Nobody renews the hold.
        held = 0;
        deployment.time.runFor(Duration.ofSeconds(3));
        assertThat(held).as("items that still get copies, or keep them").isZero();
        end();
    }

    @Test
    @Tag("campaign")
    void an_answer_that_takes_minutes_is_given_up_with_what_to_do() {
        live(5);
        SimulatedClient client = deployment.dynamo.client("long");
        assertThatThrownBy(() -> deployment.of(read(client, () -> Duration.ofSeconds(held > 0 ? 130 : 3))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("This answer took longer to read than 120 s")
                .hasMessageContaining("Ask for less");
        end();
    }

    /// The mark that asks for a pause stays when its reader dies. Reduce waits a third of a second at most, once.
    @Test
    void a_reader_that_dies_after_it_has_asked_for_a_pause_does_not_stop_reduce() {
        live(5);
        SimulatedClient dying = deployment.dynamo.client("dying");
        Store store = deployment.store(dying);
        List<Header> headers = headers();
        // What a reader sends before it dies: it has asked, and will not close.
        headers.forEach(header -> deployment.of(
                dying.updateItem(request -> request.tableName(store.tables().totals())
                        .key(Header.keyOf(header.lane()))
                        .updateExpression("SET " + Header.ASKED + " = :one")
                        .expressionAttributeValues(Map.of(":one", AttributeValue.fromN("1"))))));
        dying.kill();
        deployment.time.runFor(Duration.ofSeconds(2));
        assertThat(headers()).allSatisfy(header -> {
            assertThat(header.isAsked()).isFalse();
            assertThat(header.last()).isGreaterThan(headers.get(header.lane()).last());
        });
        end();
    }

    private List<Header> headers() {
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

    private void live(int readers) {
        deployment.dynamo.inject(AwsFigures.latency(Duration.ofMillis(100)));
        deployment.dynamo.onWrite(deployment.tables.totals(), change -> {
            boolean isItem = change.after() != null && change.after().containsKey("r");
            held += isItem && change.after().containsKey(Stored.HELD) ? 1 : 0;
        });
        IntStream.range(0, LANES).forEach(this::reduce);
        put();
        for (int reader = 0; reader < readers; reader++) {
            SimulatedClient client = deployment.dynamo.client("reader");
            deployment.time.schedule(Duration.ofMillis(1_000L * reader / readers), () -> ask(client));
        }
        deployment.time.runFor(Duration.ofSeconds(3));
    }

    /// Totals are right, and late by no more than they ever are.
    private void end() {
        assertThat(deployment.of(Lag.of(function(), LANES))).isLessThan(LAG_MAX);
        over = true;
        deployment.time.runFor(Duration.ofSeconds(5));
        engine.reduce();
        assertThat(engine.query(Query.all("desks")).lines().getFirst().values().getLast())
                .isEqualByComparingTo(BigDecimal.valueOf(sequence));
        assertThat(engine.verify().differences()).isEmpty();
    }

    /// Both roll-ups of one instant have counted the same trades.
    private static void requireWhole(TotalsReads.Reading reading) {
        List<Long> trades = reading.totals().stream()
                .map(totals -> totals.leaves().values().stream()
                        .mapToLong(Aggregate::rows)
                        .sum())
                .toList();
        assertThat(trades.getFirst()).isPositive().isEqualTo(trades.getLast());
    }

    private CompletableFuture<TotalsReads.Reading> read(SimulatedClient client, @Nullable Supplier<Duration> page) {
        Store store = new Store(
                page == null ? client : slow(client, page),
                deployment.tables,
                client::after,
                new SplittableRandom(7),
                deployment.time,
                Store.DELTAS_PER_COMMIT_MAX);
        Tuple all = Tuple.of(List.of());
        return new TotalsReads(store, definition)
                .read(List.of(
                        TotalsReads.Part.of(definition.servedView(), 0, all),
                        TotalsReads.Part.of(definition.servedView(), 1, all)));
    }

    /// A client whose answers are of few items, each of which takes long to come.
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
        var _ = StateAndMap.process(function(), batch);
        deployment.time.schedule(Duration.ofMillis(100), this::put);
    }

    private void reduce(int lane) {
        if (over) {
            return;
        }
        var _ = Reduce.lane(function(), lane, Duration.ofSeconds(2), new Delays())
                .handle((_, _) -> {
                    deployment.time.schedule(Duration.ofMillis(250), () -> reduce(lane));
                    return null;
                });
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
