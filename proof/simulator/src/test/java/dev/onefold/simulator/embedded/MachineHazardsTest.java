package dev.onefold.simulator.embedded;

import static dev.onefold.simulator.embedded.Trades.fold;
import static dev.onefold.simulator.embedded.Trades.open;
import static dev.onefold.simulator.embedded.Trades.totals;
import static dev.onefold.simulator.embedded.Trades.trade;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.source.FoldReport;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.Operation;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The schedules of "How such systems count wrong" that are about the machine: disk, process, clock and files.
class MachineHazardsTest {
    private final SimulatedDisk disk = SimulatedDisk.empty();

    @TempDir
    private Path folder;

    private static void assertRefused(EngineException.Kind kind, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        EngineException.class,
                        refused -> assertThat(refused.kind()).isEqualTo(kind));
    }

    @Test
    void hazard_47_after_a_failed_force_a_succeeding_one_is_not_believed() {
        List<String> lines = Trades.trades(30);
        EmbeddedEngine engine = open(disk);
        engine.append("s", lines.subList(0, 10));
        disk.inject(Faults.none().failingOnce(Operation.FORCE, 1, Faults.INPUT_OUTPUT_ERROR));
        assertRefused(EngineException.Kind.STORAGE_FAILED, () -> engine.append("s", lines.subList(10, 20)));
        assertRefused(EngineException.Kind.STOPPED, () -> engine.append("s", lines.subList(10, 20)));
        assertRefused(EngineException.Kind.STOPPED, () -> totals(engine));

        SimulatedDisk next = disk.kill(); // The page cache still shows the entry that is not on the disk.
        EmbeddedEngine again = open(next);
        int in = (int) again.acknowledged("s");
        assertThat(again.append("s", lines.subList(in, 30)).acknowledged()).isEqualTo(30);
        for (int seed = 0; seed < 40; seed++) {
            try (EmbeddedEngine last = open(next.copy().crash(new SplittableRandom(seed)))) {
                assertThat(last.acknowledged("s")).isEqualTo(30);
                assertThat(totals(last)).isEqualTo(Trades.right(lines));
            }
        }
        again.close();
    }

    private static byte[] bytes(List<String> lines) {
        return (String.join("\n", lines) + "\n").getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }

    @Test
    void hazard_48_an_acknowledged_record_survives_a_power_cut_also_after_a_kill() {
        for (int nth = 1; nth < 24; nth++) {
            SimulatedDisk first = SimulatedDisk.empty();
            try (EmbeddedEngine engine = open(first)) {
                engine.append("s", Trades.trades(10));
            }
            int[] forces = {nth};
            first.inject(Faults.none().withHook((operation, _) -> {
                if (operation == Operation.FORCE && --forces[0] == 0) {
                    throw new SimulatedCrash("before a force");
                }
            }));
            try (EmbeddedEngine engine = open(first)) {
                engine.append("s", Trades.trades(20).subList(10, 20));
                engine.checkpointNow();
            } catch (SimulatedCrash killed) {
                assertThat(forces[0]).isZero();
            }
            SimulatedDisk second = first.kill();
            long told;
            EmbeddedEngine engine = open(second); // What it tells it must keep, wherever it was when the power goes.
            told = engine.acknowledged("s");
            for (int seed = 0; seed < 5; seed++) {
                SimulatedDisk image = second.copy().crash(new SplittableRandom(seed));
                try (EmbeddedEngine last = open(image)) {
                    assertThat(last.acknowledged("s")).isGreaterThanOrEqualTo(told);
                    assertThat(totals(last)).isEqualTo(Trades.right(Trades.trades((int) told)));
                }
            }
            engine.close();
        }
    }

    /// 48. A new number of shards rewrites all rows: its checkpoint names no file of rows of the one before.
    @Test
    @Tag("campaign")
    void what_a_start_deletes_is_named_by_no_checkpoint_that_a_power_cut_may_bring_back() {
        for (boolean failing : List.of(false, true)) {
            boolean struck = true;
            for (int nth = 1; struck; nth++) {
                SimulatedDisk first = SimulatedDisk.empty();
                try (EmbeddedEngine engine = open(Trades.directory(first), 1)) {
                    engine.append("s", Trades.trades(20));
                }
                first.sync();
                struck = failing ? failAtForce(first, nth) : crashAtForce(first, nth);
                SimulatedDisk second = first.kill();
                EmbeddedEngine engine = open(Trades.directory(second), 3); // It deletes, and the power goes.
                for (int seed = 0; seed < 10; seed++) {
                    SimulatedDisk image = second.copy().crash(new SplittableRandom(seed));
                    try (EmbeddedEngine last = open(Trades.directory(image), 3)) {
                        assertThat(totals(last)).isEqualTo(Trades.right(Trades.trades(20)));
                    }
                }
                engine.close();
                assertThat(struck || nth > 5).isTrue();
            }
        }
    }

    @Test
    void hazard_48_a_data_directory_whose_name_could_not_be_forced_is_made_anew() {
        boolean struck = true;
        int nth = 1;
        for (; struck; nth++) {
            SimulatedDisk first = SimulatedDisk.empty();
            first.inject(Faults.none().failingOnce(Operation.FORCE, nth, Faults.INPUT_OUTPUT_ERROR));
            struck = isRefused(first);
            SimulatedDisk second = first.kill();
            EmbeddedEngine engine = open(second.getPath("/deep/er/data"), 1);
            engine.append("s", Trades.trades(10));
            for (int seed = 0; seed < 10; seed++) {
                SimulatedDisk image = second.copy().crash(new SplittableRandom(seed));
                try (EmbeddedEngine last = open(image.getPath("/deep/er/data"), 1)) {
                    assertThat(last.acknowledged("s")).isEqualTo(10);
                }
            }
            engine.close();
        }
        assertThat(nth).isGreaterThan(10);
    }

    private static boolean isRefused(SimulatedDisk disk) {
        try (EmbeddedEngine _ = open(disk.getPath("/deep/er/data"), 1)) {
            return false;
        } catch (EngineException _) {
            return true;
        }
    }

    private static boolean crashAtForce(SimulatedDisk disk, int nth) {
        int[] forces = {nth};
        disk.inject(Faults.none().withHook((operation, _) -> {
            if (operation == Operation.FORCE && --forces[0] == 0) {
                throw new SimulatedCrash("before a force");
            }
        }));
        try (EmbeddedEngine _ = open(Trades.directory(disk), 3)) {
            return false;
        } catch (SimulatedCrash _) {
            return true;
        }
    }

    private static boolean failAtForce(SimulatedDisk disk, int nth) {
        disk.inject(Faults.none().failingOnce(Operation.FORCE, nth, Faults.INPUT_OUTPUT_ERROR));
        try (EmbeddedEngine _ = open(Trades.directory(disk), 3)) {
            return false;
        } catch (EngineException _) {
            return true;
        }
    }

    @Test
    void hazard_50_a_directory_has_one_owner_and_the_other_is_told_who() {
        try (EmbeddedEngine engine = open(folder.resolve("data"), 1)) {
            engine.append("s", Trades.trades(3));
            assertThatThrownBy(() -> open(folder.resolve("data"), 1))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining(
                            "in use by process " + ProcessHandle.current().pid());
        }
        try (EmbeddedEngine engine = open(folder.resolve("data"), 1)) {
            assertThat(engine.acknowledged("s")).isEqualTo(3);
        }
    }

    @Test
    void hazard_50_a_directory_that_another_process_owns_is_refused() throws java.io.IOException {
        open(disk).close();
        assertThat(disk.lockElsewhere(Trades.directory(disk).resolve("LOCK"))).isTrue();
        assertRefused(EngineException.Kind.IN_USE, () -> open(disk));
        disk.unlockElsewhere(Trades.directory(disk).resolve("LOCK"));
        open(disk).close();
    }

    @Test
    void hazard_51_a_clock_that_goes_back_changes_no_total() {
        Iterator<Integer> hours = List.of(9, 3, 3, 8, 1).iterator();
        var settings = Trades.settings(2)
                .withCheckpointInterval(Duration.ZERO)
                .withClock(() -> Instant.ofEpochSecond(3_600L * (hours.hasNext() ? hours.next() : 0)));
        List<String> lines = Trades.trades(60);
        for (int life = 0; life < 3; life++) {
            try (EmbeddedEngine engine = open(Trades.directory(disk), settings)) {
                engine.append("s", lines.subList(life * 20, life * 20 + 20));
            }
        }
        try (EmbeddedEngine engine = open(disk)) {
            assertThat(totals(engine)).isEqualTo(Trades.right(lines));
        }
    }

    @Test
    void hazard_59_a_file_that_was_cut_or_changed_is_refused_naming_both() {
        List<String> lines = Trades.trades(20);
        try (EmbeddedEngine engine = open(disk)) {
            fold(engine, Trades.file("a", lines));
            Map<String, String> before = totals(engine);
            assertThatThrownBy(() -> fold(engine, Trades.file("a", lines.subList(0, 10))))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("Input a")
                    .hasMessageContaining("folded as a");
            List<String> changed = new java.util.ArrayList<>(lines);
            changed.set(3, trade("other", 1, "FX", "1"));
            assertRefused(EngineException.Kind.SOURCE_CHANGED, () -> fold(engine, Trades.file("a", changed)));
            assertThat(totals(engine)).isEqualTo(before);
        }
    }

    @Test
    void hazard_59_a_copy_is_not_folded_twice_and_one_that_goes_on_is_not_guessed_at() {
        List<String> lines = Trades.trades(20);
        try (EmbeddedEngine engine = openByPlace()) {
            fold(engine, Trades.file("a", lines.subList(0, 10)));
            assertThat(fold(engine, Trades.file("b", lines.subList(0, 10))))
                    .isEqualTo(new FoldReport.AlreadyFolded("a"));
            assertThatThrownBy(() -> fold(engine, Trades.file("b", lines)))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("Input b")
                    .hasMessageContaining("folded as a")
                    .hasMessageContaining("--separate");
            assertThat(totals(engine)).containsEntry("", "10");
            fold(engine, Trades.file("a", lines));
            assertThat(totals(engine)).containsEntry("", "20");
            assertThat(fold(engine, Trades.file("c", lines))).isEqualTo(new FoldReport.AlreadyFolded("a"));
        }
    }

    @Test
    void hazard_59_a_file_that_begins_as_another_one_did_loses_no_line_and_leaves_the_other_as_it_is() {
        List<String> lines = Trades.trades(20);
        try (EmbeddedEngine engine = open(disk)) {
            fold(engine, Trades.file("a", lines.subList(0, 10)));
            assertThat(fold(engine, Trades.file("b", lines))).isInstanceOf(FoldReport.Folded.class);
            assertThat(totals(engine)).isEqualTo(Trades.right(lines));
            assertThat(fold(engine, Trades.file("a", lines.subList(0, 10)))).isInstanceOf(FoldReport.Folded.class);
            assertThat(totals(engine)).isEqualTo(Trades.right(lines));
        }
    }

    @Test
    void hazard_59_a_file_that_has_no_record_yet_is_the_beginning_of_no_other() {
        String yaml = "pipeline: places\ninput: {format: csv}\nrollup: {levels: [], measures: {n: count()}}\n";
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(Trades.directory(disk), PipelineYaml.read(yaml), Trades.settings(1))) {
            fold(engine, Trades.file("monday", "id,value\n"));
            fold(engine, Trades.file("tuesday", "id,value\n1,2\n"));
            assertThat(totals(engine)).containsEntry("", "1");
        }
    }

    private EmbeddedEngine openByPlace() {
        String yaml = "pipeline: places\ninput: {}\nrollup: {levels: [], measures: {n: count()}}\n";
        return EmbeddedEngine.open(Trades.directory(disk), PipelineYaml.read(yaml), Trades.settings(1));
    }

    @Test
    void hazard_59_a_file_that_grows_at_its_unfinished_last_line_is_refused_rather_than_guessed() {
        String half = trade("a", 1, "FX", "1") + "\n" + trade("b", 1, "FX", "1");
        try (EmbeddedEngine engine = open(disk)) {
            fold(engine, Trades.file("a", half));
        }
        try (EmbeddedEngine engine = open(disk)) {
            assertRefused(
                    EngineException.Kind.SOURCE_CHANGED, () -> fold(engine, Trades.file("a", half + "and more\n")));
            fold(engine, Trades.file("a", half + "\n" + trade("c", 1, "FX", "1") + "\n"));
            assertThat(totals(engine)).containsEntry("FX", "3.00 3 1.00");
        }
    }

    @Test
    void hazard_60_another_number_of_shards_changes_no_answer() {
        List<String> lines = Trades.trades(200);
        int done = 0;
        for (int shards : List.of(1, 5, 2, 256, 3, 1)) {
            try (EmbeddedEngine engine = open(Trades.directory(disk), shards)) {
                engine.append("s", lines.subList(done, done + 30));
                done += 30;
                assertThat(totals(engine)).isEqualTo(Trades.right(lines.subList(0, done)));
                assertThat(engine.verify().isEqual()).isTrue();
            }
        }
    }

    @Test
    void hazard_61_who_was_killed_goes_on_behind_the_last_acknowledged_line() {
        List<String> lines = Trades.trades(40);
        open(disk).append("s", lines.subList(0, 15));
        try (EmbeddedEngine engine = open(disk.kill())) {
            assertThat(engine.acknowledged("s")).isEqualTo(15);
            byte[] again = bytes(lines.subList(9, 40)); // Also lines that are in: they are passed over.
            assertThat(engine.append("s", 10, again, again.length).acknowledged())
                    .isEqualTo(40);
            assertRefused(EngineException.Kind.SOURCE_CHANGED, () -> engine.append("s", 42, again, again.length));
            assertThat(totals(engine)).isEqualTo(Trades.right(lines));
        }
    }

    @Test
    void an_owner_whose_lock_was_deleted_stops_before_its_next_checkpoint() throws IOException {
        SimulatedDisk disk = SimulatedDisk.empty();
        EmbeddedEngine engine = open(disk);
        engine.append("s", List.of(Trades.trade("a", 1, "FX", "1")));
        engine.checkpointNow();
        Files.delete(disk.getPath("/data/LOCK"));
        Files.createFile(disk.getPath("/data/LOCK"));
        engine.append("s", List.of(Trades.trade("b", 1, "FX", "2")));
        assertThatExceptionOfType(EngineException.class)
                .isThrownBy(engine::checkpointNow)
                .withMessageContaining("/data/LOCK was deleted or replaced");
        assertThatExceptionOfType(EngineException.class)
                .isThrownBy(() -> engine.append("s", List.of(Trades.trade("c", 1, "FX", "4"))))
                .withMessageContaining("has stopped");
        try (EmbeddedEngine next = open(disk.kill())) {
            assertThat(Trades.totals(next)).containsEntry("FX", "3.00 2 2.00");
        }
    }
}
