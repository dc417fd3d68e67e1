package dev.onefold.simulator.keyed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.function.Metrics;
import dev.onefold.aws.function.StateFunction;
import dev.onefold.aws.function.UpkeepFunction;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.KeyItem;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.state.StoredKey;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Reset;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Truth;
import dev.onefold.core.codec.Codec;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.keyed.Head;
import dev.onefold.core.process.KeyDifference;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Key;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.table.Tables.Backup;
import dev.onefold.fixtures.Seeds;
import dev.onefold.oracle.KeyedOracle.Order;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import dev.onefold.simulator.deployment.Deployment;
import dev.onefold.simulator.keyed.Trails.Entry;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The hazards of functions per key on AWS, each with its schedule. It is one idea: they share one deployment.
class AwsKeyedHazardsTest {
    private final Deployment deployment = Deployment.calm();
    private int version;

    private LoadedFunction release(Order order, int keep, int code) {
        LoadedFunction function = new LifeCase(order, keep, true, 0, List.of()).loaded(code);
        if (code == 1) {
            deployment.makeTables(function);
        }
        deployment.release(function);
        AwsEngine.open(process(), code == 1 ? function.pipeline() : served(), 2, 2);
        return function;
    }

    private dev.onefold.core.pipeline.Pipeline served() {
        return engine().pipeline();
    }

    private Store process() {
        return deployment.process(deployment.dynamo.client("process"));
    }

    private AwsEngine engine() {
        return AwsEngine.deployed(process());
    }

    private static Arrival arrival(String key, int version, String what) {
        Trails.Event event = new Trails.Event(1, key, version, version * 10, what);
        return new Arrival(
                "s/shard",
                Integer.toString(version + 1),
                0,
                LifeCase.records(List.of(event)).getFirst());
    }

    private List<Fate> take(Arrival... arrivals) {
        return StateAndMap.process(process(), List.of(arrivals));
    }

    private List<Entry> trail(String key) {
        return engine().state(List.of(key)).map(TrailJudge::trail).orElse(List.of());
    }

    @Test
    void hazard_62_and_63_a_function_that_is_killed_anywhere_leaves_all_of_a_step_or_nothing() {
        LoadedFunction function = release(Order.IN_ORDER, 100, 1);
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        Seeds.forAllSeeds(20, random -> {
            SimulatedClient client = deployment.dynamo.client("killed");
            Store killed = deployment.process(client);
            int from = random.nextInt(50);
            var _ = deployment.start(() -> StateAndMap.process(
                    killed,
                    List.of(arrival("a", from, "put"), arrival("a", from + 2, "remove"), arrival("a", 7, "put"))));
            deployment.time.runFor(Duration.ofMillis(random.nextInt(150)));
            client.kill();
            deployment.time.runFor(Duration.ofMinutes(1));
            assertThat(AwsKeyedSimulation.rows(deployment, function)).isEqualTo(TrailJudge.rows("a", trail("a")));
        });
        assertThat(trail("a")).isNotEmpty();
    }

    @Test
    void hazard_64_events_of_one_key_that_several_functions_take_at_once_are_each_folded_once() {
        release(Order.EVERY, 1_000, 1);
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        for (int twin = 0; twin < 4; twin++) {
            int first = twin % 2 * 10;
            var _ = deployment.start(() -> StateAndMap.process(
                    process(),
                    IntStream.range(first, first + 20)
                            .mapToObj(version -> arrival("a", version, "put"))
                            .toList()));
        }
        deployment.time.runFor(Duration.ofMinutes(5));
        assertThat(trail("a").stream().map(Entry::v))
                .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 30)
                        .mapToObj(version -> (long) version)
                        .toList());
    }

    @Test
    void hazard_65_rows_that_only_the_order_of_arrival_wrote_are_withdrawn() {
        LoadedFunction function = release(Order.IN_ORDER, 100, 1);
        take(arrival("a", 1, "put"), arrival("a", 3, "put"), arrival("a", 4, "put"));
        var before = AwsKeyedSimulation.rows(deployment, function);
        take(arrival("a", 2, "put"));
        var after = AwsKeyedSimulation.rows(deployment, function);
        assertThat(trail("a").stream().map(Entry::v)).containsExactly(1L, 2L, 3L, 4L);
        assertThat(after).isEqualTo(TrailJudge.rows("a", trail("a"))).isNotEqualTo(before);
    }

    @Test
    void hazard_66_an_event_beyond_what_is_kept_is_a_dead_letter_whole() {
        release(Order.IN_ORDER, 2, 1);
        take(arrival("a", 1, "put"), arrival("a", 3, "put"), arrival("a", 4, "put"), arrival("a", 5, "put"));
        List<Entry> before = trail("a");
        Arrival late = arrival("a", 2, "put");
        take(late);
        take(new Arrival("other/shard", "77", 0, late.data()));
        assertThat(trail("a")).isEqualTo(before);
        List<DeadLetter> letters = engine().deadLetters().list(0, 9);
        assertThat(letters).extracting(DeadLetter::reason).containsExactly(Reason.TOO_LATE);
        assertThat(engine().deadLetters().record(letters.getFirst().id())).isEqualTo(late.data());
    }

    @Test
    void hazard_67_older_code_hands_back_what_newer_code_has_folded_and_the_healthy_records_are_in() {
        release(Order.LATEST, 1, 1);
        Store old = process();
        take(arrival("a", 1, "put"));
        release(Order.LATEST, 1, 2);
        take(arrival("a", 2, "put"));
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        StateFunction state =
                new StateFunction(old, served(), new Metrics(new PrintStream(log, true, StandardCharsets.UTF_8), "it"));
        String answer = new String(
                state.handle(event(arrival("b", 3, "put"), arrival("a", 4, "put"), arrival("b", 5, "put"))),
                StandardCharsets.UTF_8);
        assertThat(answer).isEqualTo("{\"batchItemFailures\":[{\"itemIdentifier\":\"5\"}]}");
        assertThat(log.toString(StandardCharsets.UTF_8)).contains("version 2 of the function, and version 1 runs here");
        assertThat(trail("a").stream().map(Entry::code)).containsExactly(1, 2);
        assertThat(trail("b").stream().map(Entry::v)).containsExactly(3L, 5L);
        assertThat(engine().deadLetters().size()).isZero();
    }

    private static byte[] event(Arrival... arrivals) {
        List<String> records = new ArrayList<>();
        for (Arrival each : arrivals) {
            records.add(
                    "{\"eventID\":\"shard:%s\",\"eventSourceARN\":\"%s\",\"kinesis\":{\"sequenceNumber\":\"%s\",\"data\":\"%s\"}}"
                            .formatted(
                                    each.sequence(),
                                    "arn:aws:kinesis:eu-central-1:000000000000:stream/s",
                                    each.sequence(),
                                    Base64.getEncoder().encodeToString(each.data())));
        }
        return ("{\"Records\":[" + String.join(",", records) + "]}").getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void hazard_67_keys_that_no_event_touches_are_brought_to_a_raised_version() {
        release(Order.IN_ORDER, 100, 1);
        take(arrival("idle", 1, "put"), arrival("idle", 2, "put"), arrival("b", 1, "put"));
        LoadedFunction raised = release(Order.IN_ORDER, 100, 2);
        assertThat(Upkeep.serve(process(), raised.pipeline(), 2, 4)).isEmpty();
        List<Upkeep.Outcome> outcomes = new ArrayList<>();
        for (int step = 1; step < 4; step++) {
            int pages = step;
            outcomes.add(Upkeep.step(process(), raised.pipeline(), 0, () -> pages > 1, _ -> {}));
        }
        assertThat(outcomes.getFirst()).isInstanceOf(Upkeep.Outcome.Working.class);
        assertThat(outcomes.getLast()).isInstanceOf(Upkeep.Outcome.Idle.class);
        assertThat(trail("idle").stream().map(Entry::code)).containsExactly(2, 2);
        assertThat(AwsKeyedSimulation.rows(deployment, raised))
                .containsAllEntriesOf(TrailJudge.rows("idle", trail("idle")));
    }

    @Test
    void hazard_69_an_event_at_which_the_function_throws_is_aside_and_its_key_goes_on() {
        release(Order.LATEST, 1, 1);
        List<Fate> fates = take(arrival("a", 1, "put"), arrival("a", 2, "fail"), arrival("a", 3, "put"));
        assertThat(fates.get(1)).isInstanceOf(Fate.Rejected.class);
        assertThat(trail("a").stream().map(Entry::v)).containsExactly(1L, 3L);
        assertThat(engine().deadLetters().list(0, 9))
                .extracting(DeadLetter::reason)
                .containsExactly(Reason.FAILED);
    }

    private List<String> run(TableQuery query) {
        return engine().tables(
                        query,
                        answer -> answer.tables().getFirst().rows().stream()
                                .map(Value.Fields::toJson)
                                .toList());
    }

    /// Writes two rows of one run, or removes the second one.
    public static final class Runs implements Processor<Runs.Count, Runs.Event> {
        /// A context.
        public record Count(int count) {}

        /// An event.
        public record Event(String k, String what) {}

        /// A row of the shared table.
        public record Part(String run, int part, int count) {}

        @Override
        public Count start() {
            return new Count(0);
        }

        @Override
        public Step<Count> step(Count before, Event event) {
            Count count = new Count(before.count() + 1);
            Step<Count> step = Step.to(count).put("parts", new Part("r", 1, count.count()));
            return event.what().equals("remove")
                    ? step.remove("parts", "r", 2)
                    : step.put("parts", new Part("r", 2, count.count()));
        }

        @Override
        public Map<String, Class<? extends Record>> tables() {
            return Map.of("parts", Part.class);
        }
    }

    private void releaseRuns() {
        String text = "{\"pipeline\":\"runs\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"order\":\"every\",\"tables\":{\"parts\":[\"run\",\"part\"]}}}";
        LoadedFunction function = LoadedFunction.of(((Reading.Read) PipelineText.read(text)).pipeline(), new Runs());
        deployment.makeTables(function);
        deployment.release(function);
        AwsEngine.open(process(), function.pipeline(), 2, 2);
    }

    @Test
    void rows_of_a_run_are_one_cut_also_while_a_step_writes_two_of_them() {
        releaseRuns();
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        Seeds.forAllSeeds(60, random -> {
            version += 2;
            var removed = deployment.start(() -> take(arrival("a", version, "remove")));
            deployment.time.runFor(Duration.ofSeconds(5));
            var written = deployment.start(() -> take(arrival("a", version + 1, "put")));
            List<List<String>> seen = new ArrayList<>();
            for (int look = 0; look < 12; look++) {
                deployment.time.runFor(Duration.ofMillis(random.nextInt(20)));
                seen.add(run(new TableQuery(List.of("parts"), Optional.of(List.of("r")), 10)));
            }
            assertThat(removed).isCompleted();
            deployment.time.runFor(Duration.ofSeconds(5));
            assertThat(written).isCompleted();
            int both = folded();
            assertThat(seen)
                    .isSubsetOf(
                            List.of("{\"run\":\"r\",\"part\":1,\"count\":" + (both - 1) + "}"),
                            List.of(
                                    "{\"run\":\"r\",\"part\":1,\"count\":" + both + "}",
                                    "{\"run\":\"r\",\"part\":2,\"count\":" + both + "}"));
            assertThat(run(new TableQuery(List.of("parts"), Optional.of(List.of("r")), 10)))
                    .hasSize(2);
        });
    }

    @Test
    void a_row_of_a_shared_table_is_read_by_its_key_as_soon_as_the_context_of_its_step_is() {
        releaseRuns();
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        Seeds.forAllSeeds(40, random -> {
            version += 2;
            take(arrival("a", version, "remove"));
            int before = folded();
            var written = deployment.start(() -> take(arrival("a", version + 1, "put")));
            while (folded() == before) {
                deployment.time.runFor(Duration.ofMillis(random.nextInt(4)));
            }
            assertThat(run(new TableQuery(List.of("parts"), Optional.of(List.of("r", "2")), 10)))
                    .hasSize(1);
            deployment.time.runFor(Duration.ofSeconds(5));
            assertThat(written).isCompleted();
        });
    }

    private int folded() {
        return engine().state(List.of("a"))
                .map(state -> ((Value.Whole) Objects.requireNonNull(
                                state.context().components().get("count")))
                        .number())
                .orElse(0L)
                .intValue();
    }

    private String totals() {
        AwsEngine engine = engine();
        engine.reduce();
        return engine.query(Query.all("by-bucket")).lines().toString();
    }

    private void restoreTotals(Backup totals) {
        deployment.dynamo.restore(totals, Duration.ofMinutes(5));
        deployment.time.runFor(Duration.ofMinutes(5));
    }

    @Test
    void totals_that_were_restored_are_made_of_the_rows_of_tables() {
        LoadedFunction function = release(Order.IN_ORDER, 100, 1);
        take(arrival("a", 1, "put"), arrival("b", 2, "put"));
        engine().reduce();
        Backup before = deployment.dynamo.backup(deployment.tables.totals());
        take(arrival("a", 3, "put"), arrival("a", 2, "remove"), arrival("c", 3, "put"));
        String right = totals();
        restoreTotals(before);
        assertThatThrownBy(this::totals).hasMessageContaining("'onefold aws restored'");
        assertThat(Restored.takeOver(process()).totals().differences()).isNotEmpty();
        assertThat(totals()).isEqualTo(right);
        take(arrival("a", 4, "put"));
        assertThat(engine().verify(new Truth.Rows(1)).isEqual()).isTrue();
        for (int step = 0; step < 3; step++) {
            Upkeep.step(process(), function.pipeline(), 0, () -> true, _ -> {});
        }
        int served = new Definitions(process()).load().served();
        assertThat(deployment.dynamo.backup(deployment.tables.totals()).items())
                .allMatch(item -> item.get("p").s().matches("headers|" + served + "/.*"));
    }

    @Test
    void whenever_a_restore_is_stopped_and_whatever_fails_each_row_is_in_the_totals_once() {
        Seeds.forAllSeeds(12, random -> {
            AwsKeyedHazardsTest other = new AwsKeyedHazardsTest();
            other.stopRestore(random);
        });
    }

    private void stopRestore(RandomGenerator random) {
        release(Order.EVERY, 1_000, 1);
        for (int key = 0; key < 9; key++) {
            take(arrival("k" + key, 1, "put"), arrival("k" + key, 2 + key, "put"));
        }
        engine().reduce();
        restoreTotals(deployment.dynamo.backup(deployment.tables.totals()));
        deployment.dynamo.inject(Faults.none()
                .with(Faults.Timing.USUAL)
                .with(Fault.REPLY_LOST, 0.1)
                .with(Fault.ERROR_AFTER, 0.1)
                .with(Fault.ERROR_BEFORE, 0.1));
        SimulatedClient client = deployment.dynamo.client("killed");
        Store killed = deployment.process(client);
        var _ = deployment.start(() -> Restored.takeOver(killed));
        deployment.time.runFor(Duration.ofMillis(random.nextInt(20_000)));
        client.kill();
        List<Arrival> beside = IntStream.range(20, 60)
                .mapToObj(version -> arrival("k" + version % 9, version, "put"))
                .toList();
        beside.forEach(each -> deployment.time.schedule(Duration.ofMillis(random.nextInt(20_000)), () -> {
            var _ = deployment.start(() -> StateAndMap.process(process(), List.of(each)));
        }));
        Restored.takeOver(process());
        deployment.dynamo.inject(Faults.none());
        deployment.time.runFor(Duration.ofMinutes(30)); // Zombies wake up.
        take(beside.toArray(Arrival[]::new)); // Those that were refused meanwhile come again.
        totals();
        assertThat(engine().verify(new Truth.Rows(1)).differences()).isEmpty();
    }

    @Test
    void a_reset_closes_anew_what_a_restore_has_closed_so_that_the_restore_opens_nothing() {
        release(Order.EVERY, 1_000, 1);
        for (int key = 0; key < 9; key++) {
            take(arrival("k" + key, 1, "put"));
        }
        restoreTotals(deployment.dynamo.backup(deployment.tables.totals()));
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        var restore = deployment.start(() -> Restored.takeOver(process()));
        while (!isClosed()) {
            deployment.time.runFor(Duration.ofMillis(10));
        }
        Reset.run(
                process(),
                _ -> {
                    deployment.time.runFor(Duration.ofMinutes(1));
                    assertThat(isClosed()).isTrue();
                },
                _ -> {});
        assertThat(restore).isCompletedExceptionally();
        assertThat(trail("k1")).isEmpty();
        assertThat(engine().verify(new Truth.Rows(1)).isEqual()).isTrue();
    }

    private boolean isClosed() {
        return new Definitions(process())
                .findAnyhow()
                .orElseThrow()
                .incarnation()
                .tables()
                .contains("");
    }

    @Test
    void verify_finds_totals_that_differ_from_the_rows_of_their_tables_and_no_others() {
        LoadedFunction function = release(Order.EVERY, 1_000, 1);
        take(arrival("a", 1, "put"), arrival("b", 2, "put"), arrival("c", 3, "put"));
        assertThat(engine().verify(new Truth.Rows(1)).isEqual()).isTrue();
        assertThat(engine().verify(new Truth.Rows(1)).groups()).isPositive();
        OutputTable buckets = OutputTable.of(function.pipeline(), function.processing()).stream()
                .filter(table -> table.name().equals("buckets"))
                .findFirst()
                .orElseThrow();
        byte[] strange = Codec.of(Trails.Bucket.class).encode(new Trails.Bucket("strange", 0, 1));
        deployment.of(deployment
                .dynamo
                .client("by hand")
                .putItem(put -> put.tableName(deployment.tables.output("buckets"))
                        .item(buckets.item(new byte[0], Tuple.of(List.of("strange", "0")), strange, true))));
        assertThat(engine().verify(new Truth.Rows(1)).differences())
                .extracting(difference -> difference.group())
                .containsExactly(List.of("0"));
    }

    @Test
    void verify_finds_an_attribute_that_was_changed_by_hand_in_every_order() {
        release(Order.LATEST, 1, 1);
        take(arrival("a", 1, "put"), arrival("b", 2, "put"));
        String table = deployment.tables.output("last");
        SimulatedClient hand = deployment.dynamo.client("by hand");
        Map<String, AttributeValue> item =
                new HashMap<>(deployment.of(hand.scan(all -> all.tableName(table))).items().stream()
                        .filter(each -> each.get("k").s().equals("b"))
                        .findFirst()
                        .orElseThrow());
        item.put("v", AttributeValue.fromN("77"));
        deployment.of(hand.putItem(put -> put.tableName(table).item(item)));
        assertThat(engine().verify(new Truth.Rows(1)).keyDifferences())
                .containsExactly(new KeyDifference(List.of("b"), "last b, attributes", "{\"v\":77}", "{\"v\":2}"));
    }

    @Test
    void what_killed_steps_have_left_behind_is_deleted_and_nothing_else() {
        LoadedFunction function = release(Order.IN_ORDER, 2, 1);
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        Seeds.forAllSeeds(60, random -> {
            SimulatedClient client = deployment.dynamo.client("killed");
            Store killed = deployment.process(client);
            int from = (int) (deployment.time.instant().getEpochSecond() % 100_000);
            var _ = deployment.start(() -> StateAndMap.process(
                    killed, List.of(arrival("a", from + 2, "put"), arrival("a", from + random.nextInt(4), "put"))));
            deployment.time.runFor(Duration.ofMillis(random.nextInt(150)));
            client.kill();
            deployment.time.runFor(Duration.ofSeconds(20));
        });
        List<Entry> trail = trail("a");
        assertThat(count(3, 4)).isGreaterThan(named("a"));
        Upkeep.step(process(), function.pipeline(), 1, () -> true, _ -> {});
        deployment.time.runFor(Duration.ofMinutes(1));
        assertThat(count(3, 4)).isEqualTo(named("a"));
        assertThat(trail("a")).isEqualTo(trail);
        take(arrival("a", 200_000, "put"), arrival("a", 199_999, "put"));
        assertThat(engine().verify(new Truth.Rows(1)).isEqual()).isTrue();
    }

    /// How many items of these kinds the table of rows has.
    private long count(int... kinds) {
        return deployment.dynamo.backup(deployment.tables.rows()).items().stream()
                .filter(item -> IntStream.of(kinds).anyMatch(kind -> Items.bytes(item, "k")[0] == kind))
                .count();
    }

    /// How many kept events and bases the head of a key names.
    private int named(String key) {
        Head.Window window = StoredKey.heads(process(), List.of(key.getBytes(StandardCharsets.UTF_8)))
                .getFirst()
                .head()
                .window();
        return window.count() + (window.baseCount() > 0 ? 1 : 0);
    }

    @Test
    void the_audit_of_a_day_reports_a_row_that_differs() {
        LoadedFunction function = release(Order.IN_ORDER, 100, 1);
        take(arrival("a", 1, "put"), arrival("b", 2, "put"));
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        UpkeepFunction upkeep = new UpkeepFunction(
                process(), function.pipeline(), new Metrics(new PrintStream(log, true, StandardCharsets.UTF_8), "it"));
        byte[] audit = "{\"audit\":1}".getBytes(StandardCharsets.UTF_8);
        upkeep.handle(audit, () -> true);
        assertThat(log.toString(StandardCharsets.UTF_8))
                .contains("INFO Audit of 2 keys", ": 0 differ", "\"AuditDifferences\":0");
        OutputTable last = OutputTable.of(function.pipeline(), function.processing()).stream()
                .filter(table -> table.name().equals("last"))
                .findFirst()
                .orElseThrow();
        byte[] strange = Codec.of(Trails.Last.class).encode(new Trails.Last("b", 2, 5));
        deployment.of(deployment
                .dynamo
                .client("by hand")
                .putItem(put -> put.tableName(deployment.tables.output("last"))
                        .item(last.item(new byte[0], Tuple.of(List.of("b")), strange, true))));
        upkeep.handle(audit, () -> true);
        assertThat(log.toString(StandardCharsets.UTF_8))
                .contains("ERROR Audit of 2 keys", ": 1 differ", "\"AuditDifferences\":1");
    }

    @Test
    void verify_beside_intake_finds_no_difference() {
        release(Order.IN_ORDER, 100, 1);
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        for (int second = 0; second < 30; second++) {
            int version = 1 + second % 2 * 40 + second;
            deployment.time.schedule(Duration.ofMillis(700L * second), () -> {
                var _ = deployment.start(() -> StateAndMap.process(process(), List.of(arrival("a", version, "put"))));
            });
        }
        assertThat(engine().verify(new Truth.Rows(1)).isEqual()).isTrue();
    }

    @Test
    void a_key_of_which_something_kept_is_missing_after_a_restore_goes_on_from_its_context() {
        LoadedFunction function = release(Order.IN_ORDER, 100, 1);
        for (String lost : List.of("kept", "base")) {
            take(arrival(lost, 1, "put"), arrival(lost, 4, "put"), arrival(lost, 6, "put"));
            take(arrival(lost, 5, "put")); // Late: there is a base now.
            take(arrival(lost, 8, "put"), arrival(lost, 9, "put"));
            byte[] key = Key.bytes(function.pipeline(), List.of(lost));
            StoredKey.atOnce(process(), OutputTable.of(function.pipeline(), function.processing()), key, (head, _) -> {
                var item = lost.equals("base")
                        ? KeyItem.baseOf(key)
                        : KeyItem.keptOf(
                                key,
                                Objects.requireNonNull(head).head().window().first());
                return deployment.of(deployment
                        .dynamo
                        .client("backup")
                        .deleteItem(request ->
                                request.tableName(deployment.tables.rows()).key(item)));
            });
            take(arrival("other " + lost, 1, "put"));
            assertThat(engine().verify(new Truth.Rows(1)).keyDifferences())
                    .extracting(KeyDifference::what)
                    .containsExactly("kept events");
            assertThat(take(arrival(lost, 7, "put"), arrival("other " + lost, 2, "put")))
                    .hasExactlyElementsOfTypes(Fate.Rejected.class, Fate.Accepted.class);
            assertThat(take(arrival(lost, 10, "put"), arrival(lost, 9, "put"), arrival(lost, 7, "put")))
                    .hasExactlyElementsOfTypes(Fate.Accepted.class, Fate.Duplicate.class, Fate.Rejected.class);
            assertThat(trail(lost).stream().map(Entry::v)).containsExactly(1L, 4L, 5L, 6L, 8L, 9L, 10L);
            assertThat(engine().deadLetters().list(0, 100))
                    .extracting(DeadLetter::reason)
                    .contains(Reason.REFUSED);
        }
    }

    @Test
    void an_event_that_was_redriven_and_fails_when_it_is_folded_again_has_a_letter_again() {
        AtomicBoolean stalls = new AtomicBoolean(true);
        LoadedFunction function = new LifeCase(Order.IN_ORDER, 100, true, 0, List.of()).loaded(1, stalls::get);
        deployment.makeTables(function);
        deployment.release(function);
        AwsEngine.open(process(), function.pipeline(), 2, 2);
        take(arrival("a", 1, "put"), arrival("a", 6, "fail"));
        stalls.set(false);
        DeadLetter first = engine().deadLetters().list(0, 10).getFirst();
        assertThat(engine().deadLetters().redrive(first.id(), null)).isEqualTo(DeadLetters.Redriven.ACCEPTED);
        take(arrival("a", 3, "put"));
        assertThat(trail("a").stream().map(Entry::v)).containsExactly(1L, 3L);
        assertThat(take(arrival("a", 6, "fail"))).containsExactly(new Fate.Duplicate());
        assertThat(engine().deadLetters().list(0, 10))
                .extracting(DeadLetter::reason)
                .containsExactly(Reason.FAILED);
    }
}
