package dev.onefold.fakes.disk;

import static dev.onefold.fakes.disk.Seeded.SECTOR;
import static dev.onefold.fakes.disk.Seeded.letters;
import static dev.onefold.fakes.disk.Seeded.outcomes;
import static dev.onefold.fakes.disk.Seeded.sectors;
import static dev.onefold.fakes.disk.Seeded.write;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class PowerCutOnFilesTest {
    private static final int TRIALS = 400;

    @Test
    void forced_writes_survive() throws Exception {
        assertThat(outcomes(TRIALS, random -> {
                    SimulatedDisk disk = diskWithFile("AA");
                    try (FileChannel channel = open(disk)) {
                        write(channel, sectors("BBBB"), SECTOR);
                        channel.force(false);
                    }
                    return letters(file(disk.crash(random)));
                }))
                .containsExactly("ABBBB");
    }

    @Test
    void any_sectors_of_a_write_that_was_not_forced_survive() throws Exception {
        Set<String> outcomes = outcomes(TRIALS, random -> {
            SimulatedDisk disk = diskWithFile("AAAA");
            try (FileChannel channel = open(disk)) {
                write(channel, sectors("BBBB"), 0);
            }
            return letters(file(disk.crash(random)));
        });
        assertThat(outcomes).hasSize(16).allMatch(letters -> letters.matches("[AB]{4}"));
    }

    @Test
    void writes_that_were_not_forced_survive_in_any_order() throws Exception {
        Set<String> outcomes = outcomes(TRIALS, random -> {
            SimulatedDisk disk = diskWithFile("AAAA");
            try (FileChannel channel = open(disk)) {
                write(channel, sectors("B"), 0);
                write(channel, sectors("C"), 3L * SECTOR);
            }
            return letters(file(disk.crash(random)));
        });
        assertThat(outcomes).containsExactlyInAnyOrder("AAAA", "BAAA", "AAAC", "BAAC");
    }

    @Test
    void a_write_that_was_not_forced_spoils_no_byte_beside_it() throws Exception {
        Set<String> outcomes = outcomes(TRIALS, random -> {
            SimulatedDisk disk = diskWithFile("A");
            try (FileChannel channel = open(disk)) {
                write(channel, new byte[] {'B', 'B'}, 100);
            }
            byte[] bytes = Files.readAllBytes(file(disk.crash(random)));
            String written = "" + (char) bytes[100] + (char) bytes[101];
            bytes[100] = 'A';
            bytes[101] = 'A';
            assertThat(letters(bytes)).isEqualTo("A");
            return written;
        });
        assertThat(outcomes).as("one sector is whole or not at all").containsExactly("AA", "BB");
    }

    @Test
    void a_size_that_survives_without_its_data_shows_zeros_or_noise_or_what_a_removed_file_held() throws Exception {
        assertThat(outcomes(2 * TRIALS, random -> lettersAfterGrowth(diskWithRemovedFile(), "B", random)))
                .containsExactlyInAnyOrder("A", "AB", "A0", "A?", "AZ", "AY");
        assertThat(outcomes(2 * TRIALS, random -> lettersAfterGrowth(diskWithRemovedFile(), "BB", random)))
                .contains("AYZ", "A0Z", "A?0", "A?B");
    }

    @Test
    void what_a_removed_file_held_outlives_kills_and_power_cuts() throws Exception {
        assertThat(outcomes(
                        TRIALS,
                        random -> lettersAfterGrowth(diskWithRemovedFile().kill(), "B", random)))
                .contains("AZ");
        assertThat(outcomes(TRIALS, random -> {
                    SimulatedDisk disk = diskWithRemovedFile();
                    disk.sync();
                    return lettersAfterGrowth(disk.crash(random), "B", random);
                }))
                .contains("AZ");
    }

    @Test
    void a_file_that_grew_ends_at_any_sector() throws Exception {
        assertThat(outcomes(TRIALS, random -> {
                    SimulatedDisk disk = diskWithFile("A");
                    try (FileChannel channel = open(disk)) {
                        write(channel, new byte[3 * SECTOR - 10], SECTOR);
                    }
                    return String.valueOf(Files.size(file(disk.crash(random))));
                }))
                .containsExactlyInAnyOrder("512", "1024", "1536", "2038");
    }

    @Test
    void a_cut_that_was_not_forced_may_be_undone_and_mix_with_what_was_written_after_it() throws Exception {
        Set<String> outcomes = outcomes(2 * TRIALS, random -> {
            SimulatedDisk disk = diskWithFile("AAA");
            Files.write(file(disk), sectors("BC"), WRITE, TRUNCATE_EXISTING);
            return letters(file(disk.crash(random)));
        });
        assertThat(outcomes)
                .contains("", "BC", "AAA", "BCA", "AC", "ACA")
                .allMatch(letters -> letters.matches("([AB0?]([AC0?]A?)?)?"));
    }

    @Test
    void a_gap_that_was_not_forced_may_hold_garbage_and_a_forced_one_holds_zeros() throws Exception {
        assertThat(outcomes(TRIALS, random -> letters(file(diskWithGap(false).crash(random)))))
                .contains("A00B", "A??B");
        assertThat(outcomes(TRIALS, random -> letters(file(diskWithGap(true).crash(random)))))
                .containsExactly("A00B");
    }

    /// The oracle: what each byte was when last forced, and everything written to it since.
    @Test
    void after_any_writes_and_forces_each_byte_is_the_forced_one_or_one_written_since() throws Exception {
        Set<String> outcomes = outcomes(TRIALS, random -> {
            int size = 6_000;
            SimulatedDisk disk = diskWithFile("A".repeat(12));
            byte[] now = sectors("A".repeat(12));
            byte[] forced = now.clone();
            Set<Integer> allowed = new HashSet<>();
            try (FileChannel channel = open(disk)) {
                for (int step = 0; step < 30; step++) {
                    if (random.nextInt(6) == 0) {
                        channel.force(random.nextBoolean());
                        forced = now.clone();
                        allowed.clear();
                    } else {
                        byte[] bytes = new byte[1 + random.nextInt(2_000)];
                        random.nextBytes(bytes);
                        int position = random.nextInt(size - bytes.length);
                        write(channel, bytes, position);
                        for (int i = 0; i < bytes.length; i++) {
                            now[position + i] = bytes[i];
                            allowed.add((position + i) << 8 | bytes[i] & 0xFF);
                        }
                    }
                }
            }
            byte[] left = Files.readAllBytes(file(disk.crash(random)));
            assertThat(left).hasSameSizeAs(forced);
            boolean lost = false;
            for (int i = 0; i < left.length; i++) {
                assertThat(left[i] == forced[i] || allowed.contains(i << 8 | left[i] & 0xFF))
                        .as("byte %d", i)
                        .isTrue();
                lost |= left[i] != now[i];
            }
            return lost ? "lost" : "kept";
        });
        assertThat(outcomes).containsExactly("kept", "lost");
    }

    @Test
    void what_was_found_after_a_power_cut_is_durable() throws Exception {
        outcomes(TRIALS, random -> {
            SimulatedDisk disk = diskWithFile("AAAA");
            Files.write(file(disk), sectors("BBBBBB"));
            SimulatedDisk found = disk.crash(random);
            String letters = letters(file(found));
            assertThat(letters(file(found.crash(random)))).isEqualTo(letters);
            return letters;
        });
    }

    @Test
    void one_seed_gives_one_outcome() throws Exception {
        SimulatedDisk disk = diskWithFile("AAAA");
        Files.write(file(disk), sectors("BBBBBBBB"));
        Files.createDirectories(disk.getPath("/more/of/it"));
        for (int seed = 0; seed < 50; seed++) {
            SimulatedDisk one = disk.crash(new Random(seed));
            SimulatedDisk other = disk.crash(new Random(seed));
            assertThat(letters(file(one))).isEqualTo(letters(file(other)));
            assertThat(one.fileSizes().toString()).isEqualTo(other.fileSizes().toString());
        }
    }

    @Test
    void a_killed_process_leaves_all_that_it_wrote_but_no_more_durable_than_before() throws Exception {
        Set<String> outcomes = outcomes(TRIALS, random -> {
            SimulatedDisk disk = diskWithFile("A");
            Files.write(file(disk), sectors("B"));
            SimulatedDisk next = disk.kill();
            assertThat(letters(file(next))).isEqualTo("B");
            return letters(file(next.crash(random)));
        });
        assertThat(outcomes).contains("", "A", "B");
    }

    @Test
    void a_copy_goes_its_own_way() throws Exception {
        SimulatedDisk disk = diskWithFile("A");
        SimulatedDisk copy = disk.copy();
        Files.write(file(disk), sectors("BB"));
        Files.write(copy.getPath("/data/other"), sectors("C"));
        Files.write(file(copy), sectors("D"));
        assertThat(letters(file(disk))).isEqualTo("BB");
        assertThat(letters(file(copy))).isEqualTo("D");
        assertThat(disk.getPath("/data/other")).doesNotExist();
    }

    @Test
    void a_copy_may_lose_what_its_original_may_lose() throws Exception {
        SimulatedDisk disk = diskWithFile("A");
        try (FileChannel channel = open(disk)) {
            write(channel, sectors("B"), 0);
            Set<String> before = outcomes(50, random -> letters(file(disk.copy().crash(random))));
            channel.force(true);
            assertThat(before).containsExactly("A", "B");
            assertThat(outcomes(50, random -> letters(file(disk.copy().crash(random)))))
                    .containsExactly("B");
        }
    }

    @Test
    void a_killed_process_gives_back_the_space_of_files_that_it_had_removed_but_not_closed() throws Exception {
        SimulatedDisk disk = diskWithFile("A");
        long free = Files.getFileStore(file(disk)).getUsableSpace();
        try (FileChannel channel = open(disk)) {
            write(channel, new byte[100_000], 0);
            Files.delete(file(disk));
        }
        FileChannel open = FileChannel.open(disk.getPath("/data/other"), WRITE, CREATE);
        write(open, new byte[100_000], 0);
        Files.delete(disk.getPath("/data/other"));
        assertThat(open.isOpen()).isTrue();
        SimulatedDisk next = disk.kill();
        assertThat(Files.getFileStore(next.getPath("/")).getUsableSpace()).isEqualTo(free + 4_096);
    }

    @Test
    void a_copy_gives_new_files_the_numbers_that_its_original_would_give() throws Exception {
        SimulatedDisk disk = diskWithFile("A");
        Object number = Files.getAttribute(file(disk), "fileKey");
        Files.delete(file(disk));
        SimulatedDisk copy = disk.copy();
        for (SimulatedDisk either : List.of(disk, copy)) {
            assertThat(Files.getAttribute(Files.createFile(either.getPath("/new")), "fileKey"))
                    .isEqualTo(number);
        }
    }

    private static SimulatedDisk diskWithRemovedFile() throws IOException {
        SimulatedDisk disk = diskWithFile("A");
        Files.write(disk.getPath("/data/old"), sectors("YZ"));
        Files.delete(disk.getPath("/data/old"));
        return disk;
    }

    private static String lettersAfterGrowth(SimulatedDisk disk, String growth, RandomGenerator random)
            throws IOException {
        try (FileChannel channel = open(disk)) {
            write(channel, sectors(growth), SECTOR);
        }
        return letters(file(disk.crash(random)));
    }

    private static SimulatedDisk diskWithGap(boolean forced) throws IOException {
        SimulatedDisk disk = diskWithFile("A");
        try (FileChannel channel = open(disk)) {
            write(channel, sectors("B"), 3L * SECTOR);
            if (forced) {
                channel.force(true);
            }
        }
        return disk;
    }

    /// `/data/file` with this content, all of it durable.
    private static SimulatedDisk diskWithFile(String letters) throws IOException {
        SimulatedDisk disk = SimulatedDisk.empty();
        Files.createDirectory(disk.getPath("/data"));
        Files.write(file(disk), sectors(letters));
        disk.sync();
        return disk;
    }

    private static Path file(SimulatedDisk disk) {
        return disk.getPath("/data/file");
    }

    private static FileChannel open(SimulatedDisk disk) throws IOException {
        return FileChannel.open(file(disk), READ, WRITE, CREATE);
    }
}
