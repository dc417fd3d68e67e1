package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Cutter;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.batch.IdRemoval;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.simulator.deployment.Deployment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Ids are forgotten by an invocation that has two minutes. Tables that are slow answer some hundred requests
/// in them.
class SlowForgettingTest {
    private static final int LANES = 4;
    private static final int CHUNK_RECORDS = 98;
    private static final int SIZE = 10 * CHUNK_RECORDS;
    private static final Duration LONG = Duration.ofMinutes(5);

    private final Deployment deployment = Deployment.calm();
    private final Pipeline pipeline = ((Reading.Read) PipelineText.read(
                    "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":" + SIZE
                            + ",\"wait\":\"2m\",\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"idempotent\","
                            + "\"forget\":\"after-delivery\"}}"))
            .pipeline();
    private final Batching batching = (Batching) pipeline.fold();

    private <T> T in(Function<Store, T> function) {
        CompletableFuture<T> done = new CompletableFuture<>();
        Store store = deployment.process(deployment.dynamo.client("sandbox"));
        var _ = deployment.start(() -> done.complete(function.apply(store))).exceptionally(failure -> {
            done.completeExceptionally(failure.getCause());
            return null;
        });
        return deployment.time.runUntil(done);
    }

    private void deliverAll() {
        BatchDefinition _ = in(store -> BatchDefinition.openOrCreate(store, pipeline, LANES));
        for (int first = 0; first < SIZE; first += CHUNK_RECORDS) {
            List<Arrival> arrivals = IntStream.range(first, first + CHUNK_RECORDS)
                    .mapToObj(this::arrival)
                    .toList();
            in(store -> new Collect(store, pipeline, LANES).collect(arrivals));
        }
        deployment.time.runFor(LONG);
        int _ = in(store -> new Cutter(store, batching, LANES).run());
        deployment.time.runFor(LONG);
        Deliver.Receiver receiver = new Deliver.Receiver(new DeliveryRules(batching, null), _ -> new Outcome.Done());
        int _ = in(store -> new Deliver(store, pipeline, receiver, new Deliver.Limits(LONG, LONG)).run(() -> LONG));
    }

    private Arrival arrival(int number) {
        byte[] body = ("{\"id\":\"" + number + "\"}").getBytes(StandardCharsets.UTF_8);
        return new Arrival(
                "queue", "m-" + number, 0, body, deployment.time.instant().toEpochMilli());
    }

    /// Each look at the clock takes a millisecond.
    private void forgetWithin(Duration most) {
        AtomicLong nowMs = new AtomicLong(deployment.time.instant().toEpochMilli());
        int _ = in(store -> {
            InstantSource clock = () -> Instant.ofEpochMilli(nowMs.incrementAndGet());
            Store slow = new Store(store.client(), store.tables(), store.threads(), new SplittableRandom(1), clock);
            new IdRemoval(slow, batching, LANES).run(most);
            return 0;
        });
    }

    private int items() {
        AtomicInteger items = new AtomicInteger();
        return in(store -> {
            Queries.scan(store, store.tables().rows(), page -> items.addAndGet(page.size()));
            return items.get();
        });
    }

    @Test
    void between_some_hundred_ids_it_is_asked_whether_there_is_time_to_forget_more() {
        deliverAll();
        int before = items();
        for (int most = 1; items() == before; most++) {
            forgetWithin(Duration.ofMillis(most));
        }
        assertThat(before - items()).as("of one invocation").isBetween(1, SIZE / 2);
        forgetWithin(LONG);
        assertThat(before - items()).as("in the end").isGreaterThan(SIZE - CHUNK_RECORDS);
    }
}
