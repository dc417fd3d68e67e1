package dev.onefold.simulator.embedded;

import static dev.onefold.simulator.embedded.Trades.fold;
import static dev.onefold.simulator.embedded.Trades.totals;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.Operation;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A script of operations on a disk that fails at its every n-th write, force, rename, open, read, listing or deletion,
/// or is full for a while.
class StorageFailuresTest {
    private static final List<String> LINES = Trades.trades(120);
    private static final int TRIES_MAX = 2_000;

    private final List<Long> acknowledged = new ArrayList<>();

    private static Settings settings(int shards) {
        return Trades.settings(shards).withCheckpointInterval(Duration.ZERO);
    }

    private void script(SimulatedDisk disk, Settings settings) {
        try (EmbeddedEngine engine = Trades.open(Trades.directory(disk), settings)) {
            fold(engine, Trades.file("file", LINES.subList(0, 40)));
            for (int from = 40; from < 120; from += 20) {
                acknowledged.add(
                        engine.append("s", LINES.subList(from, from + 20)).acknowledged());
            }
            engine.append("bad", List.of("poison", "more poison"));
            engine.deadLetters().purge(List.of(1L));
            engine.rebuild();
            engine.checkpointNow();
        }
    }

    private void requireRight(SimulatedDisk disk) {
        try (EmbeddedEngine engine = Trades.open(Trades.directory(disk), settings(3))) {
            int in = (int) engine.acknowledged("s");
            assertThat(in).isGreaterThanOrEqualTo(acknowledged.isEmpty() ? 0 : Math.toIntExact(acknowledged.getLast()));
            fold(engine, Trades.file("file", LINES.subList(0, 40)));
            if (in < 80) {
                engine.append("s", LINES.subList(40 + in, 120));
            }
            assertThat(totals(engine)).isEqualTo(Trades.right(LINES));
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    private void failAt(Operation operation, int step) {
        boolean struck = true;
        int nth = 1;
        for (; struck && nth < TRIES_MAX; nth += step) {
            acknowledged.clear();
            SimulatedDisk disk = SimulatedDisk.empty();
            Trades.open(Trades.directory(disk), settings(2)).close();
            disk.inject(Faults.none().failingOnce(operation, nth, Faults.INPUT_OUTPUT_ERROR));
            boolean stopped = false;
            try {
                script(disk, settings(2));
            } catch (EngineException failure) {
                stopped = true;
                assertThat(failure.kind())
                        .describedAs("%s %d: %s", operation, nth, failure.getMessage())
                        .isIn(EngineException.Kind.STORAGE_FAILED, EngineException.Kind.STOPPED);
            }
            struck = disk.operationCount(operation) >= nth;
            assertThat(stopped).describedAs("%s %d failed", operation, nth).isEqualTo(struck);
            SplittableRandom random = new SplittableRandom(nth);
            SimulatedDisk after = nth % 2 == 0 ? disk.kill() : disk.crash(random);
            requireRight(after);
            acknowledged.add(80L);
            requireRight(after.crash(random));
        }
        assertThat(struck).isFalse();
        assertThat(nth).isGreaterThan(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"WRITE", "FORCE", "RENAME", "OPEN", "READ", "LIST", "DELETE"})
    void whichever_operation_fails_the_engine_stops_and_the_next_start_is_right(Operation operation) {
        failAt(operation, operation == Operation.WRITE || operation == Operation.OPEN ? 5 : 2);
    }

    @ParameterizedTest
    @Tag("campaign")
    @EnumSource(names = {"WRITE", "FORCE", "RENAME", "OPEN", "READ", "LIST", "DELETE"})
    void whichever_of_all_operations_fails_the_engine_stops_and_the_next_start_is_right(Operation operation) {
        failAt(operation, 1);
    }

    @Test
    @Tag("campaign")
    void with_the_disk_full_intake_waits_and_goes_on_by_itself() {
        int waits = 0;
        for (long space = 8_192; space < 400_000; space += 4_096) {
            acknowledged.clear();
            SimulatedDisk disk = SimulatedDisk.empty();
            Trades.open(Trades.directory(disk), settings(2)).close();
            int[] waited = {0};
            long[] size = {space};
            Settings waiting = settings(2).withPause(() -> {
                waited[0]++;
                size[0] += 16_384;
                disk.inject(Faults.none().withSpaceBytesMax(size[0]));
            });
            disk.inject(Faults.none().withSpaceBytesMax(space));
            try {
                script(disk, waiting);
            } catch (EngineException failure) {
                assertThat(failure.kind()).isEqualTo(EngineException.Kind.STORAGE_FAILED);
                assertThat(failure.getMessage())
                        .describedAs("only a start needs space at once")
                        .contains("LOCK");
            }
            waits += waited[0];
            disk.inject(Faults.none());
            requireRight(disk.kill());
        }
        assertThat(waits).isGreaterThan(50);
    }

    @Test
    void short_writes_and_reads_are_completed() {
        SimulatedDisk disk = SimulatedDisk.empty();
        disk.inject(Faults.none().withShortWriteEvery(2).withShortReadEvery(2));
        script(disk, settings(2));
        requireRight(disk);
    }

    /// Some file systems need space also for a write into a file that was allocated.
    @Test
    void a_checkpoint_may_name_a_segment_whose_first_entry_found_no_space() throws Exception {
        SimulatedDisk disk = SimulatedDisk.empty();
        Path directory = disk.getPath("/journals");
        Files.createDirectory(directory);
        Journal.Position checkpoint;
        try (Journal journal = Journal.open(directory, 1, Journal.Position.START, _ -> {})) {
            journal.append(ByteBuffer.allocate(100));
            disk.inject(Faults.none().withHook((operation, path) -> {
                if (operation == Operation.WRITE && path.toString().endsWith("-2")) {
                    throw new IOException(Faults.NO_SPACE);
                }
            }));
            assertThatThrownBy(() -> journal.append(ByteBuffer.allocate(Journal.SEGMENT_BYTES)))
                    .isInstanceOf(OutOfSpaceException.class);
            disk.inject(Faults.none());
            checkpoint = journal.position();
        }
        List<Integer> replayed = new ArrayList<>();
        try (Journal journal = Journal.open(directory, 1, checkpoint, _ -> {})) {
            journal.append(ByteBuffer.allocate(Journal.SEGMENT_BYTES));
            journal.force();
        }
        Journal.open(directory, 1, checkpoint, payload -> replayed.add(payload.length))
                .close();
        assertThat(replayed).containsExactly(Journal.SEGMENT_BYTES);
    }

    @Test
    void a_segment_that_is_made_ahead_gives_back_the_last_space() throws Exception {
        SimulatedDisk disk = SimulatedDisk.empty();
        Path directory = Files.createDirectory(disk.getPath("/journal"));
        Path ahead = directory.resolve("journal-2.new");
        ByteBuffer entry = ByteBuffer.allocate(Journal.SEGMENT_BYTES / 16);
        try (Journal journal = Journal.open(directory, 1, Journal.Position.START, _ -> {})) {
            for (int i = 0; i < 8; i++) {
                journal.append(entry.duplicate());
                journal.force();
            }
            assertThat(ahead).exists();
            disk.inject(Faults.none().withSpaceBytesMax(3L * Journal.SEGMENT_BYTES));
            journal.append(entry.duplicate());
            journal.force();
            assertThat(ahead).doesNotExist();
            for (int i = 0; i < 8; i++) {
                journal.append(entry.duplicate());
                journal.force();
            }
            assertThat(journal.position().segment()).isEqualTo(2); // There is space for one that is needed.
        }
    }
}
