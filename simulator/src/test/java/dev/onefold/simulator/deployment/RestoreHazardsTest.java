package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.Arrival;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Store;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Tables that are restored from backups: one alone, all, to one moment and to several; then what docs/aws.md says.
class RestoreHazardsTest {
    private static final Pipeline TRADES = Pipeline.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.levels("desk").sum("value", "value", 20, 2).count("trades"))
            .build();

    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TRADES, 3, 4);

    /// The items of a table at a moment.
    private record Backup(String table, List<String> keys, List<Map<String, AttributeValue>> items) {}

    private Store function() {
        return deployment.store(deployment.dynamo.client("function"));
    }

    private void process(int from, int to) {
        deployment.of(StateAndMap.process(
                function(),
                IntStream.range(from, to)
                        .mapToObj(i -> new Arrival(
                                "s/shard",
                                Integer.toString(i + 1),
                                0,
                                "{\"id\":\"t%d\",\"v\":1,\"desk\":\"FX\",\"value\":1}"
                                        .formatted(i)
                                        .getBytes(StandardCharsets.UTF_8)))
                        .toList()));
    }

    private String total() {
        return engine.query(Query.all("main")).lines().getFirst().values().toString();
    }

    private Backup rows() {
        return backup(deployment.tables.rows(), "k");
    }

    private Backup totals() {
        return backup(deployment.tables.totals(), "p", "g");
    }

    private Backup deltas() {
        return backup(deployment.tables.deltas(), "l", "i");
    }

    private Backup backup(String table, String... keys) {
        return new Backup(
                table,
                List.of(keys),
                deployment
                        .of(function().client().scan(all -> all.tableName(table)))
                        .items());
    }

    private void restore(Backup backup) {
        Store person = function();
        backup(backup.table, backup.keys.toArray(String[]::new)).items.forEach(item -> {
            Map<String, AttributeValue> key = new java.util.HashMap<>(item);
            key.keySet().retainAll(backup.keys);
            deployment.of(
                    person.client().deleteItem(d -> d.tableName(backup.table).key(key)));
        });
        backup.items.forEach(item -> deployment.of(
                person.client().putItem(p -> p.tableName(backup.table).item(item))));
    }

    /// As the audit of a day does: another view is filled, compared, and cleaned away.
    private void audit() {
        for (int i = 0; i < 4; i++) {
            deployment.of(Upkeep.step(function(), TRADES, i == 0 ? 1 : 0, () -> true, _ -> {}));
        }
    }

    private void requireRefused() {
        assertThatThrownBy(this::total).hasMessageContaining("restored").hasMessageContaining("rebuild");
        assertThatThrownBy(engine::verify).hasMessageContaining("restored");
        assertThatThrownBy(() -> deployment.of(Upkeep.step(function(), TRADES, 1, () -> true, _ -> {})))
                .hasMessageContaining("restored");
    }

    private void requireRightAfterRebuild() {
        engine.rebuild();
        process(0, 6); // The replay.
        engine.reduce();
        assertThat(total()).isEqualTo("[6.00, 6]");
        assertThat(engine.verify().isEqual()).isTrue();
        audit();
        assertThat(total()).isEqualTo("[6.00, 6]");
    }

    @Test
    void rows_that_were_restored_alone_are_refused_and_a_rebuild_and_a_replay_are_right() {
        process(0, 4);
        engine.reduce();
        Backup rows = rows();
        process(4, 6);
        engine.rebuild(); // View 2 serves, and view 1 is cleaned away.
        audit();
        assertThat(total()).isEqualTo("[6.00, 6]");
        restore(rows);
        requireRefused();
        requireRightAfterRebuild();
    }

    @Test
    void totals_that_were_restored_alone_are_refused_and_a_rebuild_is_right() {
        process(0, 4);
        engine.reduce();
        Backup totals = totals();
        process(4, 6);
        engine.reduce();
        engine.rebuild();
        restore(totals);
        requireRefused();
        requireRightAfterRebuild();
    }

    @Test
    void deltas_that_were_restored_alone_are_repaired_by_a_rebuild() {
        process(0, 4);
        Backup deltas = deltas();
        engine.reduce();
        process(4, 6);
        engine.reduce();
        restore(deltas);
        requireRightAfterRebuild();
    }

    @Test
    void tables_that_were_restored_to_several_moments_are_right_after_a_rebuild_and_a_replay() {
        process(0, 2);
        Backup totals = totals();
        engine.reduce();
        engine.rebuild();
        Backup rows = rows();
        process(2, 4);
        Backup deltas = deltas();
        engine.reduce();
        engine.rebuild();
        process(4, 6);
        engine.rebuild();
        restore(totals);
        restore(rows);
        restore(deltas);
        requireRightAfterRebuild();
    }

    @Test
    void tables_that_were_restored_to_one_moment_are_right_after_a_rebuild_and_a_replay() {
        process(0, 3);
        engine.reduce();
        process(3, 5);
        List<Backup> all = List.of(rows(), totals(), deltas());
        engine.reduce();
        engine.rebuild();
        process(5, 6);
        all.forEach(this::restore);
        requireRightAfterRebuild();
    }

    @Test
    void totals_and_deltas_that_were_emptied_are_right_after_a_rebuild() {
        process(0, 6);
        engine.reduce();
        engine.rebuild();
        restore(new Backup(deployment.tables.totals(), List.of("p", "g"), List.of()));
        restore(new Backup(deployment.tables.deltas(), List.of("l", "i"), List.of()));
        requireRefused();
        requireRightAfterRebuild();
    }
}
