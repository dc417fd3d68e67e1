package dev.onefold.simulator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    void a_hundred_thousand_letters_are_kept_in_a_heap_of_128_megabytes_and_healthy_records_go_on()
            throws IOException, InterruptedException {
        flood(100_000, "128m");
    }

    @Test
    @Tag("campaign")
    void two_million_letters_behind_healthy_records_are_kept_in_a_heap_of_128_megabytes()
            throws IOException, InterruptedException {
        flood(2_000_000, "128m");
    }
}
