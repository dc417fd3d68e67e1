package dev.onefold.aws.resync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.form.RowLine;
import dev.onefold.core.pipeline.Pipeline;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

class ResyncTurnTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.count("trades"))
            .build();
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();
    private static final byte[] ROW = RowLine.of("{\"id\":\"a\",\"v\":1}".getBytes(StandardCharsets.UTF_8));
    private static final byte[] LINES =
            (new String(ROW, StandardCharsets.UTF_8) + "\n").getBytes(StandardCharsets.UTF_8);

    private static Store store(String deployment) {
        Store store = DYNAMO.store(deployment);
        AwsEngine.open(store, PIPELINE, 2, 2);
        return store;
    }

    /// The same tables, seen so much later.
    private static Store later(Store store, Duration time) {
        return new Store(
                        store.client(),
                        store.tables(),
                        store.threads(),
                        store.random(),
                        () -> Instant.now().plus(time))
                .with(store.bucket());
    }

    @Test
    void one_re_sync_at_a_time_has_the_turn_until_it_gives_it_back_or_is_not_heard_of() {
        Store store = store("turns");
        ResyncTurn first = ResyncTurn.take(store).orElseThrow();
        assertThat(ResyncTurn.take(store)).isEmpty();
        first.release();
        ResyncTurn second = ResyncTurn.take(store).orElseThrow();
        assertThat(second.number()).isGreaterThan(first.number());
        assertThatThrownBy(first::renew).isInstanceOf(ResyncTurn.Overtaken.class);
        Store late = later(store, ResyncTurn.HELD.plusSeconds(1));
        Optional<ResyncTurn> third = ResyncTurn.take(late);
        assertThat(third).isPresent();
        first.release(); // It is not its own any more.
        assertThat(ResyncTurn.take(store)).isEmpty();
    }

    /// A client whose updates fail from one on, so many times.
    private static DynamoDbAsyncClient failing(DynamoDbAsyncClient client, int from, int times) {
        AtomicInteger updates = new AtomicInteger();
        return (DynamoDbAsyncClient) Proxy.newProxyInstance(
                ResyncTurnTest.class.getClassLoader(),
                new Class<?>[] {DynamoDbAsyncClient.class},
                (_, method, arguments) -> {
                    if (method.getName().equals("updateItem")) {
                        int update = updates.incrementAndGet();
                        if (update >= from && update < from + times) {
                            return CompletableFuture.failedFuture(DynamoDbException.builder()
                                    .message("down just then")
                                    .build());
                        }
                    }
                    return method.invoke(client, arguments);
                });
    }

    @Test
    void a_turn_that_could_not_be_taken_whole_is_given_back() {
        Store store = store("halves");
        Store down = new Store(
                failing(store.client(), 3, 64), store.tables(), store.threads(), store.random(), Instant::now);
        assertThatThrownBy(() -> ResyncTurn.take(down)).hasMessageContaining("down just then");
        assertThat(ResyncTurn.take(store)).isPresent();
    }

    @Test
    void a_repair_of_a_process_that_was_taken_for_dead_is_refused_by_its_own_transaction() {
        Store store = store("fences");
        ResyncTurn dead = ResyncTurn.take(store).orElseThrow();
        ResyncTurn current =
                ResyncTurn.take(later(store, ResyncTurn.HELD.plusSeconds(1))).orElseThrow();
        assertThatThrownBy(() ->
                        RowIntake.ofRepair(store, dead, RecordEnds.LINES).append(RecordKind.ROW, LINES, LINES.length))
                .isInstanceOf(ResyncTurn.Overtaken.class)
                .hasMessageContaining("Another re-sync has begun");
        // As if it was taken for dead between its last renewal and its transaction.
        List<Arrival> repair = List.of(new Arrival("resync/1", "1", 0, ROW, Arrival.NOT_KNOWN, RecordKind.ROW));
        assertThatThrownBy(() -> StateAndMap.repair(store, repair, dead::check)).isInstanceOf(StateAndMap.Fenced.class);
        AwsEngine engine = AwsEngine.deployed(store);
        assertThat(engine.get(List.of("a"))).isEmpty();
        assertThat(RowIntake.ofRepair(store, current, RecordEnds.LINES)
                        .append(RecordKind.ROW, LINES, LINES.length)
                        .counts()
                        .accepted())
                .isOne();
        assertThat(engine.get(List.of("a"))).isPresent();
    }

    @Test
    void a_seeding_runs_until_it_ends_or_is_not_heard_of() {
        Store store = store("leases");
        SeedLease five = SeedLease.begin(store, 5);
        assertThat(SeedLease.isRunning(store, 5)).isFalse();
        assertThat(SeedLease.isRunning(store, 6)).isTrue();
        SeedLease.begin(store, 4).close();
        five.close();
        assertThat(SeedLease.isRunning(store, 6)).isFalse();
        SeedLease killed = SeedLease.begin(store, 7);
        assertThat(SeedLease.isRunning(later(store, SeedLease.HELD.plusSeconds(1)), 8))
                .isFalse();
        killed.renew();
        assertThat(SeedLease.isRunning(store, 8)).isTrue();
    }
}
