package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// A partition of the table of rows that takes no more for a while.
class ThrottledRowsTest {
    private static final int KEYS = 300;
    private static final Pipeline TRADES = TradeFixtures.COUNTS;

    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TRADES, 3, 4);

    private String total() {
        engine.reduce();
        return engine.query(Query.all("main")).lines().getFirst().values().toString();
    }

    @Test
    void a_throttled_row_holds_up_no_other_row_of_its_batch() {
        List<Arrival> batch = Stream.concat(
                        Stream.of("hot"), IntStream.range(1, KEYS).mapToObj(i -> "t" + i))
                .map(id -> new Arrival(
                        "s/shard",
                        "1" + id.hashCode(),
                        0,
                        "{\"id\":\"%s\",\"v\":1,\"desk\":\"FX\"}".formatted(id).getBytes(StandardCharsets.UTF_8)))
                .toList();
        deployment.dynamo.throttle(item -> item.containsKey("k")
                && new String(item.get("k").b().asByteArray(), StandardCharsets.UTF_8).contains("hot"));
        CompletableFuture<List<Fate>> fates = deployment.start(
                () -> StateAndMap.process(deployment.store(deployment.dynamo.client("function")), batch));
        deployment.time.runFor(Duration.ofSeconds(2));
        assertThat(fates).isNotDone();
        assertThat(total()).isEqualTo("[" + (KEYS - 1) + "]");
        deployment.dynamo.throttle(_ -> false);
        assertThat(deployment.of(fates)).hasSize(KEYS).allMatch(fate -> fate instanceof Fate.Accepted);
        assertThat(total()).isEqualTo("[" + KEYS + "]");
        assertThat(engine.verify().isEqual()).isTrue();
    }
}
