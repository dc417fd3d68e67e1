package dev.onefold.simulator.embedded.heap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.load.TradeRiskLoad;
import dev.onefold.load.TradeRiskMix;
import dev.onefold.load.TradeRiskTotals;
import dev.onefold.simulator.embedded.KilledChild;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
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
}
