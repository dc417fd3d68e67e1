package dev.onefold.simulator.embedded;

import static dev.onefold.simulator.embedded.Trades.delete;
import static dev.onefold.simulator.embedded.Trades.fold;
import static dev.onefold.simulator.embedded.Trades.open;
import static dev.onefold.simulator.embedded.Trades.totals;
import static dev.onefold.simulator.embedded.Trades.trade;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.EngineException;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The schedules of "How such systems count wrong" that can occur in the embedded engine, each as small as it
/// can be. Those of the machine are in [MachineHazardsTest].
class HazardsTest {
    private final SimulatedDisk disk = SimulatedDisk.empty();

    private EmbeddedEngine opened(String yaml) {
        return EmbeddedEngine.open(Trades.directory(disk), PipelineYaml.read(yaml), Trades.settings(2));
    }

    @Test
    void hazard_5_between_a_result_and_its_mark_there_is_no_instant_to_crash_in() {
        List<String> lines = Trades.trades(60);
        for (int change = 1; change < 400; change++) {
            SimulatedDisk each = SimulatedDisk.empty();
            each.inject(Faults.none().withCrashAtChange(change));
            boolean crashed = false;
            try (EmbeddedEngine engine = open(each)) {
                fold(engine, Trades.file("a", lines.subList(0, 30)));
                engine.append("b", lines.subList(30, 60));
            } catch (SimulatedCrash crash) {
                crashed = true;
            }
            try (EmbeddedEngine engine = open(each.kill())) {
                fold(engine, Trades.file("a", lines.subList(0, 30)));
                long in = engine.acknowledged("b");
                if (in < 30) {
                    engine.append("b", lines.subList(30 + (int) in, 60));
                }
                assertThat(totals(engine))
                        .describedAs("crash at change %d", change)
                        .isEqualTo(Trades.right(lines));
            }
            if (!crashed) {
                assertThat(change).isGreaterThan(20);
                return;
            }
        }
    }

    @Test
    void hazard_8_of_two_senders_at_once_no_update_is_lost() throws InterruptedException {
        try (EmbeddedEngine engine =
                open(Trades.directory(disk), Trades.settings(3).withThreads(2))) {
            List<Thread> senders = List.of("a", "b", "c").stream()
                    .map(name -> Thread.ofPlatform().start(() -> {
                        for (int i = 0; i < 50; i++) {
                            engine.append(name, List.of(trade(name + i, 1, "FX", "1")));
                        }
                    }))
                    .toList();
            for (Thread sender : senders) {
                sender.join();
            }
            assertThat(totals(engine)).containsEntry("FX", "150.00 150 1.00");
        }
    }

    @Test
    void hazard_10_what_is_older_than_the_horizon_is_neither_counted_nor_dropped() {
        Pipeline pipeline = PipelineYaml.read("""
                pipeline: events
                input: {id: id, time: at, horizon: 1d}
                rollup: {levels: [], measures: {n: count()}}
                """);
        Settings march = Trades.settings(2).withClock(() -> Instant.parse("2020-03-01T12:00:00Z"));
        try (EmbeddedEngine engine = EmbeddedEngine.open(Trades.directory(disk), pipeline, march)) {
            engine.append("s", List.of("{\"id\":1,\"at\":\"2020-01-01T00:00:00Z\"}"));
            engine.append("s", List.of("{\"id\":2,\"at\":\"2020-03-01T00:00:00Z\"}"));
            engine.append("s", List.of("{\"id\":2,\"at\":\"2020-03-01T00:00:00Z\"}"));
            assertThat(totals(engine)).containsEntry("", "1");
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(DeadLetter::reason)
                    .containsExactly(Reason.TOO_OLD);
        }
    }

    @Test
    void hazard_10_and_51_a_wrong_clock_decides_about_the_records_of_its_time_alone_and_a_replay_decides_alike() {
        Pipeline pipeline = PipelineYaml.read("""
                pipeline: trades
                input: {id: id, time: {field: at, type: epoch-millis}, horizon: 7d}
                rollup: {levels: [], measures: {n: count()}}
                """);
        List<String> records = List.of(
                "{\"id\":0,\"at\":1763700000000}",
                "{\"id\":\"2100\",\"at\":4102444800000}",
                "{\"id\":1,\"at\":1763700001000}",
                "{\"id\":2,\"at\":1763000000000}");
        long[] nowMs = {1763700002000L};
        EmbeddedEngine killed = EmbeddedEngine.open(
                Trades.directory(disk), pipeline, Trades.settings(2).withClock(() -> Instant.ofEpochMilli(nowMs[0])));
        killed.append("s", records);
        nowMs[0] = 4102444900000L; // Ages later, by this clock.
        killed.append("s", List.of("{\"id\":3,\"at\":1763700003000}"));
        nowMs[0] = 1763700004000L;
        killed.append("s", List.of("{\"id\":4,\"at\":1763700003000}"));
        assertThat(killed.counts().accepted()).isEqualTo(3);
        SimulatedDisk left = disk.kill();
        assertThatThrownBy(killed::close).isInstanceOf(EngineException.class);
        Settings ages = Trades.settings(2).withClock(() -> Instant.ofEpochMilli(4102444900000L));
        try (EmbeddedEngine engine = EmbeddedEngine.open(Trades.directory(left), pipeline, ages)) {
            assertThat(engine.counts().accepted()).isEqualTo(3);
            List<DeadLetter> letters = engine.deadLetters().list(0, 9);
            assertThat(letters)
                    .extracting(DeadLetter::reason)
                    .containsExactly(Reason.TOO_NEW, Reason.TOO_OLD, Reason.TOO_OLD);
            assertThat(letters.get(1).message())
                    .contains("8 days before its arrival at 2025-11-21T04:40:02Z", "the horizon is 7 days");
            assertThat(letters.get(1).at()).isEqualTo("2025-11-21T04:40:02Z");
        }
    }

    /// A file does not say when its lines arrived.
    @Test
    void a_file_and_a_log_are_refused_under_a_horizon_and_the_engine_goes_on() {
        Pipeline pipeline = PipelineYaml.read("""
                pipeline: events
                input: {id: id, time: {field: at, type: epoch-seconds}, horizon: 1d}
                rollup: {levels: [], measures: {n: count()}}
                """);
        Settings settings = Trades.settings(2).withClock(() -> Instant.EPOCH);
        byte[] line = "{\"id\":1,\"at\":0}\n".getBytes(StandardCharsets.UTF_8);
        FileSource file = new FileSource("f.ndjson", () -> new ByteArrayInputStream(line), false);
        try (EmbeddedEngine engine = EmbeddedEngine.open(Trades.directory(disk), pipeline, settings)) {
            assertThatThrownBy(() -> engine.fold(file, FoldListener.silent()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has a horizon")
                    .hasMessageContaining("a line of the file f.ndjson has no arrival");
            assertThatThrownBy(() -> engine.fold(new LogBatch("log", 0, 0, 1, List.of())))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("partition has no arrival");
            engine.append("s", 1, line, line.length);
            assertThat(totals(engine)).containsEntry("", "1");
        }
    }

    @Test
    void hazard_11_a_late_older_version_does_not_resurrect_a_deleted_key() {
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of(trade("a", 1, "FX", "5"), delete("a", 3)));
        }
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of(trade("a", 2, "FX", "7")));
            assertThat(totals(engine)).isEqualTo(Map.of("", "0.00 0 -"));
        }
    }

    @Test
    void hazard_12_of_one_version_with_two_contents_the_greater_stays_whichever_came_first() {
        List<String> both = List.of(trade("a", 1, "FX", "5"), trade("a", 1, "FX", "6"));
        assertThat(Trades.right(both)).containsEntry("FX", "6.00 1 6.00");
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", both.reversed());
            engine.append("s", both);
            assertThat(totals(engine)).containsEntry("FX", "6.00 1 6.00");
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(DeadLetter::reason)
                    .containsExactly(Reason.CONFLICT);
        }
    }

    @Test
    void hazard_13_version_ten_is_above_version_nine_also_as_text() {
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of("{\"id\":1,\"v\":\"10\",\"desk\":\"FX\",\"value\":1}"));
            engine.append("s", List.of("{\"id\":\"1\",\"v\":\"9\",\"desk\":\"FX\",\"value\":2}"));
            engine.append("s", List.of("{\"id\":1,\"v\":9,\"desk\":\"FX\",\"value\":2}"));
            assertThat(totals(engine)).containsEntry("FX", "1.00 1 1.00");
        }
    }

    @Test
    void hazard_14_a_delete_retracts_once_however_often_it_comes() {
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of(trade("a", 1, "FX", "5"), trade("b", 1, "FX", "2")));
            engine.append("s", List.of(delete("a", 2), delete("a", 2), delete("a", 3)));
            assertThat(totals(engine)).containsEntry("FX", "2.00 1 2.00").containsEntry("", "2.00 1 2.00");
        }
    }

    @Test
    void hazard_15_a_correction_leaves_its_old_group_and_joins_its_new_one_in_one_step() throws InterruptedException {
        try (EmbeddedEngine engine =
                open(Trades.directory(disk), Trades.settings(2).withThreads(2))) {
            engine.append("s", List.of(trade("a", 0, "desk0", "5")));
            Thread sender = Thread.ofPlatform().start(() -> {
                for (int i = 1; i < 200; i++) {
                    engine.append("s", List.of(trade("a", i, "desk" + i % 3, "5")));
                }
            });
            while (sender.isAlive()) {
                Map<String, String> totals = totals(engine);
                assertThat(totals).hasSize(2).containsEntry("", "5.00 1 5.00");
            }
            sender.join();
        }
    }

    @Test
    void hazard_16_a_retraction_uses_the_definition_that_its_addition_was_made_under() {
        String before = """
                pipeline: trades
                input: {key: id, version: v}
                rollup: {levels: [desk], measures: {n: count(), value: "sum(value) decimal(9,0)"}}
                """;
        String after = before.replace("[desk]", "[\"prefix(desk, 1)\"]");
        try (EmbeddedEngine engine = opened(before)) {
            engine.append("s", List.of(trade("a", 1, "FX", "100"), trade("b", 1, "IR", "1")));
        }
        try (EmbeddedEngine engine = opened(after)) {
            assertThatThrownBy(() -> engine.append("s", List.of(trade("a", 2, "EQ", "100"))))
                    .isInstanceOfSatisfying(
                            EngineException.class,
                            refused -> assertThat(refused.kind()).isEqualTo(EngineException.Kind.DEFINITION_CHANGED));
            assertThat(totals(engine)).isEqualTo(Map.of("", "2 101", "FX", "1 100", "IR", "1 1"));
        }
        String without = before.replace("desk", "");
        try (EmbeddedEngine engine = opened(without)) {
            engine.fillView(_ -> null, true);
            engine.append("s", List.of(trade("a", 2, "EQ", "7")));
            assertThat(totals(engine)).isEqualTo(Map.of("", "2 8"));
        }
    }

    @Test
    void hazard_17_the_maximum_goes_with_its_last_value_and_an_emptied_group_comes_back() {
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of(trade("a", 1, "FX", "9"), trade("b", 1, "FX", "9"), trade("c", 1, "FX", "2")));
            engine.append("s", List.of(delete("a", 2)));
            assertThat(totals(engine)).containsEntry("FX", "11.00 2 9.00");
            engine.append("s", List.of(trade("b", 2, "FX", "1")));
            assertThat(totals(engine)).containsEntry("FX", "3.00 2 2.00");
            engine.append("s", List.of(delete("b", 3), delete("c", 2)));
            assertThat(totals(engine)).doesNotContainKey("FX");
            engine.append("s", List.of(trade("d", 1, "FX", "4")));
            assertThat(totals(engine)).containsEntry("FX", "4.00 1 4.00");
        }
    }

    @Test
    void hazard_18_late_increments_with_ids_all_count() {
        String yaml = """
                pipeline: runs
                input: {id: id}
                rollup: {levels: [runner], measures: {metres: "sum(metres) decimal(9,0)"}}
                """;
        try (EmbeddedEngine engine = opened(yaml)) {
            String late = "{\"id\":1,\"runner\":\"x\",\"metres\":400}";
            engine.append("s", List.of("{\"id\":2,\"runner\":\"x\",\"metres\":100}", late, late));
            assertThat(totals(engine)).containsEntry("x", "500");
        }
    }

    @Test
    void hazard_19_a_redriven_older_version_does_not_replace_a_newer_one() {
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of(trade("a", 3, "FX", "\"oops\""), trade("a", 4, "FX", "4")));
            byte[] mended = trade("a", 3, "FX", "3").getBytes(java.nio.charset.StandardCharsets.UTF_8);
            assertThat(engine.deadLetters().redrive(1, mended)).isEqualTo(Redriven.STALE);
            assertThat(engine.deadLetters().redrive(1, mended)).isEqualTo(Redriven.GONE);
            assertThat(totals(engine)).containsEntry("FX", "4.00 1 4.00");
        }
    }

    @Test
    void hazard_20_tenths_add_up_exactly_in_any_order() {
        List<String> tenths = new java.util.ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            tenths.add(trade("t" + i, 1, "FX", i % 2 == 0 ? "0.1" : "0.2"));
        }
        assertThat(Trades.right(tenths)).containsEntry("FX", "150.00 1000 0.20");
        assertThat(Trades.right(tenths.reversed())).containsEntry("FX", "150.00 1000 0.20");
    }

    /// 21 and 56.
    @Test
    void what_could_overflow_is_refused_at_the_door_and_the_rest_counts() {
        String largest = "99999999999999999999999999.99";
        String yaml = Trades.PIPELINE.replace("decimal(20,2)", "decimal(28,2)");
        try (EmbeddedEngine engine = opened(yaml)) {
            engine.append("s", List.of(trade("a", 1, "FX", largest), trade("b", 1, "FX", largest)));
            engine.append(
                    "s",
                    List.of(
                            trade("c", 1, "FX", "NaN"),
                            trade("d", 1, "FX", "1e999999999"),
                            trade("e", 1, "FX", "9".repeat(39)),
                            trade("f", 1, "FX", "0.001")));
            assertThat(totals(engine)).containsEntry("FX", "199999999999999999999999999.98 2 " + largest);
            assertThat(engine.deadLetters().size()).isEqualTo(4);
        }
    }

    @Test
    void hazard_22_a_group_may_be_named_as_it_likes() {
        List<String> names = List.of("FX:Spot", "a/b", "message_count", "it's", "value", "", "a#b", "null", "*", "é😀");
        try (EmbeddedEngine engine = open(disk)) {
            for (String name : names) {
                engine.append("s", List.of(trade("k" + name, 1, name, "1")));
            }
            assertThat(engine.query(dev.onefold.core.query.Query.all("main")).lines())
                    .extracting(
                            line -> line.group().isEmpty() ? null : line.group().getFirst())
                    .containsAll(names)
                    .hasSize(names.size() + 1);
        }
    }

    @Test
    void hazard_24_a_poison_record_stops_nothing_behind_it() {
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of("poison", trade("a", 1, "FX", "1"), "", trade("b", 1, "FX", "1")));
            assertThat(totals(engine)).containsEntry("FX", "2.00 2 1.00");
            assertThat(engine.deadLetters().record(1)).asString().isEqualTo("poison");
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(letter -> letter.place().line())
                    .containsExactly(1L, 3L);
        }
    }

    @Test
    void hazard_38_a_rebuild_replaces_totals_and_rows_stay() {
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", Trades.trades(100));
            Map<String, String> before = totals(engine);
            assertThat(engine.rebuild().isEqual()).isTrue();
            engine.append("s", Trades.trades(100));
            assertThat(totals(engine)).isEqualTo(before);
        }
        try (EmbeddedEngine engine = open(disk.kill())) {
            assertThat(totals(engine)).isEqualTo(Trades.right(Trades.trades(100)));
            assertThat(engine.verify())
                    .satisfies(
                            verification -> assertThat(verification.isEqual()).isTrue());
        }
    }

    @Test
    void hazard_39_in_every_answer_beside_intake_the_total_is_the_sum_of_the_groups() throws InterruptedException {
        try (EmbeddedEngine engine =
                open(Trades.directory(disk), Trades.settings(4).withThreads(2))) {
            Thread sender = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 100; i++) {
                    engine.append("s", Trades.trades(40));
                }
            });
            while (sender.isAlive()) {
                var lines =
                        engine.query(dev.onefold.core.query.Query.all("main")).lines();
                long sum = lines.stream()
                        .skip(1)
                        .mapToLong(line -> line.values().get(1).longValueExact())
                        .sum();
                assertThat(lines.getFirst().values().get(1).longValueExact()).isEqualTo(sum);
            }
            sender.join();
        }
    }

    @Test
    void hazard_40_rows_that_seed_beside_live_events_are_versioned_and_tombstones_guard() {
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("live", List.of(trade("a", 5, "FX", "5"), delete("b", 5)));
            fold(engine, Trades.file("seed", List.of(trade("a", 1, "FX", "1"), trade("b", 1, "FX", "1"))));
            engine.append("live", List.of(trade("a", 6, "FX", "6")));
            assertThat(totals(engine)).containsEntry("FX", "6.00 1 6.00");
        }
    }

    @Test
    void hazard_55_a_filtered_version_takes_away_what_its_predecessor_contributed() {
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of(trade("a", 1, "FX", "5")));
            engine.append("s", List.of("{\"id\":\"a\",\"v\":2,\"book\":\"test\"}"));
            assertThat(totals(engine)).isEqualTo(Map.of("", "0.00 0 -"));
            engine.append("s", List.of(trade("a", 1, "FX", "5")));
            assertThat(totals(engine)).isEqualTo(Map.of("", "0.00 0 -"));
        }
    }

    @Test
    void an_edited_dead_letter_must_be_one_line() {
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of("poison"));
            byte[] two = "{}\n{}".getBytes(java.nio.charset.StandardCharsets.UTF_8);
            assertThatThrownBy(() -> engine.deadLetters().redrive(1, two)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
