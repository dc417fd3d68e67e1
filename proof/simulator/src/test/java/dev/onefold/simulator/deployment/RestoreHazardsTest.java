package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.Tally.Operation;
import dev.onefold.fakes.aws.table.Tables.Backup;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Tables that are restored from backups: one alone, all, to one moment and to several; then what docs/aws.md says.
class RestoreHazardsTest {
    private static final Pipeline TRADES = TradeFixtures.VALUES;
    private static final int TRADES_MAX = 6;
    private static final int LANES = 3;
    private static final Duration RESTORE = Duration.ofMinutes(5);

    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TRADES, LANES, 4);
    private final Store old = deployment.function();

    private static List<Arrival> trades(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> new Arrival(
                        "s/shard",
                        Integer.toString(i + 1),
                        0,
                        "{\"id\":\"t%d\",\"v\":1,\"desk\":\"FX\",\"value\":1}"
                                .formatted(i)
                                .getBytes(StandardCharsets.UTF_8)))
                .toList();
    }

    private void process(int from, int to) {
        StateAndMap.process(deployment.function(), trades(from, to));
    }

    private String total() {
        return engine.query(Query.all("main")).lines().getFirst().values().toString();
    }

    private Backup rows() {
        return deployment.dynamo.backup(deployment.tables.rows());
    }

    private Backup totals() {
        return deployment.dynamo.backup(deployment.tables.totals());
    }

    private Backup deltas() {
        return deployment.dynamo.backup(deployment.tables.deltas());
    }

    private Backup letters() {
        return deployment.dynamo.backup(deployment.tables.letters());
    }

    /// As AWS does it: under the old names there are other tables, and for some minutes none.
    private void restore(Backup... backups) {
        Stream.of(backups).forEach(backup -> deployment.dynamo.restore(backup, RESTORE));
        deployment.time.runFor(RESTORE);
    }

    /// As somebody may do it by hand: the items of the table are replaced, and the table is the same.
    private void writeOver(Backup backup, String... keys) {
        Store person = deployment.function();
        deployment.dynamo.backup(backup.table()).items().forEach(item -> {
            Map<String, AttributeValue> key = new HashMap<>(item);
            key.keySet().retainAll(List.of(keys));
            deployment.of(
                    person.client().deleteItem(d -> d.tableName(backup.table()).key(key)));
        });
        backup.items()
                .forEach(item -> deployment.of(
                        person.client().putItem(p -> p.tableName(backup.table()).item(item))));
    }

    /// As the audit of a day does: another view is filled, compared, and cleaned away.
    private void audit() {
        for (int i = 0; i < 4; i++) {
            Upkeep.step(deployment.function(), TRADES, i == 0 ? 1 : 0, () -> true, _ -> {});
        }
    }

    private void requireUnanswered() {
        assertThatThrownBy(this::total).hasMessageContaining("'onefold aws restored'");
        assertThatThrownBy(engine::verify).hasMessageContaining("'onefold aws restored'");
        assertThatThrownBy(() -> Upkeep.step(deployment.function(), TRADES, 1, () -> true, _ -> {}))
                .hasMessageContaining("'onefold aws restored'");
    }

    /// Neither a new process nor one that was there before does anything.
    private void requireRefused() {
        requireUnanswered();
        for (Store process : List.of(deployment.function(), old)) {
            assertThatThrownBy(() -> StateAndMap.process(process, trades(0, 1)))
                    .hasMessageContaining("'onefold aws restored'");
            assertThatThrownBy(() -> Reduce.lane(process, 0)).hasMessageContaining("'onefold aws restored'");
        }
    }

    /// What docs/aws.md says.
    private void requireMended() {
        Restored.begin(deployment.function());
        engine.rebuild();
        requireRightAfterReplay();
    }

    private void requireRightAfterReplay() {
        process(0, TRADES_MAX);
        engine.reduce();
        assertThat(total()).isEqualTo("[6.00, 6]");
        assertThat(engine.verify().isEqual()).isTrue();
        audit();
        assertThat(total()).isEqualTo("[6.00, 6]");
        assertThat(deltas().items()).isEmpty();
        assertThat(totals().items())
                .allMatch(item ->
                        item.get("p").s().matches("headers|" + definition().served() + "/.*"));
    }

    private long refusedTransactions() {
        return deployment.dynamo.tally().failures().getOrDefault(Operation.TRANSACT_WRITE_ITEMS, 0L);
    }

    private Definition definition() {
        return new Definitions(deployment.function()).findAnyhow().orElseThrow();
    }

    @Test
    void rows_that_were_restored_alone_are_refused_and_then_right() {
        process(0, 4);
        engine.reduce();
        Backup rows = rows();
        process(4, 6);
        engine.rebuild(); // View 2 serves, and view 1 is cleaned away.
        audit();
        assertThat(total()).isEqualTo("[6.00, 6]");
        restore(rows);
        requireRefused();
        requireMended();
    }

    @Test
    void totals_that_were_restored_alone_are_refused_and_then_right() {
        process(0, 4);
        engine.reduce();
        Backup totals = totals();
        process(4, 6);
        engine.reduce();
        engine.rebuild();
        restore(totals);
        requireRefused();
        requireMended();
    }

    @Test
    void deltas_that_were_restored_alone_are_refused_and_then_right() {
        process(0, 4);
        Backup deltas = deltas();
        engine.reduce();
        process(4, 6);
        engine.reduce();
        restore(deltas);
        requireRefused();
        requireMended();
    }

    @Test
    void letters_that_were_restored_alone_are_refused_until_it_is_said_that_they_were() {
        process(0, 4);
        restore(letters());
        requireRefused();
        requireMended();
    }

    @Test
    void tables_that_were_restored_to_several_moments_are_refused_and_then_right() {
        process(0, 2);
        Backup totals = totals();
        Backup deltas = deltas();
        engine.reduce();
        engine.rebuild();
        audit(); // The view of these deltas is cleaned away.
        Backup rows = rows();
        process(2, 4);
        engine.reduce();
        engine.rebuild();
        process(4, 6);
        engine.rebuild();
        restore(totals, rows, deltas);
        requireRefused();
        requireMended();
    }

    /// No item of any table says that the others are of another time.
    @Test
    void tables_that_were_restored_to_two_moments_of_one_definition_are_refused_and_then_right() {
        process(0, 2);
        engine.reduce();
        Backup totals = totals();
        Backup deltas = deltas();
        process(2, 4);
        engine.reduce();
        Backup rows = rows();
        process(4, 6);
        engine.reduce();
        restore(rows, deltas, totals);
        requireRefused();
        requireMended();
    }

    @Test
    void tables_that_were_restored_to_one_moment_are_refused_and_then_right() {
        process(0, 3);
        engine.reduce();
        process(3, 5);
        Backup[] all = {rows(), deltas(), totals(), letters()};
        engine.reduce();
        engine.rebuild();
        process(5, 6);
        restore(all);
        requireRefused();
        requireMended();
    }

    @Test
    void totals_and_deltas_that_were_replaced_by_empty_tables_are_refused_and_then_right() {
        process(0, 6);
        engine.reduce();
        engine.rebuild();
        restore(new Backup(deployment.tables.totals(), List.of()), new Backup(deployment.tables.deltas(), List.of()));
        requireRefused();
        requireMended();
    }

    @Test
    void rows_that_were_replaced_by_an_empty_table_begin_nothing_anew() {
        process(0, 6);
        engine.reduce();
        Backup rows = rows();
        restore(new Backup(deployment.tables.rows(), List.of()));
        Store empty = deployment.function();
        assertThatThrownBy(() -> new Definitions(empty).openOrCreate(TRADES, LANES, 4))
                .hasMessageContaining("Restore it from a backup");
        assertThatThrownBy(() -> Restored.begin(empty)).hasMessageContaining("restore it from a backup");
        restore(rows);
        requireRefused();
        requireMended();
    }

    @Test
    void totals_of_which_a_part_of_a_transaction_was_restored_are_right() {
        process(0, 6);
        engine.reduce();
        Backup before = totals();
        total();
        process(0, 6);
        engine.rebuild();
        List<Map<String, AttributeValue>> torn = Stream.concat(
                        before.items().stream().limit(2),
                        totals().items().stream().skip(3))
                .toList();
        restore(new Backup(deployment.tables.totals(), torn));
        requireRefused();
        requireMended();
    }

    @Test
    void items_that_were_written_over_in_place_are_noticed_when_the_definition_was_another() {
        process(0, 4);
        engine.reduce();
        Backup rows = rows();
        Backup totals = totals();
        process(4, 6);
        engine.rebuild();
        writeOver(rows, "k");
        requireUnanswered();
        requireMended();
        writeOver(totals, "p", "g");
        requireUnanswered();
        requireMended();
    }

    @Test
    void a_rebuild_alone_is_right_too_where_items_were_written_over_in_place() {
        process(0, 4);
        engine.reduce();
        Backup rows = rows();
        process(4, 6);
        engine.rebuild();
        writeOver(rows, "k");
        requireUnanswered();
        engine.rebuild();
        requireRightAfterReplay();
    }

    /// The numbers of views, epochs and commits of before are given again; who knows them comes too late.
    @Test
    void whoever_began_before_a_restore_changes_nothing_after_it() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        process(0, 3);
        engine.reduce();
        process(3, 5);
        Backup[] all = {rows(), deltas(), totals()};
        engine.reduce();
        engine.rebuild();
        new Definitions(deployment.function())
                .replace(definition().servingOnly(definition().served()));
        Definition both = definition().withView(TRADES, 1, "somebody");
        new Definitions(deployment.function()).replace(both);
        for (int micros = 500; micros < 40_000; micros += 1_000) {
            int key = TRADES_MAX + micros;
            SimulatedClient zombie = deployment.dynamo.client("zombie");
            Store store = deployment.store(zombie);
            new Definitions(store).load();
            int lane = micros % LANES;
            var _ = deployment.start(() -> StateAndMap.process(store, trades(key, key + 1)));
            var _ = deployment.start(() -> Reduce.lane(store, lane));
            deployment.time.runFor(Duration.ofNanos(micros * 1_000L));
            deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL).with(Fault.ZOMBIE, 1));
            deployment.time.runFor(Duration.ofMillis(40));
            zombie.kill();
            deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        }
        restore(all);
        Restored.begin(deployment.function());
        engine.rebuild();
        assertThat(definition().epoch()).isEqualTo(both.epoch()); // As what is on its way expects it.
        assertThat(definition().served()).isGreaterThan(both.last());
        long refused = refusedTransactions();
        deployment.time.runFor(Duration.ofMinutes(30));
        assertThat(refusedTransactions()).as("zombies").isGreaterThanOrEqualTo(refused + 8);
        process(0, TRADES_MAX);
        engine.reduce();
        assertThat(total()).isEqualTo("[6.00, 6]");
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void whoever_changes_the_definition_from_before_a_restore_changes_nothing() {
        process(0, 3);
        Backup rows = rows();
        engine.rebuild();
        new Definitions(deployment.function())
                .replace(definition().servingOnly(definition().served()));
        Definition both = definition().withView(TRADES, 1, "somebody");
        new Definitions(deployment.function()).replace(both);
        Definition lost = both.servingOnly(both.last()); // Its maker never came to write it.
        restore(rows);
        Restored.begin(deployment.function());
        engine.rebuild();
        Definition now = definition();
        assertThat(now.epoch()).isEqualTo(lost.epoch() - 1);
        Definitions late = new Definitions(deployment.function());
        assertThat(late.replace(lost)).isEqualTo(now);
        late.moveGates(lost);
        requireRightAfterReplay();
    }

    /// The number of the last commit is the same.
    @Test
    void a_reduce_that_has_seen_another_incarnation_deletes_no_delta_of_this_one() {
        process(0, 1);
        engine.reduce();
        String now = definition().incarnation().id();
        long refused = 0;
        for (int micros = 9_000; micros < 45_000; micros += 3_000) {
            process(micros, micros + 1);
            Backup before = totals();
            headers(before, "another");
            List<Map<String, AttributeValue>> seen = totals().items();
            SimulatedClient zombie = deployment.dynamo.client("zombie");
            Store store = deployment.store(zombie);
            deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
            for (int lane = 0; lane < LANES; lane++) {
                int number = lane;
                var _ = deployment.start(() -> Reduce.lane(store, number));
            }
            deployment.time.runFor(Duration.ofNanos(micros * 1_000L));
            deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL).with(Fault.ZOMBIE, 1));
            deployment.time.runFor(Duration.ofMillis(40));
            zombie.kill();
            deployment.dynamo.inject(Faults.none());
            boolean isInTime = !totals().items().equals(seen);
            headers(totals(), now);
            if (isInTime) {
                engine.rebuild(); // The delta is gone, as it must be: it was of another incarnation then.
            } else {
                long soFar = refusedTransactions();
                deployment.time.runFor(Duration.ofMinutes(30));
                refused += refusedTransactions() - soFar;
                engine.reduce();
                assertThat(engine.verify().isEqual()).isTrue();
            }
        }
        assertThat(refused).as("zombies").isPositive();
    }

    private void headers(Backup totals, String incarnation) {
        totals.items().stream()
                .filter(item -> item.get("p").s().equals("headers") && item.containsKey("n"))
                .forEach(item -> {
                    Map<String, AttributeValue> other = new HashMap<>(item);
                    other.put("i", AttributeValue.fromS(incarnation));
                    deployment.of(deployment
                            .function()
                            .client()
                            .putItem(
                                    p -> p.tableName(deployment.tables.totals()).item(other)));
                });
    }

    @Test
    void wherever_it_is_stopped_it_answers_nothing_wrong_and_can_be_done_again() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        process(0, 6);
        engine.reduce();
        Backup rows = rows();
        for (int millis = 1; millis < 150; millis += 11) {
            restore(rows);
            SimulatedClient dying = deployment.dynamo.client("person");
            var _ = deployment.start(() -> Restored.begin(deployment.store(dying)));
            deployment.time.runFor(Duration.ofMillis(millis));
            dying.kill();
            requireUnanswered();
            Restored.begin(deployment.function());
            requireUnanswered();
            engine.rebuild();
            assertThat(total()).isEqualTo("[6.00, 6]");
            rows = rows();
        }
    }

    /// One of them at least; the other is reported.
    @Test
    void two_people_at_once_end_in_one_incarnation() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        process(0, 6);
        restore(rows());
        var one = deployment.start(() -> Restored.begin(deployment.function()));
        var two = deployment.start(() -> Restored.begin(deployment.function()));
        deployment.time.runFor(Duration.ofMinutes(1));
        assertThat(one.isCompletedExceptionally() && two.isCompletedExceptionally())
                .isFalse();
        engine.rebuild();
        requireRightAfterReplay();
    }

    @Test
    void what_was_restored_is_told_and_only_that() {
        process(0, 6);
        engine.reduce();
        assertThat(Restored.look(deployment.function())).noneMatch(Restored.Found::isOther);
        assertThat(Restored.isWhole(deployment.function())).isTrue();
        restore(rows());
        assertThat(Restored.look(deployment.function()).stream()
                        .filter(Restored.Found::isOther)
                        .map(found -> found.table().name()))
                .containsExactly(deployment.tables.rows());
        requireMended();
        assertThat(Restored.look(deployment.function())).noneMatch(Restored.Found::isOther);
        assertThat(Restored.isWhole(deployment.function())).isTrue();
    }
}
