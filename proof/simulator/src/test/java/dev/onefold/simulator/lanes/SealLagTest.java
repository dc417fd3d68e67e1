package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.function.Metrics;
import dev.onefold.aws.function.SealFunction;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.simulator.deployment.Deployment;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class SealLagTest {
    private final Deployment deployment = Deployment.calm();

    private static Pipeline pipeline() {
        String text = "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":5,"
                + "\"wait\":\"2m\",\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"idempotent\"}}";
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    private <T> T in(Function<Store, T> work) {
        CompletableFuture<T> done = new CompletableFuture<>();
        Store store = deployment.process(deployment.dynamo.client("sandbox"));
        var _ = deployment.start(() -> {
            try {
                done.complete(work.apply(store));
            } catch (RuntimeException e) {
                done.completeExceptionally(e);
            }
        });
        return deployment.time.runUntil(done);
    }

    @Test
    void a_seal_that_fails_at_each_tick_says_how_late_it_is() {
        in(store -> BatchDefinition.openOrCreate(store, pipeline(), 1));
        Arrival arrival = new Arrival("queue", "m", 0, "{\"id\":\"1\"}".getBytes(StandardCharsets.UTF_8));
        in(store -> new Collect(store, pipeline(), 1).collect(List.of(arrival)));
        deployment.of(deployment
                .dynamo
                .client("person")
                .deleteItem(
                        request -> request.tableName(deployment.tables.rows()).key(RowItem.other("chunk/0/0"))));
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        Metrics metrics = new Metrics(new PrintStream(log, true, StandardCharsets.UTF_8), "it");
        SealFunction seal = in(store -> new SealFunction(store, pipeline(), metrics));
        for (int tick = 0; tick < 2; tick++) {
            assertThatThrownBy(() -> in(_ -> seal.handle("{}".getBytes(StandardCharsets.UTF_8))))
                    .isNotNull();
            deployment.time.runFor(Duration.ofHours(1));
        }
        assertThat(log.toString(StandardCharsets.UTF_8)).contains("OldestUnsealedMs");
    }
}
