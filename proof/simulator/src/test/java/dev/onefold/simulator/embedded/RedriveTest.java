package dev.onefold.simulator.embedded;

import static dev.onefold.simulator.embedded.Trades.open;
import static dev.onefold.simulator.embedded.Trades.trade;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.event.Reason;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The numbers of dead letters: one that is rejected again keeps its own, and none is given twice.
class RedriveTest {
    private final SimulatedDisk disk = SimulatedDisk.empty();

    private static List<Long> ids(EmbeddedEngine engine) {
        return ids(engine, 99);
    }

    private static List<Long> ids(EmbeddedEngine engine, int limit) {
        return engine.deadLetters().list(0, limit).stream().map(DeadLetter::id).toList();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String record(EmbeddedEngine engine, long id) {
        return new String(engine.deadLetters().record(id), StandardCharsets.UTF_8);
    }

    @Test
    void what_is_rejected_again_keeps_its_number_with_its_new_reason() {
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of("poison", trade("a", 1, "FX", "1"), "more"));
            DeadLetters box = engine.deadLetters();
            DeadLetter before = box.list(0, 1).getFirst();
            byte[] edited = bytes(trade("b", 1, "FX", "0.001"));
            assertThat(box.redrive(1, edited)).isEqualTo(Redriven.REJECTED);
            DeadLetter after = box.list(0, 1).getFirst();
            assertThat(ids(engine)).containsExactly(1L, 2L);
            assertThat(after.place()).isEqualTo(before.place());
            assertThat(after.reason()).isNotEqualTo(before.reason());
            assertThat(after.bytes()).isEqualTo(before.bytes());
            assertThat(box.record(1)).isEqualTo(bytes("poison"));
            assertThat(box.edited(1)).hasValue(edited);
            engine.append("s", List.of("third"));
            assertThat(ids(engine)).containsExactly(1L, 2L, 3L);
            assertThat(box.redrive(1, bytes(trade("b", 1, "FX", "2")))).isEqualTo(Redriven.ACCEPTED);
            assertThat(ids(engine)).containsExactly(2L, 3L);
        }
    }

    @Test
    void the_loser_of_a_conflict_keeps_its_number_too() {
        String loser = trade("a", 1, "FX", "5");
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of(trade("a", 1, "FX", "6"), loser));
            assertThat(engine.deadLetters().redrive(1, null)).isEqualTo(Redriven.CONFLICTING);
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(DeadLetter::id, DeadLetter::reason)
                    .containsExactly(org.assertj.core.groups.Tuple.tuple(1L, Reason.CONFLICT));
            assertThat(record(engine, 1)).isEqualTo(loser);
        }
    }

    @Test
    void wherever_a_crash_strikes_the_numbers_are_the_same_and_nothing_acknowledged_is_lost() {
        boolean crashed = true;
        int change = 1;
        for (; crashed; change++) {
            SimulatedDisk each = SimulatedDisk.empty();
            try (EmbeddedEngine engine = open(each)) {
                engine.append("s", List.of("one", "two", "three"));
            }
            each.inject(Faults.none().withCrashAtChange(change));
            List<String> told = new ArrayList<>(List.of("two"));
            crashed = !redriveAgainAndAgain(each, told);
            for (SimulatedDisk next : List.of(each.copy().crash(new SplittableRandom(change)), each.kill())) {
                try (EmbeddedEngine engine = open(next)) {
                    assertThat(ids(engine)).describedAs("change %d", change).containsExactly(1L, 2L, 3L);
                    assertThat(record(engine, 2))
                            .describedAs("change %d", change)
                            .isEqualTo("two");
                    String edit =
                            new String(engine.deadLetters().edited(2).orElse(bytes("two")), StandardCharsets.UTF_8);
                    assertThat(edit).describedAs("change %d", change).isIn(told.getLast(), told.getLast() + "!");
                    engine.append("t", List.of("four"));
                    assertThat(ids(engine)).containsExactly(1L, 2L, 3L, 4L);
                }
            }
        }
        assertThat(change).isGreaterThan(20);
    }

    /// Whether it came to its end.
    private static boolean redriveAgainAndAgain(SimulatedDisk each, List<String> told) {
        try (EmbeddedEngine engine = open(each)) {
            for (int time = 0; time < 3; time++) {
                String edited = told.getLast() + "!";
                assertThat(engine.deadLetters().redrive(2, bytes(edited))).isEqualTo(Redriven.REJECTED);
                told.add(edited);
                engine.checkpointNow();
            }
            return true;
        } catch (SimulatedCrash _) {
            return false;
        }
    }

    @Test
    void no_number_is_given_twice_also_when_the_last_letters_are_gone_and_the_rest_was_written_anew() {
        String poison = "x".repeat(10_000);
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of(poison, poison, poison, poison, poison, poison, poison, poison));
            engine.checkpointNow();
            assertThat(engine.deadLetters().purge(List.of(2L, 3L, 4L, 5L, 6L, 7L, 8L)))
                    .isEqualTo(7);
            engine.checkpointNow();
        }
        assertThat(disk.fileSizes().keySet()).anyMatch(file -> file.endsWith("letters-2"));
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", List.of("poison"));
            assertThat(ids(engine)).containsExactly(1L, 9L);
        }
    }

    @Test
    @Tag("campaign")
    void letters_that_come_go_and_are_edited_are_those_of_a_plain_map_after_every_restart() {
        Seeds.forAllSeeds(30, random -> {
            SimulatedDisk each = SimulatedDisk.empty();
            TreeMap<Long, String> records = new TreeMap<>();
            TreeMap<Long, String> edits = new TreeMap<>();
            long last = 0;
            for (int life = 0; life < 4; life++) {
                try (EmbeddedEngine engine = open(each)) {
                    assertSame(engine, records, edits);
                    for (int step = 0; step < 40; step++) {
                        switch (random.nextInt(5)) {
                            case 0, 1 -> {
                                List<String> poison = new ArrayList<>();
                                for (int i = random.nextInt(1, 40); i > 0; i--) {
                                    poison.add("poison " + ++last + " " + "x".repeat(random.nextInt(300)));
                                    records.put(last, poison.getLast());
                                }
                                engine.append("s", poison);
                            }
                            case 2 -> {
                                List<Long> some = records.keySet().stream()
                                        .filter(_ -> random.nextInt(3) > 0)
                                        .toList();
                                assertThat(engine.deadLetters().purge(some)).isEqualTo(some.size());
                                records.keySet().removeAll(some);
                                edits.keySet().removeAll(some);
                            }
                            case 3 -> {
                                for (long id : records.keySet()) {
                                    if (random.nextInt(4) == 0) {
                                        edits.put(id, "edit " + random.nextInt());
                                        assertThat(engine.deadLetters().redrive(id, bytes(edits.get(id))))
                                                .isEqualTo(Redriven.REJECTED);
                                    }
                                }
                            }
                            default -> engine.checkpointNow();
                        }
                    }
                    assertSame(engine, records, edits);
                }
                each = random.nextBoolean() ? each.kill() : each;
            }
        });
    }

    private static void assertSame(EmbeddedEngine engine, Map<Long, String> records, Map<Long, String> edits) {
        assertThat(engine.deadLetters().size()).isEqualTo(records.size());
        TreeMap<Long, String> found = new TreeMap<>();
        TreeMap<Long, String> foundEdits = new TreeMap<>();
        for (long id : ids(engine, Integer.MAX_VALUE)) {
            found.put(id, record(engine, id));
            engine.deadLetters()
                    .edited(id)
                    .ifPresent(edit -> foundEdits.put(id, new String(edit, StandardCharsets.UTF_8)));
        }
        assertThat(found).isEqualTo(records);
        assertThat(foundEdits).isEqualTo(edits);
    }

    @Test
    void the_log_of_letters_that_are_gone_is_rewritten_however_small_their_records_were() {
        try (EmbeddedEngine engine = open(disk)) {
            for (int round = 0; round < 20; round++) {
                engine.append("s", java.util.Collections.nCopies(100, "x"));
                assertThat(engine.deadLetters().purge(ids(engine, 100))).isEqualTo(100);
                engine.checkpointNow();
            }
        }
        long bytes = disk.fileSizes().entrySet().stream()
                .filter(file -> file.getKey().toString().contains("letters-"))
                .mapToLong(Map.Entry::getValue)
                .sum();
        assertThat(bytes).isLessThan(100_000);
    }

    @Test
    void the_line_of_a_loser_is_its_own_wherever_the_round_began() {
        String lines = "x\n".repeat(200) + trade("a", 1, "FX", "6") + "\n" + "y\n".repeat(300)
                + trade("a", 1, "FX", "5") + "\n" + "z\n".repeat(5_000);
        try (EmbeddedEngine engine = open(disk)) {
            engine.fold(
                    new FileSource("file", () -> new ByteArrayInputStream(bytes(lines)), false), FoldListener.silent());
            assertThat(engine.deadLetters().list(0, 9_999))
                    .filteredOn(letter -> letter.reason() == Reason.CONFLICT)
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.place().line()).isEqualTo(502));
        }
    }
}
