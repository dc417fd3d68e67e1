package dev.onefold.embedded.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The bytes that a segment may hold behind its last entry, and their treatment at the next start.
class JournalTest {
    private static final int ENTRY_HEADER_BYTES = 24;

    @TempDir
    private Path directory;

    private final List<String> replayed = new ArrayList<>();

    private Journal open() throws OutOfSpaceException {
        replayed.clear();
        return Journal.open(
                directory,
                18,
                Journal.Position.START,
                payload -> replayed.add(new String(payload, StandardCharsets.UTF_8)));
    }

    private static void append(Journal journal, String... entries) throws OutOfSpaceException {
        for (String entry : entries) {
            journal.append(ByteBuffer.wrap(entry.getBytes(StandardCharsets.UTF_8)));
        }
    }

    /// Simulates a power cut: sectors that were written and not forced are lost.
    private void lose(long at, int bytes) throws IOException {
        try (FileChannel segment = FileChannel.open(directory.resolve("journal-1"), StandardOpenOption.WRITE)) {
            segment.write(ByteBuffer.allocate(bytes), at);
        }
    }

    @Test
    void entries_are_replayed_in_order() throws OutOfSpaceException {
        try (Journal journal = open()) {
            append(journal, "one", "", "three");
            journal.force();
        }
        try (Journal _ = open()) {
            assertThat(replayed).containsExactly("one", "", "three");
        }
    }

    @Test
    void an_entry_of_an_older_life_behind_the_last_one_is_not_replayed() throws IOException, OutOfSpaceException {
        try (Journal first = open()) {
            append(first, "one");
            first.force();
            long lost = first.position().at();
            append(first, "two", "old");
            lose(lost, ENTRY_HEADER_BYTES + "two".length());
        }
        try (Journal second = open()) {
            assertThat(replayed).containsExactly("one");
            append(second, "new");
            second.force();
        }
        try (Journal third = open()) { // Number, length and place of "old" are right, and it is whole.
            assertThat(replayed).containsExactly("one", "new");
            append(third, "four");
            third.force();
        }
        try (Journal _ = open()) {
            assertThat(replayed).containsExactly("one", "new", "four");
        }
    }

    @Test
    void the_next_segment_is_there_before_this_one_is_full_and_a_start_goes_on_in_this_one()
            throws OutOfSpaceException {
        String large = "x".repeat(Journal.SEGMENT_BYTES / 16);
        try (Journal journal = open()) {
            for (int i = 0; i < 4; i++) {
                append(journal, large);
                journal.force();
            }
            assertThat(directory.resolve("journal-2")).doesNotExist(); // A small directory has one.
            for (int i = 0; i < 9; i++) {
                append(journal, large);
                journal.force();
            }
            assertThat(directory.resolve("journal-2")).hasSize(Journal.SEGMENT_BYTES);
        }
        try (Journal journal = open()) {
            assertThat(replayed).hasSize(13);
            assertThat(journal.position().segment()).isEqualTo(1);
            for (int i = 0; i < 4; i++) {
                append(journal, large);
                journal.force();
            }
            assertThat(journal.position().segment()).isEqualTo(2);
        }
        try (Journal _ = open()) {
            assertThat(replayed).hasSize(17);
        }
    }

    @Test
    void a_start_deletes_what_a_killed_process_has_left_of_a_segment() throws IOException, OutOfSpaceException {
        open().close();
        Path left = Files.write(directory.resolve("journal-7.new"), new byte[100]);
        Path mine = Files.write(directory.resolve("journal-seven.new"), new byte[100]);
        open().close();
        assertThat(left).doesNotExist();
        assertThat(mine).exists();
    }
}
