package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.KeyItem;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.state.StoredKey;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.Truth;
import dev.onefold.core.codec.Codec;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.keyed.Steps;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.Tally;
import dev.onefold.fixtures.Seeds;
import dev.onefold.process.Step;
import dev.onefold.process.Write;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// A user's function on the simulated service: what it has made of keys is what a plain fold of their events comes to,
/// whatever happens to requests and functions.
class FunctionsTest {
    private static final String LATEST = "\"order\":\"latest\"";
    private static final String IN_ORDER = "\"order\":\"in-order\",\"keep\":100";

    private final Functions functions =
            new Functions(Deployment.calm(), Functions.load(IN_ORDER, Functions.TOTALS, new Steps()));

    /// What a plain fold of a key's events comes to.
    private static final class Plain {
        final TreeMap<Integer, Steps.Event> events = new TreeMap<>();
        final Map<String, Object> latest = new TreeMap<>();
        final Map<String, Object> buckets = new TreeMap<>();
        Steps.Seen seen = new Steps().start();
        int failed;

        void add(int version, Steps.Event event) {
            events.merge(version, event, Plain::greater);
        }

        static Steps.Event greater(Steps.Event one, Steps.Event other) {
            Codec<Steps.Event> codec = Codec.of(Steps.Event.class);
            return Arrays.compareUnsigned(codec.encode(one), codec.encode(other)) >= 0 ? one : other;
        }

        void fold() {
            Steps steps = new Steps();
            for (Steps.Event event : events.values()) {
                try {
                    Step<Steps.Seen> step = steps.step(seen, event);
                    seen = step.context();
                    step.writes().forEach(this::write);
                } catch (IllegalArgumentException thrown) {
                    failed++;
                }
            }
        }

        private void write(Write write) {
            switch (write) {
                case Write.Put(String table, Steps.Bucket row) ->
                    buckets.put(List.of(row.k(), "" + row.bucket()).toString(), row);
                case Write.Put(String table, Steps.Latest row) ->
                    latest.put(List.of(row.k()).toString(), row);
                case Write.Remove remove ->
                    buckets.remove(
                            remove.key().stream().map(String::valueOf).toList().toString());
                default -> throw new AssertionError(write.toString());
            }
        }
    }

    private static Map<String, String> json(Map<String, Object> rows, Class<? extends Record> type) {
        Map<String, String> json = new TreeMap<>();
        rows.forEach((key, row) -> json.put(key, json(type, row)));
        return json;
    }

    private static <T extends Record> String json(Class<T> type, Object row) {
        return Value.read(Codec.of(type).encode(type.cast(row))).toJson();
    }

    @Test
    void events_in_any_order_come_to_what_a_plain_fold_comes_to() {
        List<Arrival> batch = new ArrayList<>();
        TreeMap<String, Plain> plain = new TreeMap<>();
        for (int i = 0; i < 60; i++) {
            batch.add(arrival(functions, plain, i % 3, i / 3, new Steps.Event(i, i % 7 == 0 ? "remove" : "put")));
        }
        Collections.shuffle(batch, new Random(3));
        for (int from = 0; from < batch.size(); from += 7) {
            functions.process(
                    batch.subList(from, Math.min(batch.size(), from + 7)).toArray(Arrival[]::new));
        }
        requireEqual(functions, plain);
        assertThat(StateAndMap.process(functions.function(), batch)).allMatch(Fate.Duplicate.class::isInstance);
        requireEqual(functions, plain);
    }

    private static Arrival arrival(
            Functions functions, Map<String, Plain> plain, int key, int version, Steps.Event event) {
        String name = "k" + key;
        plain.computeIfAbsent(name, _ -> new Plain())
                .add(version, new Steps.Event(event.add(), event.what() + ":" + name));
        return functions.arrival(name, version, event.add(), event.what());
    }

    private static void requireEqual(Functions functions, Map<String, Plain> plain) {
        Map<String, Object> latest = new TreeMap<>();
        Map<String, Object> buckets = new TreeMap<>();
        AwsEngine engine = functions.engine();
        plain.forEach((key, expected) -> {
            expected.latest.clear();
            expected.buckets.clear();
            expected.seen = new Steps().start();
            expected.failed = 0;
            expected.fold();
            latest.putAll(expected.latest);
            buckets.putAll(expected.buckets);
            KeyState state = engine.state(List.of(key)).orElseThrow();
            assertThat(state.context().toJson()).isEqualTo(json(Steps.Seen.class, expected.seen));
        });
        assertThat(functions.rows("latest")).isEqualTo(json(latest, Steps.Latest.class));
        assertThat(functions.rows("buckets")).isEqualTo(json(buckets, Steps.Bucket.class));
        assertThat(engine.verify(new Truth.Rows(1)).isEqual()).isTrue();
        requireTotals(engine, buckets);
    }

    private static void requireTotals(AwsEngine engine, Map<String, Object> buckets) {
        Map<String, List<BigDecimal>> expected = new TreeMap<>();
        buckets.values().forEach(each -> {
            Steps.Bucket row = (Steps.Bucket) each;
            BigDecimal trail = BigDecimal.valueOf(row.trail());
            expected.merge(
                    "" + row.bucket(),
                    List.of(trail, BigDecimal.ONE, trail),
                    (one, other) -> List.of(
                            one.get(0).add(trail),
                            one.get(1).add(BigDecimal.ONE),
                            one.get(2).max(trail)));
        });
        engine.reduce();
        Map<String, List<BigDecimal>> found = new TreeMap<>();
        engine.query(new Query("all", List.of(), 1, null)).lines().stream()
                .filter(line -> line.group().size() == 1)
                .forEach(line -> found.put(line.group().getFirst(), line.values()));
        assertThat(found).isEqualTo(expected);
    }

    /// A life with twins, zombies, lost answers and killed functions.
    @Test
    void however_requests_and_functions_fail_a_plain_fold_comes_to_the_same() {
        Seeds.forAllSeeds(12, FunctionsTest::live);
    }

    private static void live(RandomGenerator drawn) {
        SplittableRandom random = new SplittableRandom(drawn.nextLong());
        Functions functions = new Functions(Deployment.calm(), Functions.load(IN_ORDER, Functions.TOTALS, new Steps()));
        TreeMap<String, Plain> plain = new TreeMap<>();
        List<Arrival> events = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            String what = List.of("put", "put", "remove", "throw").get(random.nextInt(4));
            events.add(arrival(
                    functions,
                    plain,
                    random.nextInt(3),
                    random.nextInt(15),
                    new Steps.Event(random.nextInt(100), what)));
        }
        Collections.shuffle(events, new Random(random.nextLong()));
        Deployment deployment = functions.deployment;
        deployment.dynamo.inject(faults(random));
        for (int from = 0; from < events.size(); from += 10) {
            List<Arrival> batch = events.subList(from, Math.min(events.size(), from + 10));
            for (int twin = 0; twin < 2; twin++) {
                var _ = deployment.start(() -> StateAndMap.process(functions.function(), batch));
            }
            deployment.time.runFor(Duration.ofMillis(random.nextInt(300)));
        }
        deployment.time.runFor(Duration.ofMinutes(3));
        deployment.dynamo.inject(Faults.none());
        deployment.time.runFor(Duration.ofMinutes(30)); // Zombies wake up.
        StateAndMap.process(functions.function(), events); // A batch that failed comes again.
        requireEqual(functions, plain);
        requireLetters(functions, plain);
    }

    private static Faults faults(SplittableRandom random) {
        Faults faults = Faults.none().with(Faults.Timing.USUAL);
        for (Fault fault : Fault.values()) {
            if (random.nextBoolean()) {
                faults = faults.with(fault, random.nextDouble() * 0.08);
            }
        }
        return faults;
    }

    /// One letter for each event at which the function throws in the end, and for each loser of a conflict.
    private static void requireLetters(Functions functions, Map<String, Plain> plain) {
        List<DeadLetter> letters = functions.engine().deadLetters().list(0, 1_000);
        int failed = plain.values().stream().mapToInt(key -> key.failed).sum();
        assertThat(letters.stream().filter(letter -> letter.reason() == Reason.FAILED))
                .hasSize(failed);
        assertThat(letters.stream()
                        .filter(letter -> letter.reason() == Reason.CONFLICT)
                        .map(letter -> letter.sha256() + letter.place()))
                .doesNotHaveDuplicates();
    }

    @Test
    void a_step_whose_answer_is_lost_is_looked_up_and_is_its_own() {
        functions.deployment.dynamo.inject(
                Faults.none().with(Fault.REPLY_LOST, 0.2).with(Fault.ERROR_AFTER, 0.2));
        List<Fate> fates = new ArrayList<>();
        for (int version = 0; version < 40; version++) {
            fates.addAll(functions.process(functions.arrival("a", version, 1, "put")));
        }
        assertThat(fates).hasSize(40).allMatch(Fate.Accepted.class::isInstance);
    }

    @Test
    void a_function_of_older_code_writes_nothing_to_a_key_of_newer_code() {
        functions.process(functions.arrival("a", 1, 1, "put"));
        Store newer = functions
                .deployment
                .function()
                .with(Functions.called(Functions.load(IN_ORDER + ",\"version\":2", Functions.TOTALS, new Steps())));
        StateAndMap.process(newer, List.of(functions.arrival("a", 2, 1, "put")));
        Map<String, String> rows = functions.rows("buckets");
        List<Fate> fates = functions.process(functions.arrival("a", 3, 1, "put"), functions.arrival("b", 1, 2, "put"));
        assertThat(fates.getFirst()).isInstanceOf(Fate.HandedBack.class);
        assertThat(fates.getLast()).isEqualTo(new Fate.Accepted());
        assertThat(functions.rows("buckets")).containsAllEntriesOf(rows).hasSize(rows.size() + 1);
        assertThat(functions.engine().state(List.of("a")).orElseThrow().code()).isEqualTo(2);
        assertThat(functions.engine().state(List.of("b"))).isPresent();
    }

    @Test
    void a_letter_of_an_event_that_folds_after_all_is_removed_with_its_step() {
        // In the first context, a throwing event with 1 fails; behind one that adds 2, it does not.
        functions.process(functions.arrival("a", 5, 1, "throw"));
        assertThat(functions.engine().deadLetters().list(0, 10)).hasSize(1);
        functions.process(functions.arrival("b", 9, 1, "throw"), functions.arrival("a", 5, 1, "throw"));
        assertThat(functions.engine().deadLetters().list(0, 10)).hasSize(2);
        int add = IntStream.range(0, 3)
                .filter(i -> ((7 * 31 + i) % 1_000_003 + 1) % 3 == 0)
                .findFirst()
                .orElseThrow();
        functions.process(functions.arrival("a", 4, add, "put"));
        assertThat(functions.engine().deadLetters().list(0, 10)).hasSize(1);
    }

    @Test
    void rows_of_a_key_are_one_cut_and_plain_attributes() {
        functions.process(functions.arrival("a", 1, 2, "put"), functions.arrival("b", 1, 4, "put"));
        AwsEngine engine = functions.engine();
        TableQuery query = new TableQuery(List.of("latest", "buckets"), Optional.of(List.of("a")), 10);
        TableAnswer answer = engine.tables(query, found -> found);
        assertThat(answer.tables()).extracting(table -> table.rows().size()).containsExactly(1, 1);
        assertThat(answer.tables().getFirst().columns()).containsExactly("k", "trail");
        var item = functions.items(functions.deployment.tables.output("latest")).stream()
                .filter(each -> each.get("k").s().equals("a"))
                .findFirst()
                .orElseThrow();
        assertThat(item.get("trail").n()).isEqualTo("" + (7 * 31 + 2));
        assertThatThrownBy(() -> engine.tables(new TableQuery(List.of("latest"), Optional.empty(), 10), found -> found))
                .hasMessageContaining("it-table-latest");
    }

    @Test
    void what_a_step_keeps_no_longer_is_deleted() {
        Functions few =
                new Functions(Deployment.calm(), Functions.load("\"order\":\"in-order\",\"keep\":2", "", new Steps()));
        for (int version = 0; version < 30; version += 2) {
            few.process(few.arrival("a", version, 2, "put"));
            assertThat(few.count(3)).isLessThanOrEqualTo(4);
        }
        few.process(few.arrival("a", 27, 3, "put"));
        assertThat(few.count(4)).isEqualTo(1);
        IntStream.range(30, 40).forEach(version -> few.process(few.arrival("a", version, 2, "put")));
        assertThat(few.count(4)).isZero();
        Fate late = few.process(few.arrival("a", 1, 3, "put")).getFirst();
        assertThat(late).isInstanceOf(Fate.Rejected.class);
        few.process(few.arrival("a", 1, 3, "put"));
        assertThat(few.engine().deadLetters().list(0, 10)).hasSize(1);
    }

    /// Per event.
    private record Costs(double transactions, double writeUnits, double readUnits) {}

    /// Events of as many keys, or of one.
    private static Costs costs(String process, int batch, int events, boolean oneKey) {
        Functions functions = new Functions(Deployment.calm(), Functions.load(process, "", new Steps()));
        List<Arrival> all = new ArrayList<>();
        for (int i = 0; i < events; i++) {
            all.add(functions.arrival(oneKey ? "a" : "k" + i, i, 2 * i + 1, "put"));
        }
        Store store = functions.function();
        Tally tally = functions.deployment.dynamo.tally();
        long writes = tally.writeUnits();
        long reads = tally.readUnits();
        long transactions = tally.requests().getOrDefault(Tally.Operation.TRANSACT_WRITE_ITEMS, 0L);
        for (int from = 0; from < events; from += batch) {
            StateAndMap.process(store, all.subList(from, Math.min(events, from + batch)));
        }
        double count = events;
        return new Costs(
                (tally.requests().get(Tally.Operation.TRANSACT_WRITE_ITEMS) - transactions) / count,
                (tally.writeUnits() - writes) / count,
                (tally.readUnits() - reads) / count);
    }

    @Test
    void events_of_a_batch_share_transactions() {
        Costs one = costs(LATEST, 1, 50, false);
        Costs hundred = costs(LATEST, 100, 300, false);
        Costs thousand = costs(LATEST, 1_000, 1_000, false);
        assertThat(one.writeUnits()).isLessThanOrEqualTo(6);
        assertThat(hundred.transactions()).isLessThanOrEqualTo(0.08);
        assertThat(thousand.transactions()).isLessThanOrEqualTo(0.04);
        assertThat(thousand.writeUnits()).isLessThanOrEqualTo(4.1);
    }

    @Test
    void what_an_event_above_all_others_costs_does_not_grow_with_keep() {
        Costs few = costs("\"order\":\"in-order\",\"keep\":1", 1, 300, true);
        Costs some = costs("\"order\":\"in-order\",\"keep\":100", 1, 300, true);
        Costs many = costs("\"order\":\"in-order\",\"keep\":1000", 1, 300, true);
        assertThat(some.writeUnits()).isLessThanOrEqualTo(few.writeUnits());
        assertThat(many.writeUnits()).isLessThanOrEqualTo(few.writeUnits());
        assertThat(many.readUnits()).isLessThanOrEqualTo(few.readUnits());
    }

    @Test
    void what_a_late_event_reads_does_not_grow_with_the_events_that_came_since_the_highest_version() {
        Functions few =
                new Functions(Deployment.calm(), Functions.load("\"order\":\"in-order\",\"keep\":5", "", new Steps()));
        few.process(few.arrival("a", 1_000_000, 1, "put")); // A clock that is ahead, for example.
        Store store = few.function();
        Tally tally = few.deployment.dynamo.tally();
        long[] reads = new long[2];
        for (int version = 0; version < 60; version++) {
            long before = tally.readUnits();
            StateAndMap.process(store, List.of(few.arrival("a", version, version, "put")));
            reads[version < 30 ? 0 : 1] += tally.readUnits() - before;
        }
        assertThat(reads[1]).isLessThan(reads[0] * 5 / 4);
        assertThat(few.engine().state(List.of("a")).orElseThrow().context().toJson())
                .contains("\"count\":61");
    }

    @Test
    void rows_are_read_as_of_the_head_s_step_or_not_at_all() {
        functions.process(functions.arrival("a", 1, 2, "put"));
        Store store = functions.function();
        byte[] key = "a".getBytes(StandardCharsets.UTF_8);
        List<OutputTable> tables = OutputTable.of(functions.loaded.pipeline(), functions.loaded.processing());
        StoredKey before = new StoredKey(
                store, tables, key, StoredKey.heads(store, List.of(key)).getFirst());
        StoredKey none = new StoredKey(store, tables, key, null);
        List<RowId> latest =
                List.of(new RowId(functions.loaded.processing().table("latest").orElseThrow(), Tuple.of(List.of("a"))));
        assertThat(before.rows(latest)).hasSize(1);
        functions.process(functions.arrival("a", 2, 4, "put"));
        assertThatThrownBy(() -> before.rows(latest)).isInstanceOf(StoredKey.Moved.class);
        assertThatThrownBy(() -> none.rows(latest)).isInstanceOf(StoredKey.Moved.class);
    }

    @Test
    void rows_are_not_older_than_the_head_although_the_items_of_a_step_become_visible_one_by_one() {
        Faults.Timing usual = Faults.Timing.USUAL;
        functions.deployment.dynamo.inject(Faults.none()
                .with(new Faults.Timing(
                        usual.networkMax(),
                        Duration.ofMillis(400),
                        usual.lagMax(),
                        usual.clientTimeout(),
                        usual.zombieMax(),
                        usual.attemptsMax(),
                        usual.creation())));
        Store store = functions.function();
        byte[] key = "a".getBytes(StandardCharsets.UTF_8);
        List<OutputTable> tables = OutputTable.of(functions.loaded.pipeline(), functions.loaded.processing());
        RowId latest = new RowId(functions.loaded.processing().table("latest").orElseThrow(), Tuple.of(List.of("a")));
        int compared = 0;
        for (int version = 1; version < 20; version++) {
            Arrival arrival = functions.arrival("a", version, 2 * version, "put");
            var live = functions.deployment.start(() -> StateAndMap.process(functions.function(), List.of(arrival)));
            while (!live.isDone()) {
                for (KeyItem head : StoredKey.heads(store, List.of(key))) {
                    try {
                        Map<RowId, byte[]> rows = new StoredKey(store, tables, key, head).rows(List.of(latest));
                        assertThat(Value.read(Objects.requireNonNull(rows.get(latest)))
                                        .components()
                                        .get("trail"))
                                .isEqualTo(Value.read(head.head().context())
                                        .components()
                                        .get("trail"));
                        compared++;
                    } catch (StoredKey.Moved moved) {
                        assertThat(moved).isNotNull(); // It is read again.
                    }
                }
            }
        }
        assertThat(compared).isGreaterThan(30);
    }
}
