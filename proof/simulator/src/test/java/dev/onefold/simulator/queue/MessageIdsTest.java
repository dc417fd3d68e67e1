package dev.onefold.simulator.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.simulator.deployment.Deployment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/// Records that count by what their source names them by, on AWS: `id: message`.
class MessageIdsTest {
    private static final Pipeline COUNT = PipelineBuilder.named("clicks")
            .idOfMessage()
            .rollup(rollup -> rollup.count("clicks"))
            .build();

    private final Deployment deployment = Deployment.calm();

    private static Arrival record(String shard, String sequence, long subSequence, String body) {
        return new Arrival(shard, sequence, subSequence, body.getBytes(StandardCharsets.UTF_8));
    }

    private <T> T in(Function<Store, T> function) {
        CompletableFuture<T> done = new CompletableFuture<>();
        Store store = deployment.process(deployment.dynamo.client("function"));
        var _ = deployment.start(() -> done.complete(function.apply(store)));
        return deployment.time.runUntil(done);
    }

    @Test
    void each_record_of_a_stream_counts_once_by_shard_sequence_and_sub_sequence_number() {
        AwsEngine engine = deployment.engine(COUNT, 3, 4);
        List<Arrival> batch = List.of(
                record("s/shard-1", "7", 0, "{}"),
                record("s/shard-1", "7", 1, "{}"),
                record("s/shard-2", "7", 0, "{}"),
                record("s/shard-1", "8", 0, "{}"));
        List<Fate> first = in(store -> StateAndMap.process(store, batch));
        List<Fate> again = in(store -> StateAndMap.process(store, batch));
        assertThat(first).allMatch(fate -> fate instanceof Fate.Accepted);
        assertThat(again).allMatch(fate -> fate instanceof Fate.Duplicate);
        engine.reduce();
        assertThat(engine.query(Query.all("main")).lines().getFirst().values()).hasToString("[4]");
        assertThat(engine.get(List.of("s/shard-1:7:1"))).isPresent();
    }

    @Test
    void each_message_of_a_queue_is_collected_once_by_its_id_also_when_another_queue_gives_it() {
        String text = "{\"pipeline\":\"clicks\",\"input\":{\"id\":\"message\"},\"batch\":{\"size\":5,"
                + "\"receiver\":\"once\",\"deliver\":{\"http\":\"http://host/x\"}}}";
        Pipeline pipeline = ((Reading.Read) PipelineText.read(text)).pipeline();
        String first = "f5dd2c3e-8b5a-4b52-8f4c-0e2f5a1f7a11";
        List<Arrival> messages = List.of(
                record("orders", first, 0, "{}"),
                record("orders", first, 0, "{}"),
                record("orders-aside", first, 0, "{}"),
                record("orders", "0a8b1c77-3a46-4a2e-9d52-2f6f6d1c3b22", 0, "{}"));
        var collected = in(store -> new Collect(store, pipeline, 4).collect(messages));
        assertThat(collected.fates()).containsOnly(Collect.Fate.RECORDED);
        long claims = deployment
                .time
                .runUntil(deployment.dynamo.client("r").scan(scan -> scan.tableName(deployment.tables.rows())))
                .items()
                .stream()
                .filter(item -> item.containsKey("h"))
                .count();
        assertThat(claims).isEqualTo(2);
    }
}
