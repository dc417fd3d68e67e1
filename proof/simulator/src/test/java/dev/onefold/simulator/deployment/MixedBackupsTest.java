package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.letter.AsideKeys;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.Truth;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A backup of a table holds some rows of before another view began to serve and others of after it; a transaction that
/// is on its way for longer than anybody waits leaves the same. Rows that lack the served view stop nobody.
class MixedBackupsTest {
    private static final int KEYS = 12;
    private static final Pipeline BEFORE = pipeline("");
    private static final Pipeline AFTER = pipeline(",\"n\":\"count()\"");

    private Deployment deployment = Deployment.calm();

    private static Pipeline pipeline(String more) {
        String text =
                "{\"pipeline\":\"it\",\"input\":{\"key\":\"id\",\"version\":\"v\"},\"rollup\":{\"levels\":[\"desk\"],"
                        + "\"measures\":{\"value\":\"sum(value) decimal(18,2)\"" + more + "}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> read;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private static Arrival arrival(int key, int version) {
        return new Arrival(
                "s/shard",
                Integer.toString(key * 1_000 + version),
                0,
                "{\"id\":\"k%d\",\"v\":%d,\"desk\":\"d\",\"value\":%d}"
                        .formatted(key, version, version)
                        .getBytes(StandardCharsets.UTF_8));
    }

    private static List<Arrival> all(int version) {
        return IntStream.range(0, KEYS).mapToObj(key -> arrival(key, version)).toList();
    }

    private Store process() {
        return deployment.process(deployment.dynamo.client("process"));
    }

    private List<Fate> take(List<Arrival> arrivals) {
        return StateAndMap.process(process(), arrivals);
    }

    private AwsEngine engine() {
        return AwsEngine.deployed(process());
    }

    private String total() {
        engine().reduce();
        return engine().query(Query.all("main")).lines().getFirst().values().toString();
    }

    private void upkeep() {
        for (int tick = 0; tick < 9; tick++) {
            Upkeep.step(process(), AFTER, 0, () -> true, _ -> {});
        }
    }

    /// Rows of version 2 of each key under the pipeline of after; but the row of key 0 as it was under the one before.
    private Map<String, AttributeValue> mixed() {
        AwsEngine.open(process(), BEFORE, 2, 8);
        take(all(2));
        engine().reduce();
        Map<String, AttributeValue> before = rowOfKey0();
        upkeep();
        return before;
    }

    private Map<String, AttributeValue> rowOfKey0() {
        return deployment.dynamo.backup(deployment.tables.rows()).items().stream()
                .filter(item -> new String(Items.bytes(item, "k"), StandardCharsets.UTF_8).endsWith("k0"))
                .findFirst()
                .orElseThrow();
    }

    private void put(Map<String, AttributeValue> item) {
        deployment.of(deployment
                .dynamo
                .client("backup")
                .putItem(request -> request.tableName(deployment.tables.rows()).item(item)));
    }

    private void restore(Map<String, AttributeValue> row) {
        deployment.dynamo.restore(deployment.dynamo.backup(deployment.tables.rows()), Duration.ofMinutes(5));
        deployment.time.runFor(Duration.ofMinutes(6));
        put(row);
    }

    private void forgetPipeline() {
        deployment.of(deployment
                .dynamo
                .client("backup")
                .deleteItem(
                        request -> request.tableName(deployment.tables.rows()).key(Definition.pastView(1))));
    }

    private List<DeadLetter> letters() {
        return engine().deadLetters().list(0, 100);
    }

    @Test
    void a_row_that_a_restore_brings_without_the_served_view_is_derived_from_the_view_that_it_has() {
        restore(mixed());
        Restored.takeOver(process());
        assertThat(total()).isEqualTo("[24.00, 12]");
        assertThat(take(all(2))).allMatch(Fate.Duplicate.class::isInstance);
        assertThat(take(all(3))).allMatch(Fate.Accepted.class::isInstance);
        assertThat(total()).isEqualTo("[36.00, 12]");
        assertThat(engine().verify(new Truth.Rows(1)).isEqual()).isTrue();
        assertThat(letters()).isEmpty();
        upkeep();
    }

    @Test
    void a_row_that_comes_late_without_the_served_view_is_added_to_it_by_whoever_meets_it_first() {
        List<Runnable> meetings = List.of(
                () -> assertThat(take(all(2))).allMatch(Fate.Duplicate.class::isInstance),
                () -> assertThat(take(all(1))).allMatch(Fate.Stale.class::isInstance),
                () -> assertThat(engine().verify(new Truth.Rows(1)).isEqual()).isTrue(),
                () -> engine().rebuild(new Truth.Rows(1)));
        for (Runnable meeting : meetings) {
            deployment = Deployment.calm();
            AwsEngine.open(process(), BEFORE, 2, 8);
            take(all(2));
            engine().reduce();
            Map<String, AttributeValue> row = rowOfKey0();
            deployment.of(deployment
                    .dynamo
                    .client("late")
                    .deleteItem(request ->
                            request.tableName(deployment.tables.rows()).key(Map.of("k", Items.require(row, "k")))));
            upkeep();
            assertThat(total()).isEqualTo("[22.00, 11]");
            put(row);
            assertThat(engine().get(List.of("k0"))).isPresent();
            meeting.run();
            assertThat(total()).isEqualTo("[24.00, 12]");
            assertThat(engine().verify(new Truth.Rows(1)).isEqual()).isTrue();
        }
    }

    @Test
    void a_row_of_which_no_pipeline_is_known_is_put_aside_and_every_other_key_goes_on() {
        restore(mixed());
        forgetPipeline();
        Restored.takeOver(process());
        assertThat(total()).isEqualTo("[22.00, 11]");
        assertThat(letters()).extracting(DeadLetter::reason).containsExactly(Reason.REFUSED);
        List<Long> told = new ArrayList<>();
        AsideKeys.tell(process(), told::add);
        AsideKeys.tell(process(), told::add);
        assertThat(told).containsExactly(1L);
        assertThat(engine().get(List.of("k0"))).isEmpty();
        assertThat(take(List.of(arrival(0, 1), arrival(1, 3))))
                .hasExactlyElementsOfTypes(Fate.Stale.class, Fate.Accepted.class);
        assertThat(total()).isEqualTo("[23.00, 11]");
        assertThat(take(List.of(arrival(0, 2)))).hasExactlyElementsOfTypes(Fate.Accepted.class);
        assertThat(total()).isEqualTo("[25.00, 12]");
        assertThat(engine().verify(new Truth.Rows(1)).isEqual()).isTrue();
    }

    @Test
    void state_puts_a_row_aside_that_nobody_can_read() {
        Map<String, AttributeValue> row = mixed();
        forgetPipeline();
        put(row);
        assertThat(take(List.of(arrival(0, 1), arrival(1, 3))))
                .hasExactlyElementsOfTypes(Fate.Stale.class, Fate.Accepted.class);
        assertThat(letters()).extracting(DeadLetter::reason).containsExactly(Reason.REFUSED);
        assertThat(take(List.of(arrival(0, 3)))).hasExactlyElementsOfTypes(Fate.Accepted.class);
    }
}
