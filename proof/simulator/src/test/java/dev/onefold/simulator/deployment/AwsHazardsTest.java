package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.Progress;
import dev.onefold.aws.state.RowFill;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.Truth;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.TransactionConflictException;

/// Known ways in which such systems count wrong, each with its schedule, on the simulated service. The number
/// before a test is the hazard's; what depends on a record alone, both runtimes have in common, and stands in
/// `EngineContract`.
class AwsHazardsTest {
    private static final Pipeline TRADES = TradeFixtures.VALUES;

    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TRADES, 3, 4);
    private int sequence;

    private Arrival trade(String id, int version, String desk, int value) {
        return arrival("{\"id\":\"%s\",\"v\":%d,\"desk\":\"%s\",\"value\":%d}".formatted(id, version, desk, value));
    }

    private Arrival arrival(String record) {
        return new Arrival("s/shard", Integer.toString(++sequence), 0, record.getBytes(StandardCharsets.UTF_8));
    }

    private List<Arrival> trades(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> trade("t" + i, 1, "desk" + i % 3, 1))
                .toList();
    }

    private List<Fate> process(List<Arrival> batch) {
        return StateAndMap.process(deployment.function(), batch);
    }

    private String total() {
        engine.reduce();
        return lines().getFirst();
    }

    private List<String> lines() {
        return engine.query(Query.all("main")).lines().stream()
                .map(AwsHazardsTest::text)
                .toList();
    }

    private static String text(Answer.Line line) {
        return String.join("/", line.group()) + "=" + line.values();
    }

    @Test
    void hazard_1_a_batch_that_comes_again_cut_elsewhere_counts_once() {
        List<Arrival> batch = trades(4);
        process(batch);
        process(batch.subList(0, 2));
        process(batch.subList(2, 4));
        assertThat(total()).isEqualTo("=[4.00, 4]");
    }

    @Test
    void hazard_2_and_3_a_retry_after_the_service_has_forgotten_its_token_counts_once() {
        List<Arrival> batch = trades(4);
        process(batch);
        deployment.time.runFor(Duration.ofSeconds(601));
        process(batch);
        assertThat(total()).isEqualTo("=[4.00, 4]");
    }

    @Test
    void hazard_4_and_6_a_request_whose_answer_is_lost_is_looked_up_and_is_its_own() {
        deployment.dynamo.inject(Faults.none().with(Fault.REPLY_LOST, 0.2).with(Fault.ERROR_AFTER, 0.2));
        List<Fate> fates = new ArrayList<>();
        for (Arrival arrival : trades(60)) {
            fates.addAll(process(List.of(arrival)));
        }
        deployment.dynamo.inject(Faults.none());
        assertThat(fates).allMatch(fate -> fate instanceof Fate.Accepted);
        assertThat(total()).isEqualTo("=[60.00, 60]");
    }

    @Test
    void hazard_5_and_15_between_the_row_and_its_delta_there_is_no_instant_to_be_killed_in() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        List<Arrival> batch = trades(20);
        for (int millis = 1; millis < 120; millis += 3) {
            SimulatedClient sandbox = deployment.dynamo.client("sandbox");
            var _ = deployment.start(() -> StateAndMap.process(deployment.store(sandbox), batch));
            deployment.time.runFor(Duration.ofMillis(millis));
            sandbox.kill();
        }
        process(batch);
        assertThat(total()).isEqualTo("=[20.00, 20]");
    }

    @Test
    void hazard_7_what_a_zombie_sends_minutes_later_changes_nothing() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL).with(Fault.ZOMBIE, 0.3));
        for (int version = 1; version <= 20; version++) {
            process(List.of(trade("a", version, "desk" + version % 2, version)));
        }
        deployment.dynamo.inject(Faults.none());
        deployment.time.runFor(Duration.ofHours(2));
        engine.reduce();
        assertThat(lines()).containsExactly("=[20.00, 1]", "desk0=[20.00, 1]");
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void hazard_8_of_two_functions_on_the_same_keys_at_once_no_update_is_lost_and_none_counts_twice() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        List<CompletableFuture<List<Fate>>> twins = new ArrayList<>();
        List<Arrival> batch = trades(30);
        for (int twin = 0; twin < 5; twin++) {
            twins.add(deployment.start(() -> StateAndMap.process(deployment.function(), batch)));
            List<Arrival> moved = List.of(trade("t1", 2 + twin, "other", 10));
            twins.add(deployment.start(() -> StateAndMap.process(deployment.function(), moved)));
        }
        twins.forEach(deployment::of);
        engine.reduce();
        assertThat(lines()).contains("=[39.00, 30]", "other=[10.00, 1]");
    }

    @Test
    void hazard_9_an_event_that_its_producer_has_sent_twice_has_two_sequence_numbers_and_counts_once() {
        process(List.of(trade("a", 1, "FX", 5)));
        process(List.of(trade("a", 1, "FX", 5)));
        assertThat(total()).isEqualTo("=[5.00, 1]");
    }

    @Test
    void hazard_28_many_small_deltas_over_a_hundred_groups_are_added_whole_in_as_many_transactions_as_it_takes() {
        for (int i = 0; i < 250; i++) {
            process(List.of(trade("t" + i, 1, "desk" + i, 1)));
        }
        assertThat(total()).isEqualTo("=[250.00, 250]");
        assertThat(lines()).hasSize(251);
    }

    @Test
    void hazard_32_and_33_an_outage_of_days_forgets_nothing_because_deltas_do_not_expire() {
        process(trades(50));
        deployment.time.runFor(Duration.ofDays(9));
        assertThat(total()).isEqualTo("=[50.00, 50]");
    }

    @Test
    void hazard_34_and_36_the_parent_s_last_record_again_after_the_child_has_begun_takes_nothing_back() {
        Arrival parent = trade("a", 1, "FX", 1);
        process(List.of(parent));
        process(List.of(trade("a", 2, "Rates", 2)));
        process(List.of(parent));
        engine.reduce();
        assertThat(lines()).containsExactly("=[2.00, 1]", "Rates=[2.00, 1]");
    }

    @Test
    void hazard_39_an_answer_of_many_pages_is_whole() {
        String longName = "n".repeat(400);
        List<byte[]> records = IntStream.range(0, 4_000)
                .mapToObj(i -> trade("t" + i, 1, longName + i, 1).data())
                .toList();
        deployment.feed(engine, records);
        assertThat(lines()).hasSize(4_001).first().isEqualTo("=[4000.00, 4000]");
    }

    @Test
    void hazard_40_rows_that_seed_while_events_are_live_are_versioned_and_tombstones_guard() {
        Pipeline favourites = PipelineBuilder.named("favourites")
                .key("id")
                .version("v")
                .delete("op = \"REMOVE\"")
                .rollup(r -> r.levels("desk").count("n"))
                .build();
        Deployment other = Deployment.calm();
        AwsEngine live = other.engine(favourites, 2, 2);
        List<String> events = List.of(
                "{\"id\":\"a\",\"v\":7,\"op\":\"REMOVE\"}",
                "{\"id\":\"b\",\"v\":8,\"desk\":\"new\"}",
                "{\"id\":\"a\",\"v\":0,\"desk\":\"old\"}",
                "{\"id\":\"b\",\"v\":0,\"desk\":\"old\"}",
                "{\"id\":\"c\",\"v\":0,\"desk\":\"old\"}");
        other.feed(
                live,
                events.stream().map(e -> e.getBytes(StandardCharsets.UTF_8)).toList());
        assertThat(live.query(Query.all("main")).lines().stream().map(AwsHazardsTest::text))
                .containsExactly("=[2]", "new=[1]", "old=[1]");
    }

    @Test
    void hazard_53_and_54_a_delta_that_retracts_waits_for_the_one_that_adds_whatever_their_ids_say() {
        SimulatedClient client = deployment.dynamo.client("person");
        for (int version = 1; version <= 12; version++) {
            // Each writer is told a time that is further behind.
            SimulatedClient skewed = deployment.dynamo.client("skewed").dating(Duration.ofSeconds(-60L * version));
            Store store = deployment.store(skewed, version, deployment.time, 1);
            StateAndMap.process(store, List.of(trade("a", version, "desk" + version, version)));
        }
        List<String> negative = new ArrayList<>();
        deployment.dynamo.onWrite(deployment.tables.totals(), change -> {
            var rows = change.after() == null ? null : change.after().get("r");
            if (rows != null && rows.n().startsWith("-")) {
                negative.add(rows.n());
            }
        });
        Store oneByOne = deployment.store(client, 1, deployment.time, 1);
        for (int lane = 0; lane < 3; lane++) {
            Reduce.lane(oneByOne, lane);
        }
        assertThat(negative).isEmpty();
        assertThat(lines()).containsExactly("=[12.00, 1]", "desk12=[12.00, 1]");
    }

    @Test
    void hazard_51_functions_restored_from_one_snapshot_write_over_no_other_s_delta() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        List<CompletableFuture<List<Fate>>> twins = new ArrayList<>();
        InstantSource stopped = InstantSource.fixed(deployment.time.instant());
        for (Arrival arrival : trades(12)) {
            SimulatedClient client = deployment.dynamo.client("twin");
            Store store = deployment.store(client, 7, stopped, 60);
            twins.add(deployment.start(() -> StateAndMap.process(store, List.of(arrival))));
        }
        twins.forEach(deployment::of);
        assertThat(total()).isEqualTo("=[12.00, 12]");
    }

    @Test
    void hazard_29_a_table_on_which_every_transaction_conflicts_is_an_error_after_bounded_attempts() {
        process(trades(5));
        engine.reduce();
        deployment.dynamo.inject(Faults.none().with(Fault.CONFLICT, 1));
        assertThatThrownBy(this::lines).hasMessageContaining("attempts");
        assertThatThrownBy(() -> process(List.of(trade("new", 1, "FX", 1)))).hasMessageContaining("attempts");
        assertThatThrownBy(engine::verify).isInstanceOf(TransactionConflictException.class); // A single write.
        deployment.dynamo.inject(Faults.none());
        process(List.of(trade("new", 1, "FX", 1)));
        assertThat(total()).isEqualTo("=[6.00, 6]");
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void hazard_16_and_57_code_that_has_read_the_old_definition_cannot_write_behind_the_filler_s_back() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        process(trades(10));
        for (int micros = 0; micros < 40_000; micros += 1_500) {
            List<Arrival> batch = List.of(trade("late" + micros, 1, "late", 1));
            CompletableFuture<List<Fate>> late =
                    deployment.start(() -> StateAndMap.process(deployment.function(), batch));
            deployment.time.runFor(Duration.ofNanos(micros * 1_000L));
            TradeFixtures.refill(deployment.function(), TRADES, () -> deployment.of(late));
        }
        assertThat(total()).isEqualTo("=[37.00, 37]");
        assertThat(engine.verify().isEqual()).isTrue();
    }

    /// 10. No window within which an id is known.
    @Test
    void hazard_10_an_id_that_comes_again_after_a_year_counts_once() {
        Deployment claims = Deployment.calm();
        AwsEngine counting = claims.engine(
                PipelineBuilder.named("runs")
                        .id("id")
                        .rollup(r -> r.sum("value", "value", 20, 2).count("trades"))
                        .build(),
                3,
                4);
        List<Arrival> batch = trades(4);
        for (int year = 0; year < 3; year++) {
            StateAndMap.process(claims.store(claims.dynamo.client("function")), batch);
            counting.reduce();
            claims.time.runFor(Duration.ofDays(365));
        }
        assertThat(counting.query(Query.all("main")).lines())
                .extracting(AwsHazardsTest::text)
                .containsExactly("=[4.00, 4]");
    }

    @Test
    void hazard_38_totals_that_were_cleared_without_their_rows_are_found_and_rebuilt() {
        process(trades(6));
        assertThat(total()).isEqualTo("=[6.00, 6]");
        Store person = deployment.function();
        deployment.of(person.client().scan(all -> all.tableName(deployment.tables.totals()))).items().stream()
                .map(item -> Map.of("p", item.get("p"), "g", item.get("g")))
                .forEach(key -> deployment.of(person.client()
                        .deleteItem(item ->
                                item.tableName(deployment.tables.totals()).key(key))));
        assertThat(engine.verify().differences()).hasSize(3);
        assertThat(engine.rebuild().differences()).hasSize(3);
        process(List.of(trade("t0", 2, "desk0", 5)));
        assertThat(total()).isEqualTo("=[10.00, 6]");
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void hazard_58_an_audit_while_events_arrive_compares_one_cut() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        process(trades(200));
        for (int round = 1; round <= 10; round++) {
            int first = round * 100;
            List<CompletableFuture<Long>> live = IntStream.range(first, first + 60)
                    .mapToObj(version -> deployment.start(() -> {
                        Store store = deployment.function();
                        store.threads().pause(Duration.ofMillis(20L * (version - first)));
                        StateAndMap.process(
                                store, List.of(trade("t" + version % 20, version, "desk" + version % 3, 1)));
                        return Reduce.lane(store, version % 3);
                    }))
                    .toList();
            assertThat(engine.verify(new Truth.Rows(round % 3 + 1))).matches(found -> found.isEqual());
            live.forEach(deployment::of);
        }
    }

    /// 58, when somebody else has ended it in the same words, with the same definition as it would have.
    @Test
    void an_audit_whose_view_was_taken_away_before_its_cut_compares_nothing() {
        process(trades(10));
        Definitions definitions = new Definitions(deployment.function());
        Definition both = definitions.load().withView(TRADES, 1, "somebody");
        definitions.replace(both);
        Progress filled = RowFill.fill(deployment.function(), both, both.last(), () -> true);
        definitions.replace(both.servingOnly(both.served()));
        process(List.of(trade("t0", 2, "another desk", 5)));
        engine.reduce();
        assertThatThrownBy(
                        () -> TotalsReads.compare(deployment.function(), both, both.view(both.last()), filled.rows()))
                .isInstanceOf(RowFill.Overtaken.class);
        assertThat(engine.verify().differences()).isEmpty();
    }

    /// 40, when whoever fills dies in the middle of a page, and another one goes on.
    @Test
    void a_filling_that_is_killed_leaves_no_row_out() {
        process(trades(60));
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL).with(Fault.DIES_WITH_CLIENT, 1));
        Definitions definitions = new Definitions(deployment.function());
        for (int millis = 10; millis < 130; millis += 10) {
            Definition both = definitions.load().withView(TRADES, 1, "somebody");
            definitions.replace(both);
            SimulatedClient sandbox = deployment.dynamo.client("sandbox");
            var _ = deployment.start(() -> RowFill.fill(deployment.store(sandbox), both, both.last(), () -> true));
            deployment.time.runFor(Duration.ofMillis(millis));
            sandbox.kill();
            RowFill.fill(deployment.function(), both, both.last(), () -> true);
            definitions.replace(both.servingOnly(both.last()));
            assertThat(total()).isEqualTo("=[60.00, 60]");
        }
    }

    /// 58: an answer never claims what waits to be added.
    @Test
    void an_answer_says_that_it_covers_nothing_from_the_oldest_delta_on() {
        for (int round = 0; round < 20; round++) {
            Instant written = deployment.time.instant();
            process(List.of(trade("t" + round, 1, "FX", 1)));
            deployment.time.runFor(Duration.ofMinutes(1));
            assertThat(engine.query(Query.all("main")).cut().at()).isBefore(written.plusSeconds(5));
            engine.reduce();
            assertThat(engine.query(Query.all("main")).cut().at()).isAfter(written.plusSeconds(50));
        }
    }

    /// 58: what is added while an answer is read, behind its cut, is neither in it nor claimed.
    @Test
    void an_answer_claims_nothing_that_was_added_behind_its_cut() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        int behind = 0;
        for (int round = 0; round < 60; round++) {
            Instant written = deployment.time.instant();
            process(List.of(trade("t" + round, 1, "FX", 1)));
            deployment.time.runFor(Duration.ofSeconds(20));
            CompletableFuture<?> added = deployment
                    .time
                    .after(Duration.ofMillis(2L * round))
                    .thenCompose(_ -> CompletableFuture.allOf(IntStream.range(0, 3)
                            .mapToObj(lane -> deployment.start(() -> Reduce.lane(deployment.function(), lane)))
                            .toArray(CompletableFuture[]::new)));
            Answer answer = engine.query(Query.all("main"));
            if (answer.lines().getFirst().values().getLast().intValue() <= round) {
                behind++;
                assertThat(answer.cut().at()).isBefore(written.plusSeconds(10));
            }
            deployment.of(added);
        }
        assertThat(behind).isPositive();
    }

    /// 39, while another pipeline comes to serve and the one before is cleaned away.
    @Test
    void every_answer_is_whole_while_views_change() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        process(trades(100));
        engine.reduce();
        Pipeline byValue = PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .rollup(r -> r.levels("desk")
                        .measure("value", "average(value) decimal(20,2)")
                        .count("trades"))
                .build();
        for (int round = 0; round < 10; round++) {
            Pipeline wanted = round % 2 == 0 ? byValue : TRADES;
            CompletableFuture<Upkeep.Outcome> steps = deployment.start(() -> {
                Upkeep.step(deployment.function(), wanted, 0, () -> true, _ -> {});
                return Upkeep.step(deployment.function(), wanted, 0, () -> true, _ -> {});
            });
            while (!steps.isDone()) {
                Answer.Line all = engine.query(Query.all("main")).lines().getFirst();
                assertThat(all.values().getLast().intValue()).isEqualTo(100);
            }
            assertThat(steps.join()).isEqualTo(new Upkeep.Outcome.Idle());
            assertThat(engine.pipeline()).isEqualTo(wanted.inEdition(Edition.NEWEST));
        }
    }

    /// 24, many at once: a batch that has nothing but poison before one good record is done before its function
    /// ends.
    @Test
    void a_thousand_poison_records_hold_up_the_good_one_behind_them_for_seconds() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        List<Arrival> batch = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            batch.add(arrival("poison " + i));
        }
        batch.add(trade("good", 1, "FX", 1));
        Instant start = deployment.time.instant();
        process(batch);
        process(batch);
        assertThat(Duration.between(start, deployment.time.instant())).isLessThan(Duration.ofSeconds(20));
        assertThat(total()).isEqualTo("=[1.00, 1]");
        List<DeadLetter> letters = engine.deadLetters().list(0, 2_000);
        assertThat(letters).hasSize(1_000);
        assertThat(letters)
                .extracting(DeadLetter::id)
                .isEqualTo(LongStream.rangeClosed(1, 1_000).boxed().toList());
        assertThat(new String(engine.deadLetters().record(letters.get(7).id()), StandardCharsets.UTF_8))
                .isEqualTo("poison 7");
    }
}
