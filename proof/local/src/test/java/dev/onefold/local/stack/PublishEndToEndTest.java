package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.store.Queries;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.local.function.FunctionFaults;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The same as [EndToEndTest], where the totals are published, too. Only in the campaign, because most of it is the
/// same.
class PublishEndToEndTest {
    private static final int SANDBOXES = 2;
    private static final String TABLE = "trade-counts";
    private static final Pipeline PIPELINE = new Pipeline(
            Trades.PIPELINE.name(),
            Trades.PIPELINE.input(),
            Trades.PIPELINE.fold(),
            new Publishing.Items(TABLE, Optional.of(new Publishing.TopList(3, "trades"))));

    private static Map<String, AttributeValue> item(LocalDeployment deployment, String id) {
        return deployment
                .store()
                .client()
                .getItem(get -> get.tableName(TABLE)
                        .key(Map.of("id", AttributeValue.fromS(id)))
                        .consistentRead(true))
                .join()
                .item();
    }

    /// The values of each published group, in the order of [Trades#totals].
    private static Map<String, List<BigDecimal>> published(LocalDeployment deployment) {
        Map<String, List<BigDecimal>> groups = new TreeMap<>();
        Queries.scan(
                deployment.store(),
                TABLE,
                page -> page.stream()
                        .filter(item -> item.containsKey("depth"))
                        .forEach(item -> groups.put(
                                item.get("id").s(),
                                Stream.of("value", "trades", "largest", "books")
                                        .map(name ->
                                                new BigDecimal(item.get(name).n()).stripTrailingZeros())
                                        .toList())));
        return groups;
    }

    private static Map<String, List<BigDecimal>> expected(Trades trades) {
        Map<String, List<BigDecimal>> groups = new TreeMap<>();
        trades.totals()
                .forEach((group, values) -> groups.put(
                        Stream.concat(Stream.of("main"), group.stream()).collect(Collectors.joining("/")),
                        values.stream().map(BigDecimal::stripTrailingZeros).toList()));
        return groups;
    }

    @Test
    @Tag("campaign")
    void whatever_fails_on_the_way_the_published_items_become_the_totals() throws IOException {
        long seed = 7;
        StackFaults faults = new StackFaults(
                seed, EndToEnd.FAULTS, new FunctionFaults(40, 40, 20, 10), new FunctionFaults(30, 30, 0, 0), 0.03);
        try (LocalDeployment deployment = LocalDeployment.open(
                "trades",
                Template.of(PIPELINE, Input.NEW_STREAM).yaml(),
                Map.of("BatchSize", "200", "ParallelizationFactor", "2", "Gates", "64", "TickMinutes", "1"),
                Parts.machine(SANDBOXES),
                faults)) {
            Trades trades = new Trades(300, seed);
            deployment.put(Trades.PIPELINE, trades.records.iterator(), _ -> {});
            deployment.drained(Duration.ofMinutes(5)).join();
            EndToEnd.assertRight(deployment, trades.totals());
            long end = System.nanoTime() + Duration.ofMinutes(3).toNanos();
            while (!published(deployment).equals(expected(trades)) && System.nanoTime() < end) {
                Thread.onSpinWait(); // The next wake-up, or tick, publishes it.
            }
            assertThat(published(deployment)).isEqualTo(expected(trades));
            assertThat(item(deployment, "main:top").get("groups").l()).hasSize(3);
            assertThat(item(deployment, ":onefold")).containsKeys("cut", "cut_at");
            assertThat(EndToEnd.unused(deployment))
                    .filteredOn(unused -> unused.startsWith("PublishRole Published"))
                    // No group has gone, and with min, max and distinct no item is read to add to it.
                    .allMatch(unused -> unused.contains("DeleteItem") || unused.contains("BatchGetItem"));
            assertThat(deployment.usage().refused()).isEmpty();
        }
    }
}
