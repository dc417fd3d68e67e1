package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.reduce.Delays;
import dev.onefold.aws.reduce.Lag;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.RowFill;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// What DynamoDB does not promise: that the items of a transaction become visible together, and that a page
/// without items is the last one.
class IsolationHazardsTest {
    private static final int LANES = 3;
    private static final Pipeline TRADES = TradeFixtures.VALUES;

    private static final Faults.Timing SLOW = new Faults.Timing(
            Duration.ofMillis(8),
            Duration.ofMillis(400),
            Duration.ofMillis(800),
            Duration.ofSeconds(2),
            Duration.ofMinutes(20),
            1,
            Duration.ofSeconds(8));

    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TRADES, LANES, 4);
    private final List<String> negative = new ArrayList<>();
    private int sequence;

    private Arrival trade(String id, int version, String desk) {
        return new Arrival(
                "s/shard",
                Integer.toString(++sequence),
                0,
                "{\"id\":\"%s\",\"v\":%d,\"desk\":\"%s\",\"value\":1}"
                        .formatted(id, version, desk)
                        .getBytes(StandardCharsets.UTF_8));
    }

    private CompletableFuture<List<Fate>> process(Arrival... batch) {
        return deployment.start(() -> StateAndMap.process(deployment.function(), List.of(batch)));
    }

    private CompletableFuture<?> reduceAll() {
        return CompletableFuture.allOf(IntStream.range(0, LANES)
                .mapToObj(lane -> deployment.start(() -> Reduce.lane(deployment.function(), lane)))
                .toArray(CompletableFuture[]::new));
    }

    private String total() {
        return engine.query(Query.all("main")).lines().getFirst().values().toString();
    }

    private void noteNegative() {
        deployment.dynamo.onWrite(deployment.tables.totals(), change -> {
            var rows = change.after() == null ? null : change.after().get("r");
            if (rows != null && rows.n().startsWith("-")) {
                negative.add(rows.n());
            }
        });
    }

    /// 39: trades only change their desk, so every answer of one cut counts 30.
    @Test
    void hazard_39_an_answer_is_of_one_cut_although_the_items_of_a_commit_become_visible_one_by_one() {
        deployment.of(process(IntStream.range(0, 30)
                .mapToObj(i -> trade("t" + i, 1, "desk" + i % 5))
                .toArray(Arrival[]::new)));
        engine.reduce();
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        noteNegative();
        Map<Integer, Integer> counts = new TreeMap<>();
        for (int version = 2; version < 250; version++) {
            CompletableFuture<?> live = process(trade("t" + version % 7, version, "desk" + version % 5))
                    .thenCompose(_ -> reduceAll());
            while (!live.isDone()) {
                Answer answer = engine.query(Query.all("main"));
                counts.merge(answer.lines().getFirst().values().getLast().intValue(), 1, Integer::sum);
            }
        }
        assertThat(counts).containsOnlyKeys(30);
        assertThat(negative).isEmpty();
    }

    /// 54: a row names a delta that cannot be read yet.
    @Test
    void hazard_54_a_predecessor_that_is_on_its_way_is_not_taken_for_one_that_was_added() {
        deployment.dynamo.inject(Faults.none().with(SLOW));
        noteNegative();
        for (int round = 0; round < 60; round++) {
            String key = "k" + round;
            String desk = "desk" + round + "/";
            List<CompletableFuture<?>> live = new ArrayList<>();
            live.add(process(trade(key, 1, desk + 1)));
            for (int millis = 20; millis <= 800; millis += 60) {
                live.add(deployment.time.after(Duration.ofMillis(millis)).thenCompose(_ -> reduceAll()));
            }
            live.add(deployment.time.after(Duration.ofMillis(100)).thenCompose(_ -> process(trade(key, 2, desk + 2))));
            live.forEach(deployment::of);
        }
        assertThat(negative).isEmpty();
        engine.reduce();
        assertThat(total()).isEqualTo("[60.00, 60]");
    }

    /// 57: a gate is free again, and moved, while a new row that was written under the old definition is on its
    /// way.
    @Test
    void hazard_57_a_row_that_is_on_its_way_when_the_gates_move_is_in_the_new_view() {
        deployment.dynamo.inject(Faults.none().with(SLOW));
        int rounds = 40;
        for (int round = 0; round < rounds; round++) {
            CompletableFuture<List<Fate>> late = process(trade("late" + round, 1, "late"));
            deployment.time.runFor(Duration.ofMillis(12 + round));
            TradeFixtures.refill(deployment.function(), TRADES, () -> deployment.of(late));
        }
        engine.reduce();
        assertThat(total()).isEqualTo("[" + rounds + ".00, " + rounds + "]");
        assertThat(deployment.of(process(trade("late1", 2, "late")))).containsExactly(new Fate.Accepted());
    }

    /// 39: "the only way to know when you have reached the end of the result set is when LastEvaluatedKey is
    /// empty".
    @Test
    void hazard_39_a_lane_whose_first_page_is_empty_is_not_empty() {
        deployment.of(process(trade("a", 1, "FX")));
        deployment.time.runFor(Duration.ofHours(1));
        deployment.dynamo.inject(Faults.none().with(Fault.EMPTY_PAGE, 1));
        assertThat(Lag.of(deployment.function(), LANES)).isGreaterThan(Duration.ofMinutes(59));
        assertThat(engine.query(Query.all("main")).cut().at())
                .isBefore(deployment.time.instant().minus(Duration.ofMinutes(59)));
        engine.reduce();
        assertThat(total()).isEqualTo("[1.00, 1]");
        assertThat(Lag.of(deployment.function(), LANES)).isZero();
    }

    /// 51: ids of deltas begin with their writer's clock.
    @Test
    @Tag("campaign")
    void hazard_51_a_run_of_reduce_that_others_wait_for_ends_also_if_a_writer_s_clock_is_a_minute_ahead() {
        Store person = deployment.store(deployment.dynamo.client("ahead").dating(Duration.ofSeconds(60)));
        IntStream.range(0, 20).forEach(i -> StateAndMap.process(person, List.of(trade("a" + i, 1, "FX"))));
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        putEach(Duration.ofMillis(5), deployment.time.instant().plusSeconds(30));
        deployment.time.runFor(Duration.ofSeconds(1));
        List<CompletableFuture<Long>> runs = IntStream.range(0, LANES)
                .mapToObj(lane -> deployment.start(
                        () -> Reduce.lane(deployment.function(), lane, Duration.ofSeconds(2), new Delays())))
                .toList();
        deployment.time.runFor(Duration.ofSeconds(3));
        assertThat(runs).allMatch(CompletableFuture::isDone).allMatch(run -> run.join() > 1);
        deployment.time.runFor(Duration.ofSeconds(30));
        int put = sequence;
        engine.reduce();
        assertThat(total()).isEqualTo("[%d.00, %d]".formatted(put, put));
    }

    /// 58: a replica that is behind does not know of the last deltas.
    @Test
    void an_answer_right_behind_a_write_claims_only_what_is_in_it() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        int behind = 0;
        for (int round = 0; round < 60; round++) {
            deployment.of(process(trade("t" + round, 1, "FX")));
            Instant written = deployment.time.instant();
            deployment.time.runFor(Duration.ofMillis(300));
            Answer answer = engine.query(Query.all("main"));
            int counted = answer.lines().isEmpty()
                    ? 0
                    : answer.lines().getFirst().values().getLast().intValue();
            if (counted <= round) {
                behind++;
                assertThat(answer.cut().at()).isBefore(written);
            }
            deployment.time.runFor(Duration.ofMillis(700));
            engine.reduce();
            deployment.time.runFor(Duration.ofSeconds(2));
        }
        assertThat(behind).isEqualTo(60);
    }

    /// 38: a delta of before that nobody has added yet adds to no view that is gone.
    @Test
    void nothing_is_left_of_a_view_that_was_cleaned_away_while_its_deltas_waited() {
        Definitions definitions = new Definitions(deployment.function());
        Definition both = definitions.load().withView(TRADES, 1, "somebody");
        definitions.replace(both);
        RowFill.fill(deployment.function(), both, both.last(), () -> true);
        deployment.of(process(trade("a", 1, "FX"), trade("b", 1, "FX")));
        definitions.replace(both.servingOnly(both.last()));
        Upkeep.step(deployment.function(), TRADES, 0, () -> true, _ -> {});
        engine.reduce();
        assertThat(total()).isEqualTo("[2.00, 2]");
        assertThat(deployment
                        .of(deployment.function().client().scan(all -> all.tableName(deployment.tables.totals())))
                        .items())
                .extracting(item -> item.get("p").s())
                .noneMatch(partition -> partition.startsWith("1/"));
    }

    private void putEach(Duration pause, Instant end) {
        if (deployment.time.instant().isBefore(end)) {
            var _ = process(trade("b" + sequence, 1, "FX"));
            deployment.time.schedule(pause, () -> putEach(pause, end));
        }
    }
}
