package dev.onefold.fakes.disk;

import static dev.onefold.fakes.disk.Seeded.SECTOR;
import static dev.onefold.fakes.disk.Seeded.letters;
import static dev.onefold.fakes.disk.Seeded.outcomes;
import static dev.onefold.fakes.disk.Seeded.sectors;
import static dev.onefold.fakes.disk.Seeded.write;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FaultsTest {
    private final SimulatedDisk disk = SimulatedDisk.empty();
    private final Path file = disk.getPath("/file");

    @Test
    void every_nth_operation_of_a_kind_fails_and_no_other() throws Exception {
        Files.write(file, sectors("A"));
        try (FileChannel channel = FileChannel.open(file, READ, WRITE)) {
            Map<Operation, ThrowingCallable> operations = new EnumMap<>(Operation.class);
            operations.put(Operation.OPEN, () -> FileChannel.open(file).close());
            operations.put(Operation.READ, () -> channel.read(ByteBuffer.allocate(1), 0));
            operations.put(Operation.WRITE, () -> channel.write(ByteBuffer.allocate(1), 0));
            operations.put(Operation.TRUNCATE, () -> channel.truncate(9));
            operations.put(Operation.FORCE, () -> channel.force(false));
            operations.put(Operation.LOCK, () -> channel.lock().release());
            operations.put(Operation.STAT, () -> Files.size(file));
            operations.put(Operation.ACCESS, () -> disk.provider().checkAccess(file, AccessMode.WRITE));
            operations.put(Operation.LIST, () -> {
                try (Stream<Path> entries = Files.list(disk.getPath("/"))) {
                    assertThat(entries).contains(file);
                }
            });
            AtomicInteger names = new AtomicInteger();
            operations.put(Operation.CREATE_DIRECTORY, () -> {
                Files.createDirectory(disk.getPath("/" + names.incrementAndGet()));
            });
            operations.put(Operation.RENAME, () -> Files.move(file, file, ATOMIC_MOVE));
            operations.put(Operation.DELETE, () -> Files.deleteIfExists(disk.getPath("/none")));
            assertThat(operations).containsOnlyKeys(Operation.values());
            for (Operation failing : Operation.values()) {
                disk.inject(Faults.none().failingEvery(failing, 3, "Input/output error"));
                for (int round = 1; round <= 6; round++) {
                    for (Operation operation : Operation.values()) {
                        @Nullable Throwable failure = failureOf(operations.get(operation));
                        boolean fails = operation == failing && round % 3 == 0;
                        assertThat(failure == null ? "" : failure.toString())
                                .as("%s in round %d, when %s fails", operation, round, failing)
                                .contains(fails ? "Input/output error" : "");
                        assertThat(failure instanceof IOException).isEqualTo(fails);
                    }
                }
            }
        }
    }

    @Test
    void a_failed_operation_did_nothing() throws Exception {
        Files.write(file, sectors("A"));
        disk.inject(Faults.none()
                .failingEvery(Operation.RENAME, 1, Faults.INPUT_OUTPUT_ERROR)
                .failingEvery(Operation.DELETE, 1, Faults.INPUT_OUTPUT_ERROR)
                .failingEvery(Operation.WRITE, 1, Faults.NO_SPACE));
        Path other = disk.getPath("/other");
        assertThatThrownBy(() -> Files.move(file, other, ATOMIC_MOVE))
                .isInstanceOf(FileSystemException.class)
                .hasMessage("/file: Input/output error");
        assertThatThrownBy(() -> Files.delete(file)).isInstanceOf(IOException.class);
        try (FileChannel channel = FileChannel.open(file, WRITE)) {
            ByteBuffer buffer = ByteBuffer.allocate(10);
            assertThatThrownBy(() -> channel.write(buffer)).hasMessage(Faults.NO_SPACE);
            assertThat(buffer.remaining()).isEqualTo(10);
            assertThat(channel.position()).isZero();
        }
        assertThat(letters(file)).isEqualTo("A");
        assertThat(other).doesNotExist();
    }

    @Test
    void an_operation_can_fail_once() throws Exception {
        disk.inject(Faults.none().failingOnce(Operation.CREATE_DIRECTORY, 2, Faults.NO_SPACE));
        Files.createDirectory(disk.getPath("/1"));
        assertThatThrownBy(() -> Files.createDirectory(disk.getPath("/2"))).hasMessageContaining(Faults.NO_SPACE);
        for (int i = 3; i < 9; i++) {
            Files.createDirectory(disk.getPath("/" + i));
        }
        assertThat(disk.operationCount(Operation.CREATE_DIRECTORY)).isEqualTo(8);
    }

    @Test
    void after_a_failed_force_the_next_one_succeeds_and_the_data_may_be_gone() throws Exception {
        assertThat(outcomes(
                        200, random -> letters(afterFailedForce().crash(random).getPath("/file"))))
                .containsExactly("AA", "AB", "BA", "BB");
        assertThat(letters(afterFailedForce().getPath("/file")))
                .as("what is read")
                .isEqualTo("BB");
    }

    @Test
    void what_is_written_and_forced_after_a_failed_force_survives_on_top_of_it() throws Exception {
        Set<String> outcomes = outcomes(200, random -> {
            SimulatedDisk other = afterFailedForce();
            try (FileChannel channel = FileChannel.open(other.getPath("/file"), WRITE)) {
                write(channel, sectors("CC"), SECTOR);
                channel.force(false);
            }
            return letters(other.crash(random).getPath("/file"));
        });
        assertThat(outcomes).containsExactly("ACC", "BCC");
    }

    @Test
    void a_gap_forced_after_a_failed_force_holds_zeros() throws Exception {
        Set<String> outcomes = outcomes(200, random -> {
            SimulatedDisk other = afterFailedForce();
            try (FileChannel channel = FileChannel.open(other.getPath("/file"), WRITE)) {
                other.inject(Faults.none().failingOnce(Operation.FORCE, 1, Faults.INPUT_OUTPUT_ERROR));
                write(channel, sectors("C"), 2 * SECTOR);
                assertThatThrownBy(() -> channel.force(false)).hasMessage(Faults.INPUT_OUTPUT_ERROR);
                write(channel, sectors("D"), 4 * SECTOR);
                channel.force(false);
            }
            return letters(other.crash(random).getPath("/file")).substring(2);
        });
        assertThat(outcomes).containsExactlyInAnyOrder("C0D", "00D", "?0D");
    }

    @Test
    void a_size_forced_after_a_failed_force_survives() throws Exception {
        Set<String> outcomes = outcomes(200, random -> {
            SimulatedDisk other = afterFailedForce();
            try (FileChannel channel = FileChannel.open(other.getPath("/file"), WRITE)) {
                other.inject(Faults.none().failingOnce(Operation.FORCE, 1, Faults.INPUT_OUTPUT_ERROR));
                write(channel, sectors("CCC"), 2 * SECTOR);
                assertThatThrownBy(() -> channel.force(false)).hasMessage(Faults.INPUT_OUTPUT_ERROR);
                channel.truncate(4 * SECTOR);
                channel.force(false);
            }
            return String.valueOf(Files.size(other.crash(random).getPath("/file")) / SECTOR);
        });
        assertThat(outcomes).containsExactly("4");
    }

    @Test
    void a_short_write_takes_at_least_one_byte_and_leaves_at_least_one() throws Exception {
        disk.inject(Faults.none().withShortWriteEvery(2));
        Set<Integer> counts = new TreeSet<>();
        try (FileChannel channel = FileChannel.open(file, WRITE, CREATE)) {
            for (int i = 0; i < 100; i++) {
                ByteBuffer whole = ByteBuffer.allocate(100);
                assertThat(channel.write(whole)).isEqualTo(100);
                ByteBuffer part = ByteBuffer.allocate(100);
                int count = channel.write(part);
                assertThat(part.position()).isEqualTo(count).isBetween(1, 99);
                counts.add(count);
                assertThat(channel.size()).isEqualTo(channel.position());
            }
            assertThat(counts).hasSizeGreaterThan(20);
            assertThat(channel.write(ByteBuffer.allocate(1))).isOne();
            assertThat(channel.write(ByteBuffer.allocate(1))).isOne();
        }
    }

    @Test
    void a_short_write_of_several_buffers_takes_a_beginning_of_them() throws Exception {
        disk.inject(Faults.none().withShortWriteEvery(1));
        try (FileChannel channel = FileChannel.open(file, WRITE, CREATE, READ)) {
            ByteBuffer[] buffers = {ByteBuffer.wrap(sectors("A")), ByteBuffer.wrap(sectors("B"))};
            while (buffers[1].hasRemaining()) {
                channel.write(buffers);
            }
        }
        assertThat(letters(file)).isEqualTo("AB");
        assertThat(disk.operationCount(Operation.WRITE)).isGreaterThan(3);
    }

    @Test
    void a_short_read_gives_a_part() throws Exception {
        Files.write(file, sectors("AB"));
        disk.inject(Faults.none().withShortReadEvery(1));
        try (FileChannel channel = FileChannel.open(file)) {
            assertThat(channel.read(ByteBuffer.allocate(2 * SECTOR))).isBetween(1, 2 * SECTOR - 1);
        }
        assertThat(letters(file)).as("whoever reads on gets all").isEqualTo("AB");
    }

    @Test
    void a_full_disk_takes_what_fits_then_refuses_until_there_is_space() throws Exception {
        disk.inject(Faults.none().withSpaceBytesMax(3 * 4_096));
        Files.write(disk.getPath("/other"), new byte[5_000]);
        assertThat(usable()).isEqualTo(4_096);
        try (FileChannel channel = FileChannel.open(file, WRITE, CREATE)) {
            assertThat(channel.write(ByteBuffer.allocate(6_000))).isEqualTo(4_096);
            assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(1))).hasMessage(Faults.NO_SPACE);
            assertThat(channel.write(ByteBuffer.allocate(4_096), 0))
                    .as("in place")
                    .isEqualTo(4_096);
            Files.delete(disk.getPath("/other"));
            assertThat(channel.write(ByteBuffer.allocate(9_000))).isEqualTo(8_192);
            disk.inject(Faults.none().withSpaceBytesMax(4 * 4_096));
            assertThat(channel.write(ByteBuffer.allocate(9_000))).isEqualTo(4_096);
            channel.truncate(0);
            assertThat(usable()).isEqualTo(4 * 4_096);
        }
    }

    @Test
    void a_gap_takes_no_space_and_so_reserves_none() throws Exception {
        disk.inject(Faults.none().withSpaceBytesMax(2 * 4_096));
        try (FileChannel channel = FileChannel.open(file, WRITE, CREATE)) {
            channel.write(ByteBuffer.allocate(1), 1_000_000);
            assertThat(channel.write(ByteBuffer.allocate(9_000), 0)).isEqualTo(4_096);
        }
    }

    @Test
    void a_removed_file_gives_its_space_back_when_its_last_channel_is_closed() throws Exception {
        disk.inject(Faults.none().withSpaceBytesMax(10 * 4_096));
        try (FileChannel channel = FileChannel.open(file, WRITE, CREATE)) {
            channel.write(ByteBuffer.allocate(4_096));
            Files.delete(file);
            assertThat(usable()).isEqualTo(9 * 4_096);
        }
        assertThat(usable()).isEqualTo(10 * 4_096);
    }

    @Test
    void a_hook_sees_each_operation_before_it_is_done_and_may_fail_it() throws Exception {
        List<String> seen = new ArrayList<>();
        disk.inject(Faults.none().withHook((operation, path) -> {
            seen.add(operation + " " + path + " " + disk.fileSizes().size());
            if (operation == Operation.DELETE) {
                throw new IOException("Read-only file system");
            }
        }));
        Files.write(file, sectors("A"));
        assertThatThrownBy(() -> Files.delete(file)).hasMessage("Read-only file system");
        assertThat(seen).containsExactly("OPEN /file 0", "WRITE /file 1", "DELETE /file 1");
        assertThat(letters(file)).isEqualTo("A");
    }

    @Test
    void as_the_jdk_does_a_move_that_replaces_first_deletes_unless_it_is_atomic() throws Exception {
        List<Operation> seen = new ArrayList<>();
        for (CopyOption option : List.of(REPLACE_EXISTING, ATOMIC_MOVE)) {
            Files.write(file, sectors("A"));
            Files.write(disk.getPath("/other"), sectors("B"));
            disk.inject(Faults.none().withHook((operation, _) -> seen.add(operation)));
            Files.move(file, disk.getPath("/other"), option);
            disk.inject(Faults.none());
        }
        assertThat(seen).containsExactly(Operation.DELETE, Operation.RENAME, Operation.RENAME);
    }

    @Test
    void a_hook_can_copy_the_disk_between_any_two_operations() throws Exception {
        List<SimulatedDisk> states = new ArrayList<>();
        disk.inject(Faults.none().withHook((_, _) -> states.add(disk.copy())));
        Files.write(file, sectors("A"));
        Files.write(file, sectors("BB"));
        assertThat(states.stream().map(state -> lettersOf(state.getPath("/file"))))
                .containsExactly("absent", "", "A", "");
    }

    @Test
    void a_crash_ends_every_thread_and_nothing_that_it_does_afterwards_reaches_the_disk() throws Exception {
        Path other = disk.getPath("/other");
        disk.inject(Faults.none().withCrashAtChange(3));
        FileChannel channel = FileChannel.open(file, WRITE, CREATE);
        write(channel, sectors("A"), 0);
        assertThatThrownBy(() -> channel.force(true)).isInstanceOf(SimulatedCrash.class);
        assertThatThrownBy(() -> write(channel, sectors("B"), 0)).isInstanceOf(SimulatedCrash.class);
        assertThatThrownBy(() -> Files.delete(file)).isInstanceOf(SimulatedCrash.class);
        assertThatThrownBy(() -> Files.writeString(other, "x")).isInstanceOf(SimulatedCrash.class);
        assertThatThrownBy(() -> Files.exists(other)).isInstanceOf(SimulatedCrash.class);
        channel.close();
        assertThat(disk.changeCount()).isEqualTo(3);
        SimulatedDisk next = disk.kill();
        assertThat(letters(next.getPath("/file"))).isEqualTo("A");
        assertThat(next.getPath("/other")).doesNotExist();
        assertThatThrownBy(() -> Files.delete(file)).as("still").isInstanceOf(SimulatedCrash.class);
    }

    @Test
    void a_write_at_which_the_process_ends_is_done_in_part() throws Exception {
        Set<Long> sizes = new TreeSet<>();
        for (int before = 0; before < 50; before++) {
            SimulatedDisk fresh = SimulatedDisk.empty();
            for (int i = 0; i < before; i++) {
                Files.createDirectory(fresh.getPath("/" + i));
            }
            fresh.inject(Faults.none().withCrashAtChange(2));
            assertThatThrownBy(() -> Files.write(fresh.getPath("/file"), sectors("ABC")))
                    .isInstanceOf(SimulatedCrash.class);
            byte[] left = Files.readAllBytes(fresh.kill().getPath("/file"));
            assertThat("ABC").startsWith(letters(left));
            sizes.add((long) left.length);
        }
        assertThat(sizes).hasSizeGreaterThan(10);
    }

    @Test
    void after_a_crash_or_a_kill_the_old_channels_are_closed_and_its_paths_lead_nowhere() throws Exception {
        for (boolean kill : List.of(true, false)) {
            SimulatedDisk fresh = SimulatedDisk.empty();
            FileChannel channel = FileChannel.open(fresh.getPath("/file"), WRITE, CREATE);
            SimulatedDisk next = kill ? fresh.kill() : fresh.crash(new Random(1));
            assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> channel.force(false)).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(channel::size).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> Files.writeString(fresh.getPath("/x"), "x"))
                    .isInstanceOf(IOException.class);
            channel.close();
            assertThat(fresh.isOpen()).isFalse();
            assertThat(next.isOpen()).isTrue();
            Files.writeString(next.getPath("/x"), "x");
        }
    }

    @Test
    void a_flipped_bit_is_read_and_is_still_there_after_a_power_cut() throws Exception {
        Files.write(file, new byte[10_000]);
        disk.sync();
        disk.flipBit(file, 8 * 5_000 + 3);
        byte[] expected = new byte[10_000];
        expected[5_000] = 8;
        assertThat(Files.readAllBytes(file)).isEqualTo(expected);
        for (int seed = 0; seed < 20; seed++) {
            SimulatedDisk found = disk.copy().crash(new Random(seed));
            assertThat(Files.readAllBytes(found.getPath("/file"))).isEqualTo(expected);
        }
        assertThatThrownBy(() -> disk.flipBit(file, 80_000)).hasMessageContaining("no bit 80000");
    }

    private SimulatedDisk afterFailedForce() throws IOException {
        SimulatedDisk other = SimulatedDisk.empty();
        Files.write(other.getPath("/file"), sectors("AA"));
        other.sync();
        try (FileChannel channel = FileChannel.open(other.getPath("/file"), WRITE)) {
            write(channel, sectors("BB"), 0);
            other.inject(Faults.none().failingOnce(Operation.FORCE, 1, Faults.INPUT_OUTPUT_ERROR));
            assertThatThrownBy(() -> channel.force(false)).hasMessage(Faults.INPUT_OUTPUT_ERROR);
            channel.force(false);
        }
        return other;
    }

    private long usable() throws IOException {
        return Files.getFileStore(disk.getPath("/")).getUsableSpace();
    }

    private static String lettersOf(Path path) {
        try {
            return letters(path);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static @Nullable Throwable failureOf(ThrowingCallable operation) {
        try {
            operation.call();
            return null;
        } catch (Throwable failure) {
            return failure;
        }
    }
}
