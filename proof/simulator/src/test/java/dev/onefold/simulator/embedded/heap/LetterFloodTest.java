package dev.onefold.simulator.embedded.heap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.simulator.embedded.KilledChild;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A source that sends nothing but poison fills the disk, not the memory, and stops nobody.
class LetterFloodTest {
    @TempDir
    private Path folder;

    private void flood(long letters, String heap) throws IOException, InterruptedException {
        Path told = folder.resolve("told");
        Process child = KilledChild.start(
                told, heap, LetterFloodChild.class, folder.resolve("data").toString(), Long.toString(letters));
        assertThat(child.waitFor(10, TimeUnit.MINUTES)).isTrue();
        assertThat(Files.readAllLines(told)).hasSize(3).satisfies(lines -> {
            assertThat(lines.get(0))
                    .startsWith("folded {")
                    .contains("FX=2.00 2 ")
                    .endsWith("}, " + letters);
            assertThat(lines.get(1)).isEqualTo("listed " + letters + ", true");
            assertThat(lines.get(2)).isEqualTo("left 0");
        });
        try (var files = Files.walk(folder)) {
            long bytes = files.filter(file -> file.getFileName().toString().startsWith("letters-"))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
            assertThat(bytes)
                    .as("the log of letters that are gone is rewritten")
                    .isLessThan(40 << 20);
        }
    }

    @Test
    @Tag("campaign")
    void a_million_letters_behind_healthy_records_are_kept_in_a_heap_of_256_megabytes()
            throws IOException, InterruptedException {
        flood(1_000_000, "256m");
    }

    /// What a process with a heap of 64 megabytes prints that appends 300,000 records at once: were all letters of
    /// them in memory at the same time, they would need 122.
    private List<String> appended(String how) throws IOException, InterruptedException {
        Path told = folder.resolve("told");
        String data = folder.resolve("data").toString();
        Process child = KilledChild.start(told, "64m", AppendFloodChild.class, data, how, "300000");
        assertThat(child.waitFor(2, TimeUnit.MINUTES)).isTrue();
        return Files.readAllLines(told);
    }

    @Test
    void a_list_that_the_heap_might_not_hold_is_refused_before_anything_is_done()
            throws IOException, InterruptedException {
        assertThat(appended("list")).hasSize(2).satisfies(lines -> {
            assertThat(lines.getFirst()).startsWith("The 300000 records").contains("Append them in several calls");
            assertThat(lines.getLast()).startsWith("0 {").contains("FX=1.00 1 1.00");
        });
    }

    @Test
    @Tag("campaign")
    void numbered_lines_that_the_heap_might_not_hold_are_committed_in_parts() throws IOException, InterruptedException {
        assertThat(appended("numbered")).hasSize(2).satisfies(lines -> {
            assertThat(lines.getFirst()).isEqualTo("300000");
            assertThat(lines.getLast()).startsWith("300000 {").contains("FX=1.00 1 1.00");
        });
    }

    @Test
    @Tag("campaign")
    void calls_at_the_same_time_share_a_commit_only_as_far_as_the_heap_allows()
            throws IOException, InterruptedException {
        assertThat(appended("together")).hasSize(2).satisfies(lines -> {
            assertThat(lines.getFirst()).isEqualTo("300000");
            assertThat(lines.getLast()).startsWith("300000 {").contains("FX=1.00 1 1.00");
        });
    }
}
