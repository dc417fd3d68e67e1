package dev.onefold.simulator.keyed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.Engine;
import dev.onefold.core.EngineException;
import dev.onefold.core.event.Reason;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.TableQuery;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import dev.onefold.oracle.KeyedOracle.Order;
import dev.onefold.oracle.generate.RandomFunction;
import dev.onefold.oracle.generate.RandomFunction.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The hazards of functions per key, each with its schedule.
class KeyedHazardsTest {
    private final SimulatedDisk disk = SimulatedDisk.empty();

    private static LoadedFunction function(Order order, int keep, Kind kind, int code) {
        return new DrawnCase(order, keep, new RandomFunction(kind, 5, 0, 0, 1), List.of())
                .loaded(new RandomFunction(kind, 5, 0, 0, code), code, false);
    }

    private static String record(int version, int amount) {
        return "{\"k\":\"a\",\"v\":%d,\"rank\":1,\"amount\":%d,\"what\":\"put\"}".formatted(version, amount);
    }

    private static EmbeddedEngine open(SimulatedDisk disk, LoadedFunction function) {
        return EmbeddedEngine.open(
                disk.getPath("/data/runs"),
                function,
                KeyedSimulation.settings(2, false, disk, new SplittableRandom(1)));
    }

    private static List<String> rows(Engine engine) {
        return engine.tables(
                new TableQuery(List.of("buckets", "last"), Optional.empty(), 100),
                answer -> answer.tables().stream()
                        .flatMap(table -> table.rows().stream())
                        .map(row -> row.toJson())
                        .toList());
    }

    private static String context(Engine engine) {
        return engine.state(List.of("a")).orElseThrow().context().toJson();
    }

    @Test
    void hazard_62_and_63_a_crash_at_any_change_of_the_disk_leaves_all_of_a_step_or_nothing() {
        LoadedFunction function = function(Order.IN_ORDER, 10, Kind.ORDERED, 1);
        List<String> records =
                Stream.of(2, 4, 6, 3, 8, 5).map(v -> record(v, 2 * v)).toList();
        List<List<String>> tables = new ArrayList<>(List.of(List.of()));
        List<String> contexts = new ArrayList<>(List.of(""));
        try (EmbeddedEngine engine = open(disk, function)) {
            for (String record : records) {
                engine.append("in", List.of(record));
                tables.add(rows(engine));
                contexts.add(context(engine));
            }
        }
        Seeds.forAllSeeds(60, random -> {
            SimulatedDisk other = SimulatedDisk.empty();
            other.inject(Faults.none().withCrashAtChange(1 + random.nextInt(120)));
            EmbeddedEngine killed = null;
            try {
                killed = open(other, function);
                for (String record : records) {
                    killed.append("in", List.of(record));
                }
            } catch (SimulatedCrash crash) {
                // The process ends here.
            }
            SimulatedDisk after = other.crash(random);
            end(killed);
            try (EmbeddedEngine engine = open(after, function)) {
                int in = (int) engine.acknowledged("in");
                assertThat(rows(engine)).isEqualTo(tables.get(in));
                if (in > 0) {
                    assertThat(context(engine)).isEqualTo(contexts.get(in));
                }
                assertThat(engine.verify().isEqual()).isTrue();
            }
        });
    }

    /// Releases the memory of a process that has ended.
    private static void end(@Nullable EmbeddedEngine killed) {
        try {
            if (killed != null) {
                killed.close();
            }
        } catch (SimulatedCrash | EngineException ended) {
            assertThat(ended).isNotNull(); // Its disk is gone.
        }
    }

    @Test
    void hazard_62_and_63_a_disk_that_is_full_between_steps_leaves_no_half_of_one_and_intake_goes_on_with_space() {
        LoadedFunction function = function(Order.IN_ORDER, 10, Kind.ORDERED, 1);
        List<String> records =
                Stream.of(2, 4, 6, 3, 8, 5).map(v -> record(v, 2 * v)).toList();
        List<List<String>> tables = new ArrayList<>(List.of(List.of()));
        try (EmbeddedEngine engine = open(disk, function)) {
            for (String record : records) {
                engine.append("in", List.of(record));
                tables.add(rows(engine));
            }
        }
        int waits = 0;
        for (long space = 16_384; space < 200_000; space += 24_576) {
            SimulatedDisk small = SimulatedDisk.empty();
            open(small, function).close();
            int[] waited = {0};
            long[] size = {space};
            Settings settings = KeyedSimulation.settings(2, true, small, new SplittableRandom(1))
                    .withPause(() -> {
                        waited[0]++;
                        size[0] += 4 << 20;
                        small.inject(Faults.none().withSpaceBytesMax(size[0]));
                    });
            small.inject(Faults.none().withSpaceBytesMax(space));
            int in = 0;
            try (EmbeddedEngine engine = EmbeddedEngine.open(small.getPath("/data/runs"), function, settings)) {
                for (String record : records) {
                    engine.append("in", List.of(record));
                    assertThat(rows(engine)).isEqualTo(tables.get(++in));
                }
            } catch (EngineException failure) {
                assertThat(failure)
                        .describedAs("only a start needs space at once")
                        .hasMessageContaining("LOCK");
            }
            waits += waited[0];
            small.inject(Faults.none());
            try (EmbeddedEngine engine = open(small.kill(), function)) {
                assertThat(engine.acknowledged("in")).isEqualTo(in);
                assertThat(rows(engine)).isEqualTo(tables.get(in));
                assertThat(engine.verify().isEqual()).isTrue();
            }
        }
        assertThat(waits).isPositive();
    }

    @Test
    void hazard_64_events_of_one_key_that_come_from_several_callers_at_once_are_each_folded_once() throws Exception {
        try (EmbeddedEngine engine = EmbeddedEngine.open(
                        disk.getPath("/data/runs"),
                        function(Order.EVERY, 1_000, Kind.COMMUTING, 1),
                        KeyedSimulation.settings(2, false, disk, new SplittableRandom(1))
                                .withThreads(2));
                var callers = Executors.newFixedThreadPool(4)) {
            List<Future<?>> done = IntStream.range(0, 4)
                    .<Future<?>>mapToObj(caller -> callers.submit(() -> {
                        for (int i = 0; i < 100; i++) {
                            engine.append(
                                    caller % 2 == 0 ? "one" : "two",
                                    List.of(record(i, 1))); // Each version comes four times.
                        }
                    }))
                    .toList();
            for (Future<?> each : done) {
                each.get();
            }
            assertThat(context(engine)).isEqualTo("{\"trail\":107,\"count\":100}");
            assertThat(engine.counts().duplicate()).isEqualTo(300);
        }
    }

    @Test
    void hazard_65_a_row_that_only_the_order_of_arrival_wrote_is_withdrawn() {
        LoadedFunction function = function(Order.IN_ORDER, 10, Kind.ORDERED, 1);
        List<String> records = Stream.of(1, 2, 3, 4).map(v -> record(v, v)).toList();
        try (EmbeddedEngine inOrder = open(disk, function);
                EmbeddedEngine late = open(SimulatedDisk.empty(), function)) {
            inOrder.append("in", records);
            late.append("in", List.of(records.get(0), records.get(2), records.get(3)));
            List<String> before = rows(late);
            late.append("in", List.of(records.get(1)));
            assertThat(rows(late)).isEqualTo(rows(inOrder)).isNotEqualTo(before);
            assertThat(before)
                    .as("rows that are withdrawn")
                    .anyMatch(row -> !rows(late).contains(row));
            assertThat(context(late)).isEqualTo(context(inOrder));
        }
    }

    @Test
    void hazard_66_an_event_beyond_what_is_kept_is_a_dead_letter_whole() {
        try (EmbeddedEngine engine = open(disk, function(Order.IN_ORDER, 2, Kind.ORDERED, 1))) {
            engine.append("in", Stream.of(1, 3, 4, 5).map(v -> record(v, v)).toList());
            String before = context(engine);
            engine.append("in", List.of(record(2, 2)));
            assertThat(context(engine)).isEqualTo(before);
            DeadLetter letter = engine.deadLetters().list(0, 9).getFirst();
            assertThat(letter.reason()).isEqualTo(Reason.TOO_LATE);
            assertThat(new String(engine.deadLetters().record(letter.id()), StandardCharsets.UTF_8))
                    .isEqualTo(record(2, 2));
            engine.append("again", List.of(record(2, 2)));
            assertThat(engine.deadLetters().list(0, 9)).as("kept once").hasSize(1);
        }
    }

    @Test
    void hazard_67_a_function_that_is_in_no_jar_goes_on_after_a_kill_under_a_raised_version() {
        EmbeddedEngine killed = open(disk, function(Order.IN_ORDER, 10, Kind.ABSOLUTE, 1));
        killed.append("in", List.of(record(1, 4)));
        SimulatedDisk after = Objects.requireNonNull(disk.kill());
        try (EmbeddedEngine engine = open(after, function(Order.IN_ORDER, 10, Kind.ABSOLUTE, 2))) {
            assertThat(engine.acknowledged("in")).isEqualTo(1);
            engine.append("in", List.of(record(2, 6)));
            assertThat(context(engine)).isEqualTo("{\"trail\":12,\"count\":2}");
            assertThat(engine.state(List.of("a")).orElseThrow().code()).isEqualTo(2);
        }
    }
}
