package dev.onefold.core;

import static dev.onefold.core.Trades.TRADES;
import static dev.onefold.core.Trades.deleted;
import static dev.onefold.core.Trades.filtered;
import static dev.onefold.core.Trades.permutations;
import static dev.onefold.core.Trades.trade;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The contract of [Engine], for every runtime: an implementation of this opens its engine and feeds it.
/// It is one idea: what holds on all of them.
public interface EngineContract {
    /// Opens the engine on the data of this name, which are there again after it was closed.
    Engine open(String data, Pipeline pipeline);

    /// Feeds records of a source, behind those it has had; when it returns, they are in the answers.
    void feed(Engine engine, String source, List<String> records);

    /// The line of its source that a place stands for.
    default long line(Place place) {
        return place.line();
    }

    /// Each line as `desk/region=value,trades`, in the order of the answer.
    static List<String> totals(Engine engine) {
        return lines(engine.query(Query.all("main")));
    }

    private static List<String> lines(Answer answer) {
        return answer.lines().stream()
                .map(line -> String.join("/", line.group()) + "="
                        + String.join(
                                ",", line.values().stream().map(String::valueOf).toList()))
                .toList();
    }

    private static List<String> figures(Engine engine) {
        return lines(engine.query(Query.all("figures")));
    }

    private static List<DeadLetter> letters(Engine engine) {
        return engine.deadLetters().list(0, 1_000);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /// Requires the same state after every order of these records, each in a batch of its own or all in one.
    private void assertAlike(List<String> records, List<String> totals, int kept) {
        int number = 0;
        for (List<String> order : permutations(records)) {
            number++;
            if (records.size() > 3 && number % 5 != 1) {
                continue; // A fifth of these many orders is enough.
            }
            try (Engine engine = open("order-" + number, TRADES)) {
                if (number % 2 == 0) {
                    feed(engine, "one", order);
                } else {
                    order.forEach(record -> feed(engine, "one", List.of(record)));
                }
                feed(engine, "two", order);
                assertThat(totals(engine)).as("%s", order).isEqualTo(totals);
                assertThat(letters(engine))
                        .as("%s", order)
                        .hasSize(kept)
                        .allMatch(letter -> letter.reason() == Reason.CONFLICT);
                assertThat(engine.verify().isEqual()).isTrue();
                assertThat(engine.counts().records()).isEqualTo(2L * records.size());
            }
        }
    }

    @Test
    default void a_record_counts_once_however_often_it_comes() {
        String record = trade("a", 1, "Rates", "EMEA", "10.10");
        try (Engine engine = open("data", TRADES)) {
            feed(engine, "one", List.of(record, record, record));
            feed(engine, "one", List.of(record));
            feed(engine, "two", List.of(record.replace("10.10", "10.1"), record.replace("10.10", "\"1010e-2\"")));
            assertThat(totals(engine)).containsExactly("=10.10,1", "Rates=10.10,1", "Rates/EMEA=10.10,1");
        }
        try (Engine engine = open("data", TRADES)) {
            feed(engine, "three", List.of(record));
            assertThat(totals(engine)).first().isEqualTo("=10.10,1");
            assertThat(engine.counts()).isEqualTo(new Counts(1, 6, 0, 0, 0));
            assertThat(engine.deadLetters().size()).isZero();
        }
    }

    @Test
    default void silent_records_are_counted_by_their_causes_and_at_most_16_other_tables_by_name() {
        Pipeline orders = PipelineBuilder.named("orders")
                .debezium("public.orders")
                .key("id")
                .rollup(r -> r.count("orders"))
                .build();
        String change = "{\"op\":\"u\",\"after\":{\"id\":1},\"source\":{\"schema\":\"public\",\"table\":\"%s\","
                + "\"lsn\":1,\"sequence\":\"[null,\\\"1\\\"]\"}}";
        List<String> tables = IntStream.range(10, 30)
                .mapToObj(number -> change.formatted("t" + number))
                .toList();
        String own = change.formatted("orders");
        Map<String, Long> causes = new TreeMap<>(Map.of("silent: tombstone", 3L, "silent: of further tables", 7L));
        IntStream.range(10, 26).forEach(number -> causes.put("silent: of public.t" + number, number < 20 ? 2L : 1L));
        try (Engine engine = open("silent", orders)) {
            assertThat(engine.causes()).isEqualTo(Causes.NONE);
            feed(engine, "one", tables.subList(0, 10));
            feed(engine, "one", List.of(own, "null", "null"));
            feed(engine, "two", tables.subList(10, 20));
            feed(engine, "one", tables.subList(0, 10));
            feed(
                    engine,
                    "one",
                    List.of("null", tables.get(19), change.formatted("t".repeat(300)), change.formatted("u")));
            assertThat(engine.causes().counts()).isEqualTo(causes);
            assertThat(engine.counts()).isEqualTo(new Counts(1, 0, 0, 0, 0, 36));
        }
    }

    @Test
    default void hazard_13_the_highest_version_wins_in_any_order_and_its_predecessors_leave_their_groups() {
        assertAlike(
                List.of(
                        trade("a", 2, "Rates", "EMEA", "1"),
                        trade("a", 10, "FX", "APAC", "2"),
                        trade("a", 9, "FX", "EMEA", "4"),
                        trade("b", -1, "FX", "APAC", "8")),
                List.of("=10.00,2", "FX=10.00,2", "FX/APAC=10.00,2"),
                0);
    }

    @Test
    default void hazard_12_a_conflict_is_settled_alike_in_any_order_and_each_loser_is_kept_once() {
        assertAlike(
                List.of(
                        trade("a", 1, "Rates", "EMEA", "1"),
                        trade("a", 1, "Rates", "EMEA", "-3"),
                        trade("a", 1, "FX", "EMEA", "9"),
                        filtered("a", 1)),
                List.of("=1.00,1", "Rates=1.00,1", "Rates/EMEA=1.00,1"),
                3);
    }

    @Test
    default void hazard_14_a_delete_wins_a_conflict_in_any_order() {
        assertAlike(
                List.of(trade("a", 1, "Rates", "EMEA", "1"), deleted("a", 1), trade("b", 1, "", "", "2")),
                List.of("=2.00,1", "=2.00,1", "/=2.00,1"),
                1);
    }

    @Test
    default void hazard_11_a_delete_retracts_and_nothing_late_resurrects_its_key() {
        assertAlike(
                List.of(trade("a", 1, "Rates", "EMEA", "1"), deleted("a", 3), trade("a", 2, "FX", "EMEA", "2")),
                List.of("=0.00,0"),
                0);
        try (Engine engine = open("order-1", TRADES)) {
            feed(engine, "later", List.of(trade("a", 4, "FX", "EMEA", "5")));
            assertThat(totals(engine)).containsExactly("=5.00,1", "FX=5.00,1", "FX/EMEA=5.00,1");
        }
    }

    @Test
    default void hazard_55_a_filtered_version_contributes_nothing_and_still_replaces_its_predecessor() {
        assertAlike(
                List.of(trade("a", 1, "Rates", "EMEA", "1"), filtered("a", 2), trade("b", 1, "FX", "EMEA", "2")),
                List.of("=2.00,1", "FX=2.00,1", "FX/EMEA=2.00,1"),
                0);
    }

    @Test
    default void hazard_17_extremes_averages_and_distinct_counts_are_right_after_corrections_and_deletes() {
        try (Engine engine = open("data", TRADES)) {
            assertThat(figures(engine)).containsExactly("=null,null,null,0");
            feed(
                    engine,
                    "one",
                    List.of(trade("a", 1, "d", "x", "1"), trade("b", 1, "d", "y", "7"), trade("c", 1, "d", "y", "7")));
            assertThat(figures(engine)).containsExactly("=5.00,1.00,7.00,2");
            feed(engine, "one", List.of(deleted("b", 2), trade("a", 2, "d", "y", "0.03")));
            assertThat(figures(engine)).containsExactly("=3.52,0.03,7.00,1"); // 3.515, to the even neighbour
            feed(engine, "one", List.of(deleted("c", 2), deleted("a", 3)));
            assertThat(figures(engine)).containsExactly("=null,null,null,0");
            feed(engine, "one", List.of(trade("b", 3, "d", "y", "7")));
            assertThat(figures(engine)).containsExactly("=7.00,7.00,7.00,1");
        }
    }

    @Test
    default void hazard_20_and_21_and_56_arithmetic_is_exact_and_bounded_at_the_door_and_healthy_records_go_on() {
        Pipeline wide = PipelineBuilder.named("wide")
                .key("id")
                .version("v")
                .rollup(r -> r.sum("s", "n", 38, 2).count("rows"))
                .build();
        String most = "9".repeat(26) + ".99";
        List<String> records = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            records.add("{\"id\":%d,\"v\":1,\"n\":%s%s}".formatted(i, i % 5 == 0 ? "-" : "", most));
        }
        records.add("{\"id\":\"x\",\"v\":1,\"n\":0.1}");
        records.add("{\"id\":\"y\",\"v\":1,\"n\":0.2}");
        List<String> refused = List.of(
                "{\"id\":1,\"v\":2,\"n\":1" + "0".repeat(26) + "}",
                "{\"id\":1,\"v\":2,\"n\":0.001}",
                "{\"id\":1,\"v\":2,\"n\":NaN}",
                "{\"id\":1,\"v\":2,\"n\":1e999999999}",
                "{\"id\":1,\"v\":2,\"n\":\"1,5\"}",
                "{\"id\":1,\"v\":2}",
                "{\"id\":1,\"v\":1" + "0".repeat(64) + ",\"n\":1}",
                "{\"id\":\"" + "k".repeat(1_001) + "\",\"v\":1,\"n\":1}",
                "{\"id\":1,\"v\":2,\"n\":1,\"n\":1}",
                "{\"id\":1,\"v\":2,\"n\":1",
                "[]");
        records.addAll(25, refused);
        try (Engine engine = open("data", wide)) {
            feed(engine, "one", records);
            BigDecimal sum =
                    new BigDecimal(most).multiply(BigDecimal.valueOf(30)).add(new BigDecimal("0.30"));
            assertThat(totals(engine)).containsExactly("=" + sum + ",52");
            assertThat(engine.counts()).isEqualTo(new Counts(52, 0, 0, 0, refused.size()));
            assertThat(letters(engine))
                    .extracting(letter -> new String(engine.deadLetters().record(letter.id()), StandardCharsets.UTF_8))
                    .isEqualTo(refused);
            assertThat(letters(engine))
                    .extracting(DeadLetter::reason)
                    .contains(Reason.MALFORMED, Reason.REFUSED, Reason.TOO_LARGE);
        }
    }

    @Test
    default void hazard_22_a_group_may_have_any_name_and_vanishes_when_it_is_empty() {
        List<String> names = List.of("", "FX:Spot", "message_count", "O'Brien", "a\\u0000b", "a", "\\\"", "/", "😀");
        try (Engine engine = open("data", TRADES)) {
            for (int i = 0; i < names.size(); i++) {
                feed(engine, "one", List.of(trade("k" + i, 1, names.get(i), "r", "" + (i + 1))));
            }
            List<List<String>> groups = engine.query(new Query("main", List.of(), 1, null)).lines().stream()
                    .map(Answer.Line::group)
                    .toList();
            assertThat(groups)
                    .containsExactly(
                            List.of(),
                            List.of(""),
                            List.of("\""),
                            List.of("/"),
                            List.of("FX:Spot"),
                            List.of("O'Brien"),
                            List.of("a"),
                            List.of("a\0b"),
                            List.of("message_count"),
                            List.of("😀"));
            assertThat(lines(engine.query(new Query("main", List.of("a\0b"), 1, null))))
                    .containsExactly("a\0b=5.00,1", "a\0b/r=5.00,1");
            for (int i = 0; i < names.size(); i++) {
                feed(engine, "one", List.of(deleted("k" + i, 2)));
            }
            assertThat(totals(engine)).containsExactly("=0.00,0");
        }
    }

    @Test
    default void the_answer_is_the_same_for_any_order_any_cut_into_batches_and_any_restarts() {
        for (long seed = 0; seed < 5; seed++) {
            Random random = new Random(seed);
            Trades trades = Trades.random(random, 120);
            List<String> records = new ArrayList<>(trades.records);
            records.addAll(records.subList(0, 40));
            Collections.shuffle(records, random);
            Engine engine = open("seed-" + seed, TRADES);
            for (int from = 0, to; from < records.size(); from = to) {
                to = Math.min(records.size(), from + 1 + random.nextInt(random.nextBoolean() ? 4 : 100));
                feed(engine, "s" + random.nextInt(3), records.subList(from, to));
                if (random.nextInt(6) == 0) {
                    engine.close();
                    engine = open("seed-" + seed, TRADES);
                }
            }
            assertThat(totals(engine)).as("seed %d", seed).isEqualTo(trades.totals());
            assertThat(engine.verify().isEqual()).as("seed %d", seed).isTrue();
            engine.close();
        }
    }

    @Test
    default void every_answer_is_one_cut_while_intake_goes_on() {
        Random random = new Random(7);
        List<List<String>> batches = IntStream.range(0, 20)
                .mapToObj(batch -> IntStream.range(0, 200)
                        .mapToObj(i -> trade(
                                "k" + random.nextInt(500),
                                batch * 200 + i,
                                "d" + random.nextInt(5),
                                "r" + random.nextInt(5),
                                "" + random.nextInt(-1000, 1000)))
                        .toList())
                .toList();
        try (Engine engine = open("data", TRADES)) {
            CompletableFuture<Void> intake =
                    CompletableFuture.runAsync(() -> batches.forEach(batch -> feed(engine, "one", batch)));
            long before = 0;
            while (!intake.isDone()) {
                Answer answer = engine.query(Query.all("main"));
                assertParentsAreSums(answer);
                long trades = answer.lines().getFirst().values().get(1).longValueExact();
                assertThat(trades).as("keys are only added").isBetween(before, 500L);
                before = trades;
            }
            intake.join();
            assertParentsAreSums(engine.query(Query.all("main")));
            assertThat(engine.counts().records()).isEqualTo(4_000);
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    private static void assertParentsAreSums(Answer answer) {
        Map<Tuple, BigDecimal[]> sums = new TreeMap<>();
        for (Answer.Line line : answer.lines()) {
            Tuple group = Tuple.of(line.group());
            if (!line.group().isEmpty()) {
                BigDecimal[] sum =
                        sums.computeIfAbsent(group.prefix(line.group().size() - 1), _ ->
                                new BigDecimal[] {BigDecimal.ZERO, BigDecimal.ZERO});
                Arrays.setAll(sum, i -> sum[i].add(line.values().get(i)));
            }
        }
        for (Answer.Line line : answer.lines()) {
            BigDecimal[] sum = sums.get(Tuple.of(line.group()));
            if (sum != null) {
                assertThat(line.values())
                        .usingElementComparator(BigDecimal::compareTo)
                        .containsExactly(sum);
            }
            assertThat(line.values().get(1).signum())
                    .isGreaterThanOrEqualTo(line.group().isEmpty() ? 0 : 1);
        }
    }

    @Test
    default void hazard_24_a_rejected_record_is_kept_whole_and_can_be_listed_fixed_redriven_and_purged() {
        String good = trade("a", 1, "Rates", "EMEA", "1");
        List<String> bad = List.of("not a record", good.replace("EMEA", "\\ud800"), "", good.replace(":1}", ":\"x\"}"));
        try (Engine engine = open("data", TRADES)) {
            feed(engine, "one", List.of(bad.get(0), good, bad.get(1), bad.get(2), bad.get(3)));
            DeadLetters box = engine.deadLetters();
            assertThat(box.size()).isEqualTo(4);
            assertThat(letters(engine))
                    .extracting(letter -> line(letter.place()))
                    .containsExactly(1L, 3L, 4L, 5L);
            assertThat(letters(engine))
                    .allMatch(letter -> letter.kept() && letter.place().source().startsWith("one"));
            List<Long> ids = letters(engine).stream().map(DeadLetter::id).toList();
            assertThat(box.list(ids.get(0), 2)).extracting(DeadLetter::id).isEqualTo(ids.subList(1, 3));
            for (int i = 0; i < 4; i++) {
                assertThat(box.record(ids.get(i))).isEqualTo(bytes(bad.get(i)));
            }
            long first = ids.get(0);
            assertThat(box.redrive(first, null)).isEqualTo(DeadLetters.Redriven.REJECTED);
            assertThat(letters(engine)).extracting(DeadLetter::id).isEqualTo(ids);
            assertThat(box.redrive(first, bytes(trade("b", 1, "FX", "EMEA", "2"))))
                    .isEqualTo(DeadLetters.Redriven.ACCEPTED);
            assertThat(box.redrive(first, bytes(trade("c", 1, "FX", "EMEA", "4"))))
                    .isEqualTo(DeadLetters.Redriven.GONE);
            assertThat(box.redrive(ids.get(1), bytes(good))).isEqualTo(DeadLetters.Redriven.DUPLICATE);
            assertThat(box.purge(List.of(ids.get(2), first))).isEqualTo(1);
            assertThat(box.purge(List.of(ids.get(2)))).isZero();
            assertThatThrownBy(() -> box.record(ids.get(2))).isInstanceOf(IllegalArgumentException.class);
        }
        try (Engine engine = open("data", TRADES)) {
            assertThat(totals(engine))
                    .containsExactly("=3.00,2", "FX=2.00,1", "FX/EMEA=2.00,1", "Rates=1.00,1", "Rates/EMEA=1.00,1");
            assertThat(letters(engine)).hasSize(1);
            long id = letters(engine).getFirst().id();
            assertThat(engine.deadLetters().record(id)).isEqualTo(bytes(bad.get(3)));
            assertThat(engine.deadLetters().redrive(id, bytes(trade("a", 0, "FX", "EMEA", "8"))))
                    .isEqualTo(DeadLetters.Redriven.STALE);
            assertThat(engine.deadLetters().size()).isZero();
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    default void hazard_19_dead_letters_may_be_redriven_in_any_order_and_any_number_of_times() {
        List<String> fixed = List.of(trade("a", 1, "d", "r", "1"), trade("a", 2, "e", "r", "2"), deleted("a", 3));
        int number = 0;
        for (List<Integer> order : permutations(List.of(0, 1, 2))) {
            try (Engine engine = open("redriven-" + number++, TRADES)) {
                feed(engine, "one", List.of("bad 0", "bad 1", "bad 2", trade("a", 1, "c", "r", "3")));
                List<Long> ids = letters(engine).stream().map(DeadLetter::id).toList();
                for (int i : order) {
                    engine.deadLetters().redrive(ids.get(i), bytes(fixed.get(i)));
                    engine.deadLetters().redrive(ids.get(i), bytes(fixed.get(i)));
                }
                assertThat(totals(engine)).as("%s", order).containsExactly("=0.00,0");
                for (DeadLetter loser : letters(engine)) {
                    assertThat(loser.reason()).isEqualTo(Reason.CONFLICT);
                    engine.deadLetters().redrive(loser.id(), null);
                }
                assertThat(totals(engine)).as("%s", order).containsExactly("=0.00,0");
                assertThat(engine.verify().isEqual()).isTrue();
            }
        }
    }

    @Test
    default void verify_finds_nothing_and_rebuild_changes_nothing_where_all_is_right() {
        try (Engine engine = open("data", TRADES)) {
            feed(engine, "one", List.of(trade("a", 1, "d", "r", "1"), trade("b", 1, "e", "r", "2"), deleted("a", 2)));
            List<String> before = totals(engine);
            assertThat(engine.verify().isEqual()).isTrue();
            Verification rebuilt = engine.rebuild();
            assertThat(rebuilt.differences()).isEmpty();
            assertThat(rebuilt.groups()).isPositive();
            assertThat(totals(engine)).isEqualTo(before);
            feed(engine, "one", List.of(trade("b", 2, "d", "r", "5")));
        }
        try (Engine engine = open("data", TRADES)) {
            assertThat(totals(engine)).containsExactly("=5.00,1", "d=5.00,1", "d/r=5.00,1");
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    default void hazard_18_without_versions_an_id_counts_once() {
        PipelineBuilder byId = PipelineBuilder.named("by-id").id("id");
        try (Engine engine = open("by-id", byId.rollup(r -> r.count("rows")).build())) {
            feed(engine, "one", List.of("{\"id\":1}", "{\"id\":2}", "{\"id\":1}"));
            feed(engine, "two", List.of("{\"id\":\"1\"}", "{\"id\":3}"));
            assertThat(totals(engine)).containsExactly("=3");
            assertThat(letters(engine)).isEmpty();
        }
    }

    @Test
    default void a_time_beyond_the_horizon_before_its_arrival_is_too_old_whatever_came_before() {
        PipelineBuilder byId = PipelineBuilder.named("by-id").id("id").time("t").horizon(Duration.ofDays(2));
        long now = Instant.now().getEpochSecond();
        try (Engine engine = open(
                "by-id", byId.rollup(r -> r.count("rows").distinct("ids", "id")).build())) {
            feed(engine, "one", List.of(timed("1", now - 3 * 86_400), timed("1", now), timed("2", now - 86_400)));
            feed(engine, "two", List.of(timed("\"1\"", now), timed("3", now + 2 * 86_400), timed("3", now + 40_000)));
            assertThat(totals(engine)).containsExactly("=3,3");
            assertThat(letters(engine)).extracting(DeadLetter::reason).containsExactly(Reason.TOO_OLD, Reason.TOO_NEW);
            long id = letters(engine).getFirst().id();
            assertThat(engine.deadLetters().redrive(id, null, DeadLetters.Keys.ANY))
                    .isEqualTo(DeadLetters.Redriven.REJECTED);
            assertThat(engine.deadLetters().redrive(id, bytes(timed("1", now)), DeadLetters.Keys.ANY))
                    .isEqualTo(DeadLetters.Redriven.DUPLICATE);
        }
    }

    private static String timed(String id, long seconds) {
        return "{\"id\":" + id + ",\"t\":" + seconds + "}";
    }

    @Test
    default void an_id_with_two_contents_keeps_the_greater() {
        Pipeline ids = PipelineBuilder.named("ids")
                .id("id")
                .rollup(r -> r.sum("s", "n", 9, 0))
                .build();
        try (Engine engine = open("ids", ids)) {
            feed(engine, "one", List.of("{\"id\":1,\"n\":2}", "{\"id\":1,\"n\":3}", "{\"id\":1,\"n\":1}"));
            assertThat(totals(engine)).as("of two contents the greater stays").containsExactly("=3");
            assertThat(letters(engine))
                    .extracting(DeadLetter::reason)
                    .containsExactly(Reason.CONFLICT, Reason.CONFLICT);
        }
    }

    @Test
    default void without_ids_each_place_counts_once() {
        Pipeline byPlace = PipelineBuilder.named("by-place")
                .rollup(r -> r.sum("s", "n", 9, 0))
                .build();
        try (Engine engine = open("by-place", byPlace)) {
            feed(engine, "one", List.of("{\"n\":1}", "{\"n\":1}", "bad"));
            long id = letters(engine).getFirst().id();
            assertThat(engine.deadLetters().redrive(id, bytes("{\"n\":5}"))).isEqualTo(DeadLetters.Redriven.ACCEPTED);
            assertThat(engine.deadLetters().redrive(id, bytes("{\"n\":5}"))).isEqualTo(DeadLetters.Redriven.GONE);
            assertThat(totals(engine)).containsExactly("=7");
        }
    }

    @Test
    default void an_engine_may_be_closed_twice() {
        Engine engine = open("data", TRADES);
        assertThat(engine.pipeline()).isEqualTo(TRADES.inEdition(Edition.NEWEST));
        feed(engine, "one", List.of(trade("a", 1, "d", "r", "1")));
        engine.close();
        engine.close();
        try (Engine again = open("data", TRADES)) {
            assertThat(totals(again)).first().isEqualTo("=1.00,1");
        }
    }
}
