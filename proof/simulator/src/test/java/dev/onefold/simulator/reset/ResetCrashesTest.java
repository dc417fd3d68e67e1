package dev.onefold.simulator.reset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.DataReset;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.Operation;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import dev.onefold.simulator.embedded.Trades;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.logging.Filter;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A data directory is emptied, and the process is killed, or the power goes, at any change of the disk. From then on
/// the data are whole or gone: nobody reads a part of them, and the next owner counts from nothing.
class ResetCrashesTest {
    private static final List<String> BEFORE = Trades.trades(60);
    private static final List<String> AFTER = List.of(
            Trades.trade("t1", 0, "desk1", "7.50"),
            Trades.trade("n1", 1, "desk9", "8.25"),
            Trades.trade("t1", 0, "desk1", "7.50"));
    private static final int CHANGES_MAX = 40; // More than a reset makes.

    /// @param letters how many dead letters there are
    private record Data(SimulatedDisk disk, long letters) {}

    private static Data data(RandomGenerator random) {
        SimulatedDisk disk = SimulatedDisk.empty();
        Path directory = Trades.directory(disk);
        int split = random.nextInt(10, 50);
        long letters;
        try (EmbeddedEngine engine = Trades.open(directory, Trades.settings(random.nextInt(1, 4)))) {
            Trades.fold(engine, Trades.file("file", BEFORE.subList(0, split)));
            engine.append("s", List.of("garbage"));
            engine.append("s", BEFORE.subList(split, BEFORE.size()));
            letters = engine.deadLetters().size();
            if (random.nextBoolean()) { // They are in the journal alone.
                addFiles(directory);
                disk.sync();
                return new Data(disk.copy().kill(), letters);
            }
        }
        addFiles(directory);
        disk.sync();
        return new Data(disk, letters);
    }

    /// Files of the command line and of somebody else, also where they would be in the way.
    private static void addFiles(Path directory) {
        try {
            for (String name : List.of(
                    "seeds/1730000000000.json",
                    "seeds/1730000000000.lock",
                    "seeds/resync.lock",
                    "requests/answers",
                    "handover/command-1",
                    "notes.txt",
                    "view-1/mine.txt",
                    "seeds/mine.txt")) {
                Files.createDirectories(directory.resolve(name).getParent());
                Files.writeString(directory.resolve(name), "precious");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void empty(Path directory) {
        try (DataReset reset = DataReset.own(directory, Trades.settings(1))) {
            reset.empty("trades");
        }
    }

    private static void cut(RandomGenerator random) {
        Data data = data(random);
        SimulatedDisk disk = data.disk;
        disk.inject(Faults.none().withCrashAtChange(random.nextInt(1, CHANGES_MAX)));
        boolean isDone = false;
        try {
            empty(Trades.directory(disk));
            isDone = true;
        } catch (SimulatedCrash powerGone) {
            assertThat(disk.isOpen()).isFalse();
        }
        boolean isKilled = isDone || random.nextInt(3) == 0;
        SimulatedDisk image = isKilled ? disk.kill() : disk.crash(random);
        Path directory = Trades.directory(image);
        boolean isWhole = !isDone && isWhole(directory, data.letters);
        if (!isWhole && random.nextBoolean()) { // Killed again, in the next try.
            image.inject(Faults.none().withCrashAtChange(random.nextInt(1, CHANGES_MAX)));
            try {
                empty(directory);
            } catch (SimulatedCrash powerGone) {
                assertThat(image.isOpen()).isFalse();
            }
            image = image.crash(random);
            directory = Trades.directory(image);
            isWhole = isWhole(directory, data.letters);
            // The note of a killed reset, or its first delete, need not be on the disk yet: then the power takes it.
            assertThat(isWhole && (isDone || !isKilled)).isFalse();
        }
        requireGoesOn(directory, isWhole ? data.letters : 0);
    }

    /// Whether a reader finds all of the data; else it must refuse the directory.
    private static boolean isWhole(Path directory, long letters) {
        try (EmbeddedEngine reader = EmbeddedEngine.read(directory, Trades.settings(2))) {
            assertThat(Trades.totals(reader)).isEqualTo(Trades.right(BEFORE));
            assertThat(reader.deadLetters().size()).isEqualTo(letters);
            return true;
        } catch (EngineException refused) {
            assertThat(refused.kind()).isEqualTo(EngineException.Kind.DEFINITION_CHANGED);
            return false;
        }
    }

    private static void requireGoesOn(Path directory, long letters) {
        boolean isWhole = letters > 0;
        try (EmbeddedEngine engine = Trades.open(directory, Trades.settings(2))) {
            assertThat(engine.deadLetters().size()).isEqualTo(letters);
            assertThat(engine.acknowledged("s") > 0).isEqualTo(isWhole);
            if (!isWhole) {
                assertThat(engine.progress()).isEmpty();
                engine.append("s", AFTER);
                assertThat(Trades.totals(engine)).isEqualTo(Trades.right(AFTER));
            }
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(directory.resolve("RESET")).doesNotExist();
        }
        for (String name : List.of("notes.txt", "view-1/mine.txt", "seeds/mine.txt")) {
            assertThat(directory.resolve(name)).hasContent("precious");
        }
        assertThat(directory.resolve("handover")).isDirectory();
        if (!isWhole) {
            for (String name :
                    List.of("seeds/1730000000000.json", "seeds/1730000000000.lock", "requests", "handover/command-1")) {
                assertThat(directory.resolve(name)).doesNotExist();
            }
            try (EmbeddedEngine engine = Trades.open(directory, Trades.settings(1))) {
                assertThat(Trades.totals(engine)).isEqualTo(Trades.right(AFTER));
            }
        }
    }

    @Test
    void wherever_a_reset_is_killed_the_data_are_whole_or_gone() {
        Seeds.forAllSeeds(60, ResetCrashesTest::cut);
    }

    @Test
    @Tag("campaign")
    void wherever_many_resets_are_killed_the_data_are_whole_or_gone() {
        Seeds.forAllSeeds(1_000, ResetCrashesTest::cut);
    }

    @Test
    void a_directory_that_an_engine_has_open_is_not_emptied() {
        SimulatedDisk disk = SimulatedDisk.empty();
        try (EmbeddedEngine engine = Trades.open(Trades.directory(disk), Trades.settings(2))) {
            engine.append("s", BEFORE);
            assertThatThrownBy(() -> empty(Trades.directory(disk))).hasMessageContaining("is in use by process");
            assertThat(Trades.totals(engine)).isEqualTo(Trades.right(BEFORE));
        }
    }

    @Test
    void a_reset_that_was_interrupted_names_its_pipeline_and_is_finished() {
        SimulatedDisk disk = data(new SplittableRandom(1)).disk;
        disk.inject(Faults.none().withCrashAtChange(CHANGES_MAX / 2));
        assertThatThrownBy(() -> empty(Trades.directory(disk))).isInstanceOf(SimulatedCrash.class);
        Path directory = Trades.directory(disk.kill());
        assertThat(DataReset.interrupted(directory)).contains("trades");
        assertThatThrownBy(() -> EmbeddedEngine.open(directory, Trades.settings(1)))
                .hasMessageContaining("A reset of /data was interrupted", "onefold reset");
        try (DataReset reset = DataReset.own(directory, Trades.settings(1))) {
            reset.finish();
        }
        assertThat(DataReset.interrupted(directory)).isEmpty();
        requireGoesOn(directory, 0);
    }

    @Test
    void an_engine_that_finishes_a_reset_logs_it() {
        SimulatedDisk disk = data(new SplittableRandom(1)).disk;
        disk.inject(Faults.none().withCrashAtChange(CHANGES_MAX / 2));
        assertThatThrownBy(() -> empty(Trades.directory(disk))).isInstanceOf(SimulatedCrash.class);
        List<String> warnings = new ArrayList<>();
        Logger logger = Logger.getLogger("dev.onefold.embedded");
        Filter before = logger.getFilter();
        logger.setFilter(record -> {
            if (record.getLevel().equals(Level.WARNING)) {
                warnings.add(record.getMessage());
            }
            return true;
        });
        try {
            requireGoesOn(Trades.directory(disk.kill()), 0);
        } finally {
            logger.setFilter(before);
        }
        assertThat(warnings)
                .containsExactly("A reset of /data was interrupted; the rest of its data was deleted first.");
    }

    /// Fails a reset, and lets the next owner go on.
    ///
    /// @return what was said; empty if nothing failed
    private static String fail(Faults faults) {
        Data data = data(new SplittableRandom(3));
        Path directory = Trades.directory(data.disk);
        data.disk.inject(faults);
        String said = "";
        try {
            empty(directory);
        } catch (EngineException e) {
            said = String.valueOf(e.getMessage());
        }
        data.disk.inject(Faults.none());
        boolean isWhole = !said.isEmpty() && isWhole(directory, data.letters);
        if (!isWhole && !said.isEmpty()) {
            assertThat(said).contains("The reset of /data stopped half way", "run 'onefold reset' again");
        }
        requireGoesOn(directory, isWhole ? data.letters : 0);
        return said;
    }

    @Test
    void a_reset_on_a_failing_disk_says_how_far_it_came_and_the_next_owner_goes_on() {
        for (Operation operation : List.of(Operation.FORCE, Operation.DELETE, Operation.RENAME)) {
            long nth = 1;
            while (!fail(Faults.none().failingOnce(operation, nth, Faults.INPUT_OUTPUT_ERROR))
                    .isEmpty()) {
                nth++;
            }
            assertThat(nth).as(operation.name()).isGreaterThan(2);
        }
    }

    @Test
    void a_file_that_may_not_be_deleted_is_named() {
        String said = fail(Faults.none().withHook((operation, path) -> {
            if (operation == Operation.DELETE && path.toString().contains("/view-1/rows-")) {
                throw new AccessDeniedException(path.toString());
            }
        }));
        assertThat(said).contains("this user may not delete /data/view-1/rows-");
    }

    @Test
    void where_this_user_may_not_delete_all_of_it_nothing_is_noted_or_deleted() {
        for (String folder : List.of("", "/view-1", "/seeds", "/requests", "/handover")) {
            Data data = data(new SplittableRandom(3));
            Path directory = Trades.directory(data.disk);
            data.disk.inject(Faults.none().withHook((operation, path) -> {
                if (operation == Operation.ACCESS && path.toString().equals("/data" + folder)) {
                    throw new AccessDeniedException(path.toString());
                }
            }));
            assertThatThrownBy(() -> empty(directory))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("No access: emptying of /data" + folder + " is not possible")
                    .hasMessageContaining("this user lacks the permission");
            data.disk.inject(Faults.none());
            assertThat(directory.resolve("RESET")).doesNotExist();
            for (String name : List.of("seeds/1730000000000.json", "requests/answers", "handover/command-1")) {
                assertThat(directory.resolve(name)).exists();
            }
            assertThat(isWhole(directory, data.letters)).isTrue();
        }
    }

    @Test
    void a_folder_that_may_not_be_changed_and_has_nothing_of_ours_is_no_reason_to_refuse() throws IOException {
        Data data = data(new SplittableRandom(3));
        Path directory = Trades.directory(data.disk);
        for (String name : List.of("seeds", "requests", "handover")) {
            try (DirectoryStream<Path> files =
                    Files.newDirectoryStream(directory.resolve(name), file -> !file.endsWith("mine.txt"))) {
                for (Path file : files) {
                    Files.delete(file);
                }
            }
        }
        Files.createDirectory(directory.resolve("photos"));
        data.disk.inject(Faults.none().withHook((operation, path) -> {
            if (operation == Operation.ACCESS && path.toString().matches("/data/(seeds|handover|photos)")) {
                throw new AccessDeniedException(path.toString());
            }
        }));
        empty(directory);
        assertThat(directory.resolve("requests")).doesNotExist();
        requireGoesOn(directory, 0);
    }

    @Test
    void a_reset_whose_lock_is_deleted_is_not_called_done() {
        SimulatedDisk disk = data(new SplittableRandom(1)).disk;
        Path directory = Trades.directory(disk);
        disk.inject(Faults.none().withHook((operation, path) -> {
            if (operation == Operation.DELETE && path.endsWith("CURRENT")) {
                Files.delete(directory.resolve("LOCK"));
            }
        }));
        assertThatThrownBy(() -> empty(directory)).hasMessageContaining("/data/LOCK was deleted or replaced");
        disk.inject(Faults.none());
        assertThat(DataReset.interrupted(directory)).contains("trades");
        requireGoesOn(directory, 0);
    }
}
