package dev.onefold.aws.publication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.publication.Publication.Outcome;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.DeploymentTables;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A published table on DynamoDB Local, beside the answers of its engine.
class PublicationTest {
    private static final Publishing.Items PUBLISHING =
            new Publishing.Items("published-counts", Optional.of(new Publishing.TopList(3, "trades")));
    private static final Pipeline PIPELINE = PipelineBuilder.named("counts")
            .key("id")
            .version("v")
            .delete("gone = true")
            .rollup(rollup -> rollup.levels("desk", "region")
                    .sum("value", "value", 18, 2)
                    .average("mean", "value", 18, 2)
                    .count("trades"))
            .build();

    private final LocalDynamoDb dynamo = new LocalDynamoDb();
    private final Random random = new Random(7);
    private int records;

    private List<Arrival> some(int count) {
        List<Arrival> arrivals = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            records++;
            String record = "{\"id\":%d,\"v\":%d,\"desk\":\"d%d\",\"region\":\"%s\",\"value\":\"%d.5\",\"gone\":%s}"
                    .formatted(
                            random.nextInt(30),
                            records,
                            random.nextInt(4),
                            List.of("", "a/b", "~").get(random.nextInt(3)),
                            random.nextInt(90),
                            random.nextInt(3) == 0);
            arrivals.add(new Arrival("one", Integer.toString(records), 0, record.getBytes(StandardCharsets.UTF_8), 1));
        }
        return arrivals;
    }

    private Map<String, Map<String, AttributeValue>> items() {
        Map<String, Map<String, AttributeValue>> items = new TreeMap<>();
        dynamo.client
                .scan(request -> request.tableName(PUBLISHING.table()).consistentRead(true))
                .join()
                .items()
                .forEach(item -> items.put(item.get("id").s(), item));
        return items;
    }

    private static String text(BigDecimal value) {
        return value.stripTrailingZeros().toPlainString();
    }

    private void requireEqual(AwsEngine engine) {
        Map<String, List<String>> expected = new TreeMap<>();
        for (Answer.Line line : engine.query(Query.all("main")).lines()) {
            List<String> values = new ArrayList<>(line.group());
            line.values().forEach(value -> values.add(value == null ? "none" : text(value)));
            expected.put(line.group().toString(), values);
        }
        Map<String, List<String>> found = new TreeMap<>();
        items().values().stream().filter(item -> item.containsKey("depth")).forEach(item -> {
            List<String> group = new ArrayList<>();
            for (String level : List.of("desk", "region")) {
                if (item.containsKey(level)) {
                    group.add(item.get(level).s());
                }
            }
            List<String> values = new ArrayList<>(group);
            for (String name : List.of("value", "mean", "trades")) {
                values.add(
                        item.containsKey(name)
                                ? text(new BigDecimal(item.get(name).n()))
                                : "none");
            }
            found.put(group.toString(), values);
        });
        assertThat(found).isEqualTo(expected);
        List<String> top = engine.query(new Query("main", List.of(), 2, new Query.Top(3, "trades"))).lines().stream()
                .map(line -> line.group().toString())
                .toList();
        assertThat(items().get("main:top").get("groups").l().stream()
                        .map(group -> List.of(
                                        group.m().get("desk").s(),
                                        group.m().get("region").s())
                                .toString())
                        .toList())
                .isEqualTo(top);
    }

    @Test
    void commits_are_added_to_the_items_of_the_groups_that_they_touched() {
        Store store = dynamo.store("published");
        dynamo.client
                .createTable(DeploymentTables.output(PUBLISHING.table(), List.of("id"), Set.of()))
                .join();
        AwsEngine engine = AwsEngine.open(store, PIPELINE, 3, 4);
        for (int cut = 1; cut <= 15; cut++) {
            StateAndMap.process(store, some(cut == 1 ? 60 : 1 + random.nextInt(5)));
            engine.reduce();
            Outcome outcome = new Publication(store, PUBLISHING).step(Duration.ofMinutes(1), false);
            requireEqual(engine);
            if (cut > 1 && outcome instanceof Outcome.Published published) {
                assertThat(published.items()).isLessThan(items().size() - 3L);
            }
        }
        assertThat(new Publication(store, PUBLISHING).step(Duration.ofMinutes(1), false))
                .isInstanceOf(Outcome.Nothing.class);
        Outcome.Published again =
                (Outcome.Published) new Publication(store, PUBLISHING).step(Duration.ofMinutes(1), true);
        assertThat(again.written() + again.removed()).isZero();
    }
}
