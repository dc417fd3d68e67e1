package dev.onefold.oracle.generate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.load.TradeRiskLoad;
import dev.onefold.load.TradeRiskMix;
import dev.onefold.load.TradeRiskTotals;
import dev.onefold.oracle.Oracle;
import dev.onefold.oracle.Oracle.Outcome;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The producer's own totals against the oracle's, over the pipeline file that users get.
class TradeRiskLoadAgainstOracleTest {
    private static final TradeRiskMix ROUGH = new TradeRiskMix(250_000, 100_000, 150_000, 100_000, 50_000);

    @Test
    void the_totals_and_counts_of_the_benchmark_are_right() throws IOException {
        verify(new TradeRiskLoad(TradeRiskMix.BENCHMARK, 50_000, 42));
    }

    @Test
    void the_totals_and_counts_of_the_demo_are_right() throws IOException {
        verify(new TradeRiskLoad(TradeRiskMix.DEMO, 50_000, 43));
    }

    @Test
    void the_totals_and_counts_with_many_deletes_and_much_garbage_are_right() throws IOException {
        for (long seed = 1; seed <= 10; seed++) {
            verify(new TradeRiskLoad(ROUGH, 3_000, seed));
        }
    }

    private static void verify(TradeRiskLoad load) throws IOException {
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        load.write(lines, Long.MAX_VALUE);
        Oracle oracle = Oracle.of(pipelineFile());
        oracle.accept("trades", new ByteArrayInputStream(lines.toByteArray()));
        TradeRiskTotals own = load.totals();

        Map<List<String>, Map<String, String>> groups = new LinkedHashMap<>();
        for (TradeRiskTotals.Group group : own.groups()) {
            groups.put(group.path(), Map.of("value", group.value(), "trades", String.valueOf(group.trades())));
        }
        assertThat(List.copyOf(oracle.totals("main").entrySet())).isEqualTo(List.copyOf(groups.entrySet()));
        assertThat(own.inOrder())
                .isEqualTo(new TradeRiskTotals.InOrder(
                        oracle.accepted(),
                        oracle.count(Outcome.DUPLICATE),
                        oracle.count(Outcome.STALE),
                        oracle.malformed().size()));
        assertThat(oracle.conflicts()).isZero();
    }

    private static Path pipelineFile() {
        Path file = Path.of("examples", "trade-risk", "pipeline.yaml");
        Path folder = Path.of("").toAbsolutePath();
        while (folder != null && !Files.exists(folder.resolve(file))) {
            folder = folder.getParent();
        }
        assertThat(folder).describedAs("the folder that has " + file).isNotNull();
        return folder.resolve(file);
    }
}
