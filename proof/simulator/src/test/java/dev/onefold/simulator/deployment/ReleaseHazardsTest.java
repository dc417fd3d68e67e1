package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.function.StateFunction;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.reduce.Delays;
import dev.onefold.aws.reduce.Lag;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Claims;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.RowFill;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.Verification;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// What may go wrong on AWS while pipelines change, audits run and load is high, each with its schedule.
class ReleaseHazardsTest {
    private static final Pipeline TRADES = trades().build();
    private static final Pipeline TRADES_WITH_TIME = trades().time("ts").build();

    private final Deployment deployment = Deployment.calm();
    private int sequence;

    private static PipelineBuilder trades() {
        return PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .rollup(r -> r.levels("desk").sum("value", "value", 20, 2).count("trades"));
    }

    private Arrival trade(String id, int version, String desk, int value) {
        return arrival("{\"id\":\"%s\",\"v\":%d,\"desk\":\"%s\",\"value\":%d}".formatted(id, version, desk, value));
    }

    private Arrival arrival(String record) {
        return new Arrival("s/shard", Integer.toString(++sequence), 0, record.getBytes(StandardCharsets.UTF_8));
    }

    private List<Fate> process(Arrival... batch) {
        return StateAndMap.process(deployment.function(), List.of(batch));
    }

    private Upkeep.Outcome upkeep(Pipeline wanted, boolean hasTime) {
        return Upkeep.step(deployment.function(), wanted, 0, () -> hasTime, _ -> {});
    }

    private Definition definition() {
        return new Definitions(deployment.function()).load();
    }

    private static String total(AwsEngine engine) {
        engine.reduce();
        return engine.query(Query.all("main")).lines().getFirst().values().toString();
    }

    /// Begins to serve another pipeline, and lets a record come while it is filled.
    private void switchesWhile(Pipeline before, Pipeline after, Arrival first, Arrival meanwhile) {
        AwsEngine engine = deployment.engine(before, 3, 4);
        process(first);
        assertThat(upkeep(after, false)).isInstanceOf(Upkeep.Outcome.Working.class);
        assertThat(process(meanwhile)).containsExactly(new Fate.Accepted());
        assertThat(upkeep(after, true)).isInstanceOf(Upkeep.Outcome.Serving.class);
        assertThat(total(engine)).isEqualTo("[11.00, 2]");
        assertThat(engine.deadLetters().list(0, 10)).isEmpty();
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void a_record_that_only_the_pipeline_before_can_read_counts_if_it_came_before_the_next_one_serves() {
        switchesWhile(TRADES, TRADES_WITH_TIME, trade("a", 1, "FX", 1), trade("b", 1, "FX", 10));
    }

    @Test
    void a_column_that_is_added_to_csv_loses_no_record_that_came_without_it() {
        switchesWhile(
                trades().csv("id", "v", "desk", "value").build(),
                trades().csv("id", "v", "desk", "value", "note").build(),
                arrival("a,1,FX,1"),
                arrival("b,1,FX,10"));
    }

    @Test
    void a_view_that_is_cleaned_away_leaves_nothing_although_a_delta_of_it_still_waits() {
        AwsEngine engine = deployment.engine(TRADES, 3, 4);
        process(trade("a", 1, "FX", 1));
        Definitions definitions = new Definitions(deployment.function());
        Definition both = definition().withView(TRADES, 1, "somebody");
        definitions.replace(both);
        RowFill.fill(deployment.function(), both, both.last(), () -> true);
        engine.reduce();
        process(trade("b", 1, "FX", 10)); // In both views, and not in the totals yet.
        definitions.replace(both.servingOnly(both.last()));
        for (int step = 0; step < 4; step++) {
            upkeep(TRADES, true);
        }
        assertThat(total(engine)).isEqualTo("[11.00, 2]");
        assertThat(deployment.dynamo.backup(deployment.tables.totals()).items())
                .noneMatch(item -> item.get("p").s().startsWith("1/"));
    }

    @Test
    void a_dead_letter_that_only_the_next_pipeline_accepts_is_in_its_totals_and_gone() {
        AwsEngine engine = deployment.engine(TRADES_WITH_TIME, 2, 2);
        process(trade("a", 1, "FX", 1), trade("b", 1, "FX", 10), arrival("poison"));
        assertThat(engine.deadLetters().size()).isEqualTo(3);
        assertThat(upkeep(TRADES, true)).isInstanceOf(Upkeep.Outcome.Serving.class);
        assertThat(upkeep(TRADES, true)).isInstanceOf(Upkeep.Outcome.Idle.class);
        assertThat(total(engine)).isEqualTo("[11.00, 2]");
        assertThat(engine.deadLetters().list(0, 10)).hasSize(1);
        process(trade("b", 1, "FX", 10));
        assertThat(total(engine)).isEqualTo("[11.00, 2]");
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void a_letter_of_the_old_pipeline_that_is_written_after_the_next_one_has_decided_all_letters_is_decided_by_it() {
        AwsEngine engine = deployment.engine(TRADES_WITH_TIME, 2, 2);
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        CompletableFuture<List<Fate>> late = deployment.start(() ->
                StateAndMap.process(deployment.function(), List.of(trade("a", 1, "FX", 1), trade("b", 1, "FX", 10))));
        int steps = 0;
        for (Upkeep.Outcome outcome = new Upkeep.Outcome.Working(0);
                !(outcome instanceof Upkeep.Outcome.Idle) && steps < 9;
                steps++) {
            outcome = upkeep(TRADES, true);
        }
        assertThat(deployment.of(late)).hasSize(2);
        upkeep(TRADES, true);
        assertThat(engine.deadLetters().list(0, 10)).isEmpty();
        assertThat(total(engine)).isEqualTo("[11.00, 2]");
    }

    @Test
    void wherever_a_step_that_decides_letters_is_killed_each_counts_once() {
        for (int millis = 1; millis < 200; millis += 7) {
            Deployment killed = Deployment.calm();
            AwsEngine engine = killed.engine(TRADES_WITH_TIME, 2, 2);
            Store function = killed.store(killed.dynamo.client("function"));
            StateAndMap.process(
                    function, List.of(trade("a", 1, "FX", 1), trade("b", 1, "FX", 10), trade("a", 2, "FX", 3)));
            Upkeep.step(function, TRADES, 0, () -> true, _ -> {});
            killed.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
            SimulatedClient sandbox = killed.dynamo.client("sandbox");
            var _ = killed.start(() -> Upkeep.step(killed.store(sandbox), TRADES, 0, () -> true, _ -> {}));
            killed.time.runFor(Duration.ofMillis(millis));
            sandbox.kill();
            Upkeep.step(function, TRADES, 0, () -> true, _ -> {});
            assertThat(total(engine)).as("killed after " + millis + " ms").isEqualTo("[13.00, 2]");
            assertThat(engine.deadLetters().list(0, 10)).isEmpty();
        }
    }

    @Test
    void a_record_that_comes_again_while_another_pipeline_is_filled_is_a_duplicate() {
        deployment.engine(TRADES, 3, 4);
        Arrival record = trade("a", 1, "FX", 1);
        process(record);
        assertThat(upkeep(TRADES_WITH_TIME, false)).isInstanceOf(Upkeep.Outcome.Working.class);
        RowFill.fill(deployment.function(), definition(), definition().last(), () -> true);
        assertThat(process(record)).containsExactly(new Fate.Duplicate());
    }

    @Test
    void of_a_batch_that_is_overtaken_by_the_next_pipeline_what_that_can_read_is_in() {
        AwsEngine engine = deployment.engine(TRADES, 1, 1);
        Definitions definitions = new Definitions(deployment.function());
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        int rejected = 0;
        for (int round = 0; round < 40; round++) {
            Definition both = filled(TRADES_WITH_TIME);
            Definition next = both.servingOnly(both.last());
            new Claims(deployment.function()).join(next); // Its part of the change that takes no part in the race.
            String key = "k" + round;
            CompletableFuture<List<Fate>> late = deployment.start(() -> StateAndMap.process(
                    deployment.function(),
                    List.of(
                            arrival("{\"id\":\"%s\",\"v\":1,\"desk\":\"FX\",\"value\":1,\"ts\":1000000000}"
                                    .formatted(key)),
                            trade(key, 2, "FX", 5))));
            deployment.time.runFor(Duration.ofMillis(round));
            Store upkeep = deployment.function();
            deployment.of(upkeep.client()
                    .putItem(
                            request -> request.tableName(upkeep.tables().rows()).item(next.item())));
            definitions.moveGates(next);
            rejected += deployment.of(late).getLast() instanceof Fate.Rejected ? 1 : 0;
            assertThat(engine.get(List.of(key))).isPresent();
            Definition back = filled(TRADES);
            definitions.replace(back.servingOnly(back.last()));
        }
        assertThat(rejected).as("rounds in which it mattered").isPositive();
    }

    private Definition filled(Pipeline pipeline) {
        Definition both = definition().withView(pipeline, 1, "somebody");
        new Definitions(deployment.function()).replace(both);
        RowFill.fill(deployment.function(), both, both.last(), () -> true);
        return both;
    }

    @Test
    void a_pipeline_that_touches_too_much_is_refused_and_intake_goes_on() {
        Pipeline wide = trades().rollup("wide", r -> {
                    for (int i = 0; i < 25; i++) {
                        r.distinct("d" + i, "desk");
                    }
                })
                .build();
        assertThatThrownBy(() -> Template.of(wide, Input.NEW_STREAM)).hasMessageContaining("touches 27 items");
        AwsEngine engine = deployment.engine(TRADES, 8, 64);
        assertThat(upkeep(wide, true)).isInstanceOf(Upkeep.Outcome.Refused.class);
        StateFunction deployed = new StateFunction(deployment.function(), wide, Deployment.SILENT);
        String event = """
                {"Records": [{"eventID": "shardId-000000000000:1", "eventSourceARN": "arn:aws:kinesis:eu-central-1:000000000000:stream/trades",
                  "kinesis": {"sequenceNumber": "1", "data": "%s"}}]}
                """.formatted(Base64.getEncoder()
                .encodeToString(trade("a", 1, "FX", 1).data()));
        deployed.handle(event.getBytes(StandardCharsets.UTF_8));
        assertThat(total(engine)).isEqualTo("[1.00, 1]");
    }

    @Test
    @Tag("campaign")
    void a_run_of_reduce_ends_however_fast_deltas_come() {
        deployment.engine(TRADES, 1, 64);
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        Store state = deployment.function();
        Runnable[] put = new Runnable[1];
        put[0] = () -> {
            List<Arrival> batch = List.of(trade("t" + sequence, 1, "d" + sequence % 3, 1));
            var _ = deployment.start(() -> StateAndMap.process(state, batch));
            deployment.time.after(Duration.ofMillis(2), put[0]);
        };
        put[0].run();
        deployment.time.runFor(Duration.ofSeconds(1));
        CompletableFuture<Long> run = deployment.start(() -> Reduce.lane(deployment.function(), 0));
        deployment.time.runFor(Duration.ofSeconds(30));
        assertThat(run).isDone();
    }

    @Test
    void a_burst_is_in_the_totals_although_nothing_wakes_reduce_again() {
        AwsEngine engine = deployment.engine(TRADES, 1, 64);
        for (int batch = 0; batch < 600; batch++) {
            process(trade("t" + sequence, 1, "d" + sequence, 1));
        }
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        Reduce.lane(deployment.function(), 0, Duration.ofSeconds(2), new Delays());
        assertThat(Lag.of(deployment.function(), 1)).isZero();
        assertThat(total(engine)).isEqualTo("[600.00, 600]");
    }

    /// One of them moves the lane each time, and it is seldom the same one's turn.
    @Test
    @Tag("campaign")
    void however_many_reduce_a_lane_at_once_each_goes_on_until_what_it_saw_is_in_the_totals() {
        AwsEngine engine = deployment.engine(TRADES, 1, 64);
        for (int batch = 0; batch < 1_500; batch++) {
            process(trade("t" + sequence, 1, "d" + sequence % 3, 1));
        }
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        SimulatedClient client = deployment.dynamo.client("function");
        Store oneByOne = deployment.store(client, 1, deployment.time, 1);
        List<CompletableFuture<Long>> runs = IntStream.range(0, 20)
                .mapToObj(_ -> deployment.start(() -> Reduce.lane(oneByOne, 0)))
                .toList();
        assertThat(runs.stream().mapToLong(deployment::of).sum()).isEqualTo(1_500);
        assertThat(total(engine)).isEqualTo("[1500.00, 1500]");
    }

    /// The readers' closings move the lane, and nothing becomes less.
    @Test
    void a_lane_whose_totals_are_throttled_is_given_up_with_the_reason_also_beside_readers() {
        AwsEngine engine = deployment.engine(TRADES, 1, 64);
        process(trade("t", 1, "FX", 1));
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        deployment.dynamo.throttle(
                item -> item.containsKey("g") && item.get("p").s().startsWith("1/"));
        CompletableFuture<Long> run = deployment.start(() -> Reduce.lane(deployment.function(), 0));
        for (int second = 0; second < 60; second++) {
            engine.query(Query.all("main"));
            deployment.time.runFor(Duration.ofSeconds(1));
        }
        assertThat(run).isCompletedExceptionally();
        deployment.dynamo.throttle(_ -> false);
        assertThat(total(engine)).isEqualTo("[1.00, 1]");
    }

    @Test
    void while_a_pipeline_is_refused_persons_verify_and_audits_go_on() {
        AwsEngine engine = deployment.engine(TRADES, 3, 4);
        process(IntStream.range(0, 300)
                .mapToObj(i -> trade("t" + i, 1, "d" + i % 3, 1))
                .toArray(Arrival[]::new));
        Pipeline refused = PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .rollup(r -> r.levels("region").count("trades"))
                .build();
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        List<Upkeep.Outcome> ticks = new ArrayList<>();
        for (int ms = 50; ms < 1_000; ms += 50) {
            deployment.time.after(Duration.ofMillis(ms), () -> {
                var _ = deployment
                        .start(() -> Upkeep.step(deployment.function(), refused, 0, () -> true, _ -> {}))
                        .thenAccept(ticks::add);
            });
        }
        assertThat(engine.verify().isEqual()).isTrue();
        deployment.time.runFor(Duration.ofSeconds(5));
        assertThat(ticks).hasSize(19).allMatch(Upkeep.Outcome.Refused.class::isInstance);
        List<Verification> audits = new ArrayList<>();
        assertThat(Upkeep.step(deployment.function(), refused, 1, () -> true, audits::add))
                .isInstanceOf(Upkeep.Outcome.Refused.class);
        assertThat(audits).hasSize(1).allMatch(Verification::isEqual);
    }

    @Test
    void an_audit_that_is_overtaken_by_another_pipeline_reports_no_difference_and_holds_nothing_up() {
        int overtaken = 0;
        for (int ms = 100; ms < 7_000; ms += 530) {
            ReleaseHazardsTest life = new ReleaseHazardsTest();
            overtaken += life.isAuditOvertakenAfter(Duration.ofMillis(ms)) ? 1 : 0;
        }
        assertThat(overtaken).isGreaterThan(5);
    }

    /// Whether it was overtaken, because it had not ended.
    private boolean isAuditOvertakenAfter(Duration time) {
        AwsEngine engine = deployment.engine(TRADES_WITH_TIME, 2, 8);
        process(arrival("{\"id\":\"a\",\"v\":1,\"desk\":\"FX\",\"value\":1,\"ts\":1000000000}"));
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        List<Verification> audits = new ArrayList<>();
        CompletableFuture<Upkeep.Outcome> audit = deployment.start(
                () -> Upkeep.step(deployment.function(), TRADES_WITH_TIME, 1, () -> true, audits::add));
        deployment.time.runFor(time);
        boolean isOvertaken = !audit.isDone();
        for (int step = 0; step < 3; step++) {
            upkeep(TRADES, true);
            process(trade("b" + step, 1, "FX", 1));
        }
        assertThat(deployment.of(audit))
                .isInstanceOf(isOvertaken ? Upkeep.Outcome.Working.class : Upkeep.Outcome.Audited.class);
        assertThat(audits).hasSize(isOvertaken ? 0 : 1).allMatch(Verification::isEqual);
        assertThat(definition().views()).hasSize(1);
        assertThat(PipelineText.write(engine.pipeline()))
                .isEqualTo(PipelineText.write(TRADES.inEdition(Edition.NEWEST)));
        assertThat(total(engine)).isEqualTo("[4.00, 4]");
        assertThat(engine.verify().isEqual()).isTrue();
        return isOvertaken;
    }

    @Test
    @Tag("campaign")
    void what_an_audit_found_is_told_wherever_it_is_stopped() {
        boolean ended = false;
        for (int ms = 0; !ended; ms += 5) {
            ReleaseHazardsTest life = new ReleaseHazardsTest();
            ended = life.tellsOfAnAuditThatIsStoppedAfter(Duration.ofMillis(ms));
        }
    }

    /// Whether it was not stopped, because it had ended.
    private boolean tellsOfAnAuditThatIsStoppedAfter(Duration time) {
        AwsEngine engine = deployment.engine(TRADES, 2, 8);
        process(trade("a", 1, "FX", 1), trade("b", 1, "IR", 1));
        engine.reduce();
        Store person = deployment.function();
        deployment.of(person.client().scan(all -> all.tableName(deployment.tables.totals()))).items().stream()
                .filter(item -> item.containsKey("k"))
                .map(item -> Map.of("p", item.get("p"), "g", item.get("g")))
                .forEach(key -> deployment.of(person.client()
                        .deleteItem(item ->
                                item.tableName(deployment.tables.totals()).key(key))));
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        List<Verification> told = new ArrayList<>();
        SimulatedClient sandbox = deployment.dynamo.client("upkeep");
        var step = deployment.start(() -> Upkeep.step(deployment.store(sandbox), TRADES, 1, () -> true, told::add));
        deployment.time.runFor(time);
        if (step.isDone()) {
            assertThat(told).hasSize(1);
            return true;
        }
        sandbox.kill();
        deployment.time.runFor(Duration.ofSeconds(5));
        boolean begun = definition().last() > 1;
        for (int minute = 0; minute < 5; minute++) {
            Upkeep.step(deployment.function(), TRADES, 0, () -> true, told::add);
        }
        assertThat(told).hasSizeGreaterThanOrEqualTo(begun ? 1 : 0).noneMatch(Verification::isEqual);
        return false;
    }

    @Test
    @Tag("campaign")
    void a_persons_rebuild_is_left_alone_whenever_upkeep_is_woken() {
        for (int ms = 0; ms < 200; ms += 4) {
            ReleaseHazardsTest life = new ReleaseHazardsTest();
            AwsEngine engine = life.deployment.engine(TRADES, 4, 64);
            life.process(IntStream.range(0, 100)
                    .mapToObj(i -> life.trade("t" + i, 1, "d" + i % 3, 1))
                    .toArray(Arrival[]::new));
            engine.reduce();
            engine.verify();
            life.deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
            life.deployment.time.after(Duration.ofMillis(ms), () -> {
                var _ = life.deployment.start(
                        () -> Upkeep.step(life.deployment.function(), TRADES, 0, () -> true, _ -> {}));
            });
            assertThat(engine.rebuild().isEqual()).isTrue();
        }
    }

    @Test
    void a_view_whose_owner_never_began_is_taken_away_after_a_while() {
        deployment.engine(TRADES, 3, 4);
        process(trade("a", 1, "FX", 1));
        new Definitions(deployment.function()).replace(definition().withView(TRADES, 1, "somebody"));
        assertThat(upkeep(TRADES, true)).isInstanceOf(Upkeep.Outcome.Idle.class);
        assertThat(definition().views()).hasSize(2);
        deployment.time.runFor(Duration.ofMinutes(16));
        assertThat(upkeep(TRADES, true)).isInstanceOf(Upkeep.Outcome.Working.class);
        assertThat(definition().views()).hasSize(1);
    }
}
