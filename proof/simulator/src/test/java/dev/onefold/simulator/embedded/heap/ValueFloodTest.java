package dev.onefold.simulator.embedded.heap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.simulator.embedded.KilledChild;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Each row has values of `min`, `max` and `distinct` of its own; they do not fit the heap, and need not.
class ValueFloodTest {
    @TempDir
    private Path folder;

    /// @param rows a multiple of 40,000
    private void fold(int rows, String heap) throws IOException, InterruptedException {
        Map<String, String> right = right(0, rows);
        run("rows", rows, heap, "folded", right);
        run("verify", rows, heap, "verified", right);
    }

    private void deleteHalf(int rows, String heap) throws IOException, InterruptedException {
        Map<String, String> right = right(rows / 4, rows - rows / 4);
        run("deletes", rows, heap, "folded", right);
        run("verify", rows, heap, "verified", right);
    }

    private void run(String what, int rows, String heap, String told, Map<String, String> right)
            throws IOException, InterruptedException {
        Path log = folder.resolve("told");
        String data = folder.resolve("data").toString();
        Process child = KilledChild.start(log, heap, ValueFloodChild.class, data, what, Integer.toString(rows));
        assertThat(child.waitFor(10, TimeUnit.MINUTES)).isTrue();
        assertThat(Files.readAllLines(log)).containsExactly(told, right.toString());
    }

    /// The totals of the values in `[from, to)`, both even: even values are in group 0, odd ones in group 1.
    private static Map<String, String> right(int from, int to) {
        Map<String, String> right = new TreeMap<>();
        right.put("", from + ".25 " + (to - 1) + ".00 " + (to - from));
        right.put("0", from + ".25 " + (to - 2) + ".00 " + (to - from) / 2);
        right.put("1", (from + 1) + ".25 " + (to - 1) + ".00 " + (to - from) / 2);
        return right;
    }

    @Test
    @Tag("campaign")
    void a_hundred_thousand_values_fit_a_heap_of_64_megabytes_also_when_half_of_them_go()
            throws IOException, InterruptedException {
        fold(40_000, "64m");
        deleteHalf(40_000, "64m");
    }

    @Test
    @Tag("campaign")
    void a_million_values_fit_a_heap_of_128_megabytes_also_when_half_of_them_go()
            throws IOException, InterruptedException {
        fold(360_000, "128m");
        deleteHalf(360_000, "128m");
    }

    @Test
    @Tag("campaign")
    void three_million_values_fit_a_heap_of_128_megabytes() throws IOException, InterruptedException {
        fold(1_000_000, "128m"); // Three values a row.
    }
}
