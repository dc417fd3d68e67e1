package dev.onefold.fakes.disk;

import static dev.onefold.fakes.disk.Seeded.outcomes;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PowerCutOnNamesTest {
    private static final int TRIALS = 300;

    private final SimulatedDisk disk = SimulatedDisk.empty();

    @Test
    void a_forced_file_keeps_its_name_only_if_its_directory_was_forced() throws Exception {
        create("/a");
        assertThat(afterPowerCut()).containsExactly("", "a=a");
        force("/");
        assertThat(afterPowerCut()).containsExactly("a=a");
    }

    @Test
    void of_several_new_names_any_survive() throws Exception {
        create("/a");
        create("/b");
        create("/c");
        assertThat(afterPowerCut()).hasSize(8);
    }

    @Test
    void a_removed_file_may_come_back_with_its_content_until_its_directory_is_forced() throws Exception {
        create("/a");
        force("/");
        Files.delete(disk.getPath("/a"));
        assertThat(afterPowerCut()).containsExactly("", "a=a");
        force("/");
        assertThat(afterPowerCut()).containsExactly("");
    }

    @Test
    void an_atomic_move_over_a_file_leaves_the_old_or_the_new_and_the_directory_force_decides() throws Exception {
        create("/a");
        create("/b");
        force("/");
        Files.move(disk.getPath("/a"), disk.getPath("/b"), ATOMIC_MOVE, REPLACE_EXISTING);
        assertThat(afterPowerCut()).containsExactly("a=a b=b", "b=a");
        force("/");
        assertThat(afterPowerCut()).containsExactly("b=a");
    }

    @Test
    void a_move_that_replaces_but_is_not_atomic_may_leave_no_target() throws Exception {
        create("/a");
        create("/b");
        force("/");
        Files.move(disk.getPath("/a"), disk.getPath("/b"), REPLACE_EXISTING);
        assertThat(afterPowerCut()).contains("a=a", "a=a b=b", "b=a");
    }

    @Test
    void a_renamed_file_whose_content_was_not_forced_may_be_empty() throws Exception {
        create("/b");
        force("/");
        Files.writeString(disk.getPath("/a"), "a");
        Files.move(disk.getPath("/a"), disk.getPath("/b"), ATOMIC_MOVE);
        force("/");
        assertThat(afterPowerCut()).contains("b=", "b=a").allMatch(found -> found.startsWith("b="));
    }

    @Test
    void a_directory_is_found_only_if_its_own_name_was_forced() throws Exception {
        Files.createDirectory(disk.getPath("/d"));
        create("/d/a");
        force("/d");
        assertThat(afterPowerCut()).containsExactly("", "d/a=d");
        force("/");
        assertThat(afterPowerCut()).containsExactly("d/a=d");
    }

    @Test
    void a_rename_across_directories_is_whole_when_either_is_forced() throws Exception {
        for (String forced : List.of("/d", "/e")) {
            SimulatedDisk fresh = SimulatedDisk.empty();
            Files.createDirectory(fresh.getPath("/d"));
            Files.createDirectory(fresh.getPath("/e"));
            fresh.sync();
            create(fresh, "/d/a");
            Files.move(fresh.getPath("/d/a"), fresh.getPath("/e/a"), ATOMIC_MOVE);
            assertThat(afterPowerCut(fresh)).containsExactly("", "d/a=d", "e/a=d");
            force(fresh, forced);
            assertThat(afterPowerCut(fresh)).containsExactly("e/a=d");
        }
    }

    @Test
    void a_file_renamed_twice_has_one_name() throws Exception {
        create("/a");
        force("/");
        Files.move(disk.getPath("/a"), disk.getPath("/b"), ATOMIC_MOVE);
        Files.move(disk.getPath("/b"), disk.getPath("/c"), ATOMIC_MOVE);
        assertThat(afterPowerCut()).containsExactly("a=a", "b=a", "c=a");
    }

    @Test
    void a_file_renamed_twice_removes_no_other_without_taking_its_place() throws Exception {
        create("/a");
        create("/c");
        force("/");
        Files.move(disk.getPath("/a"), disk.getPath("/b"), ATOMIC_MOVE);
        Files.move(disk.getPath("/b"), disk.getPath("/c"), ATOMIC_MOVE);
        assertThat(afterPowerCut()).containsExactly("a=a c=c", "b=a c=c", "c=a");
    }

    @Test
    void a_removed_directory_takes_nothing_with_it_that_was_moved_out_before() throws Exception {
        Files.createDirectory(disk.getPath("/d"));
        create("/d/a");
        disk.sync();
        Files.move(disk.getPath("/d/a"), disk.getPath("/a"), ATOMIC_MOVE);
        Files.delete(disk.getPath("/d"));
        assertThat(afterPowerCut()).containsExactly("a=d", "d/a=d");
    }

    @Test
    void whatever_is_done_to_names_no_file_gets_two_and_forced_directories_stay() throws Exception {
        outcomes(TRIALS, random -> {
            SimulatedDisk fresh = diskWithDirectories();
            doAnythingToNames(fresh, random);
            String found = names(fresh.copy().crash(random));
            assertThat(contents(found)).doesNotHaveDuplicates();
            for (String directory : List.of("/", "/d", "/e")) {
                force(fresh, directory);
            }
            assertThat(names(fresh.copy().crash(random))).isEqualTo(names(fresh));
            return found;
        });
    }

    @Test
    void whatever_is_done_to_names_and_whichever_force_fails_no_file_gets_two() throws Exception {
        outcomes(TRIALS, random -> {
            SimulatedDisk fresh = diskWithDirectories();
            fresh.inject(Faults.none().withHook((operation, path) -> {
                if (operation == Operation.FORCE && Files.isDirectory(path) && random.nextInt(3) == 0) {
                    throw new IOException(Faults.INPUT_OUTPUT_ERROR);
                }
            }));
            doAnythingToNames(fresh, random);
            String found = names(fresh.crash(random));
            assertThat(contents(found)).doesNotHaveDuplicates();
            return found;
        });
    }

    @Test
    void a_failed_force_of_a_directory_leaves_its_names_in_doubt_and_the_next_one_does_not_help() throws Exception {
        create("/a");
        disk.inject(Faults.none().failingOnce(Operation.FORCE, 1, Faults.INPUT_OUTPUT_ERROR));
        assertThatThrownBy(() -> force("/")).hasMessage(Faults.INPUT_OUTPUT_ERROR);
        force("/");
        assertThat(afterPowerCut()).containsExactly("", "a=a");
        create("/b");
        force("/");
        assertThat(afterPowerCut()).containsExactly("a=a b=b", "b=b");
    }

    @Test
    void a_file_that_comes_back_has_a_number_of_its_own() throws Exception {
        create("/a");
        force("/");
        Files.delete(disk.getPath("/a"));
        create("/b");
        assertThat(key(disk, "/b")).as("Linux gives numbers again").isEqualTo(1L + 1);
        assertThat(outcomes(TRIALS, random -> {
                    SimulatedDisk found = disk.copy().crash(random);
                    if (names(found).equals("a=a b=b")) {
                        assertThat(key(found, "/a")).isNotEqualTo(key(found, "/b"));
                        return "both";
                    }
                    return "one";
                }))
                .contains("both");
    }

    @Test
    void what_was_done_before_a_failed_force_does_not_come_over_what_was_forced_after_it() throws Exception {
        disk.inject(Faults.none().failingEvery(Operation.FORCE, 2, Faults.INPUT_OUTPUT_ERROR));
        create("/a");
        assertThatThrownBy(() -> force("/")).hasMessage(Faults.INPUT_OUTPUT_ERROR);
        disk.inject(Faults.none());
        Files.delete(disk.getPath("/a"));
        force("/");
        assertThat(afterPowerCut()).containsExactly("");
    }

    private static SimulatedDisk diskWithDirectories() throws IOException {
        SimulatedDisk disk = SimulatedDisk.empty();
        Files.createDirectory(disk.getPath("/d"));
        Files.createDirectory(disk.getPath("/e"));
        disk.sync();
        return disk;
    }

    private static List<String> contents(String names) {
        return Stream.of(names.split(" "))
                .map(entry -> entry.substring(entry.indexOf('=') + 1))
                .toList();
    }

    private static long key(SimulatedDisk disk, String path) throws IOException {
        return ((SimulatedAttributes.Key) Files.getAttribute(disk.getPath(path), "fileKey")).number();
    }

    private static void doAnythingToNames(SimulatedDisk disk, RandomGenerator random) throws IOException {
        for (int step = 0; step < 12; step++) {
            try {
                doAnythingToNames(disk, "#" + step, random);
            } catch (IOException failure) {
                assertThat(failure).hasMessage(Faults.INPUT_OUTPUT_ERROR);
            }
        }
    }

    private static void doAnythingToNames(SimulatedDisk disk, String content, RandomGenerator random)
            throws IOException {
        List<String> places = List.of("/a", "/b", "/d/a", "/d/b", "/e/a");
        Path path = disk.getPath(places.get(random.nextInt(places.size())));
        Path target = disk.getPath(places.get(random.nextInt(places.size())));
        switch (random.nextInt(4)) {
            case 0 -> Files.deleteIfExists(path);
            case 1 -> force(disk, random.nextBoolean() ? "/" : "/d");
            default -> {
                if (Files.exists(path)) {
                    Files.move(path, target, ATOMIC_MOVE);
                } else {
                    create(disk, path.toString(), content);
                }
            }
        }
    }

    private Set<String> afterPowerCut() throws Exception {
        return afterPowerCut(disk);
    }

    private static Set<String> afterPowerCut(SimulatedDisk disk) throws Exception {
        return outcomes(TRIALS, random -> names(disk.copy().crash(random)));
    }

    /// Every file with its content.
    private static String names(SimulatedDisk disk) throws IOException {
        List<String> names = new ArrayList<>();
        for (Map.Entry<Path, Long> file : disk.fileSizes().entrySet()) {
            names.add(file.getKey().toString().substring(1) + "=" + Files.readString(file.getKey(), ISO_8859_1));
        }
        return names.stream().collect(Collectors.joining(" "));
    }

    private void create(String path) throws IOException {
        create(disk, path);
    }

    private static void create(SimulatedDisk disk, String path) throws IOException {
        create(disk, path, path.substring(1, 2));
    }

    private static void create(SimulatedDisk disk, String path, String content) throws IOException {
        Files.writeString(disk.getPath(path), content);
        try (FileChannel channel = FileChannel.open(disk.getPath(path), WRITE)) {
            channel.force(true);
        }
    }

    private void force(String directory) throws IOException {
        force(disk, directory);
    }

    private static void force(SimulatedDisk disk, String directory) throws IOException {
        try (FileChannel channel = FileChannel.open(disk.getPath(directory), READ)) {
            channel.force(true);
        }
    }
}
