package dev.onefold.simulator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.generate.TradeRiskLoad;
import dev.onefold.cli.generate.TradeRiskMix;
import dev.onefold.cli.generate.TradeRiskTotals;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Much input and little heap.
class SmallHeapTest {
    private static final String PIPELINE = """
            pipeline: trade-risk
            input: {key: TradeID, version: Version, delete: 'Operation = "delete"'}
            rollup:
              levels: [Hierarchy.RiskType, Hierarchy.TradeDesk, Hierarchy.Region]
              measures:
                value: sum(Value) decimal(18,2)
                trades: count()
            """;

    @TempDir
    private Path folder;

    private void fold(long messages) throws IOException, InterruptedException {
        TradeRiskLoad load = new TradeRiskLoad(TradeRiskMix.BENCHMARK, messages, 7);
        Path input = folder.resolve("input.ndjson");
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(input), 1 << 20)) {
            while (load.write(out, 100_000) > 0) {
                out.flush();
            }
        }
        Path pipeline = Files.writeString(folder.resolve("pipeline.yaml"), PIPELINE);
        Path told = folder.resolve("told");
        Process child = KilledChild.start(
                told,
                "128m",
                SmallHeapChild.class,
                pipeline.toString(),
                folder.resolve("data").toString(),
                input.toString());
        assertThat(child.waitFor(5, TimeUnit.MINUTES)).isTrue();
        List<String> lines = Files.readAllLines(told);
        for (TradeRiskTotals.Group group : load.totals().groups()) {
            assertThat(lines)
                    .contains("%s = %s %d".formatted(String.join("/", group.path()), group.value(), group.trades()));
        }
        assertThat(lines).hasSize(load.totals().groups().size() + 1);
    }

    @Test
    @Tag("campaign")
    void five_million_messages_are_folded_in_a_heap_of_128_megabytes() throws IOException, InterruptedException {
        fold(5_000_000);
    }

    @Test
    void a_hundred_thousand_messages_are_folded_in_a_heap_of_128_megabytes() throws IOException, InterruptedException {
        fold(100_000);
    }

    private static final String VALUES = """
            pipeline: values
            input: {key: id, version: version, delete: 'op = "delete"'}
            rollup:
              levels: [g]
              measures:
                least: min(low) decimal(18,2)
                most: max(high) decimal(18,2)
                texts: distinct(text)
            """;

    /// Folds so many rows, each with three values of its own, and deletes those with the thousand least and greatest.
    private void foldValues(int count, String heap) throws IOException, InterruptedException {
        Path input = folder.resolve("input.ndjson");
        try (Writer out = Files.newBufferedWriter(input)) {
            for (int id = 0; id < count; id++) {
                long value = id * 7_919L % count;
                out.write("{\"id\":" + id + ",\"version\":1,\"g\":\"" + id % 2 + "\",\"low\":" + value + ".25,\"high\":"
                        + value + ",\"text\":\"text " + value + "\"}\n");
            }
            for (int id = 0; id < count; id++) {
                long value = id * 7_919L % count;
                if (value < 1_000 || value >= count - 1_000) {
                    out.write("{\"id\":" + id + ",\"version\":2,\"op\":\"delete\"}\n");
                }
            }
        }
        Path pipeline = Files.writeString(folder.resolve("pipeline.yaml"), VALUES);
        for (int run = 0; run < 2; run++) { // The second time it is read from the disk.
            Path told = folder.resolve("told" + run);
            Process child = KilledChild.start(
                    told,
                    heap,
                    SmallHeapChild.class,
                    pipeline.toString(),
                    folder.resolve("data").toString(),
                    input.toString());
            assertThat(child.waitFor(5, TimeUnit.MINUTES)).isTrue();
            assertThat(Files.readAllLines(told)).contains(" = 1000.25 " + (count - 1_001) + ".00 " + (count - 2_000));
        }
    }

    @Test
    @Tag("campaign")
    void a_million_values_of_each_of_three_measures_fit_a_heap_of_128_megabytes()
            throws IOException, InterruptedException {
        foldValues(1_000_000, "128m");
    }

    @Test
    void a_hundred_thousand_values_of_each_of_three_measures_fit_a_heap_of_64_megabytes()
            throws IOException, InterruptedException {
        foldValues(100_000, "64m");
    }
}
