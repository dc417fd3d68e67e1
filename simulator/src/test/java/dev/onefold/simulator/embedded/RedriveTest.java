package dev.onefold.simulator.embedded;

import static dev.onefold.simulator.embedded.Trades.open;
import static dev.onefold.simulator.embedded.Trades.trade;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.event.Reason;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.simulator.disk.Faults;
import dev.onefold.simulator.disk.SimulatedCrash;
import dev.onefold.simulator.disk.SimulatedDisk;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// The numbers of dead letters: one that is rejected again keeps its own, and none is given twice.
class RedriveTest {
    private final SimulatedDisk disk = SimulatedDisk.empty();

    private static List<Long> ids(EmbeddedEngine engine) {
        return engine.deadLetters().list(0, 99).stream().map(DeadLetter::id).toList();
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
            assertThat(after.bytes()).isEqualTo(edited.length);
            assertThat(box.record(1)).isEqualTo(edited);
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
                            .isIn(told.getLast(), told.getLast() + "!");
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
}
