package dev.onefold.cli.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EqualsTest {
    private static final String PIPELINE = """
            pipeline: trade-risk
            input: {format: json, key: TradeID, version: Version}
            rollup:
              levels: [Hierarchy.RiskType, Hierarchy.TradeDesk, Hierarchy.Region]
              measures: {value: 'sum(Value) decimal(18,2)', trades: count(), most: 'max(Value) decimal(18,2)'}
            """;

    @TempDir
    private Path folder;

    private Cli cli;

    @BeforeEach
    void fold() {
        cli = Cli.in(folder);
        cli.write("risk.yaml", PIPELINE);
        Result made = cli.run(
                "generate",
                "trade-risk",
                "--events",
                "1000",
                "--output",
                folder.resolve("in.ndjson").toString(),
                "--totals",
                folder.resolve("right.json").toString());
        assertThat(made.exitCode()).as(made.err()).isZero();
        assertThat(cli.run("run", "risk.yaml", "--input", "in.ndjson").exitCode())
                .isZero();
    }

    @Test
    void totals_are_equal_to_those_that_their_producer_has_written_down() {
        Result result = cli.run("query", "risk.yaml", "--equals", "right.json");
        assertThat(result.out()).isEqualTo("equal: 19 groups.\n");
        assertThat(result.err()).isEqualTo("Compared are only the measures that the file has: value, trades.\n");
        assertThat(result.exitCode()).isZero();
    }

    @Test
    void totals_are_equal_to_an_answer_of_the_query_itself_and_a_part_to_its_part() throws IOException {
        Files.writeString(
                folder.resolve("own.json"),
                cli.run("query", "risk.yaml", "--format", "json").out());
        assertThat(cli.run("query", "risk.yaml", "--equals", "own.json").out()).isEqualTo("equal: 19 groups.\n");
        assertThat(cli.run("query", "risk.yaml", "--group", "Delta", "--depth", "1", "--equals", "own.json")
                        .out())
                .isEqualTo("equal: 3 groups.\n");
    }

    @Test
    void a_group_that_neither_side_has_is_no_equality() {
        Result result = cli.run("query", "risk.yaml", "--group", "Dleta", "--equals", "right.json");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).isEqualTo("There is no group Dleta.\n");
    }

    @Test
    void each_group_that_differs_is_named_with_what_differs_in_it() throws IOException {
        String right = Files.readString(folder.resolve("right.json"));
        String changed = right.replaceFirst("(\"Delta\"], \"value\": \")[0-9.]+", "$17.00")
                .replaceFirst("\\[\"PV\"]", "[\"XX\"]");
        cli.write("wrong.json", changed);
        Result result = cli.run("query", "risk.yaml", "--equals", "wrong.json");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.lines()).hasSize(3);
        assertThat(result.lines().get(0))
                .startsWith("Group Delta: value is ")
                .endsWith(", and the producer's 7.00.")
                .doesNotContain("trades");
        assertThat(result.lines().get(1)).startsWith("Group PV: the producer has no such group; here it has value ");
        assertThat(result.lines().get(2)).startsWith("Group XX: it is not here; the producer has value ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{\"groups\": 3}",
                "{\"groups\": [{\"value\": 1}]}",
                "{\"groups\": [{\"group\": [], \"value\": \"x\"}]}",
                "{\"groups\": [{\"group\": [], \"value\": 1}, {\"group\": [], \"value\": 1}]}",
                "{\"groups\": [{\"group\": [], \"other\": 1}]}"
            })
    void a_file_that_holds_no_totals_is_refused(String text) {
        cli.write("bad.json", text);
        Result result = cli.run("query", "risk.yaml", "--equals", "bad.json");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).containsAnyOf("bad.json holds no totals", "The file of --equals has the measures");
        assertThat(cli.run("query", "risk.yaml", "--equals", "nowhere.json").err())
                .contains("There is no file nowhere.json.");
    }

    @Test
    void a_comparison_is_not_a_watch_nor_a_top_list() {
        assertThat(cli.run("query", "risk.yaml", "--equals", "right.json", "--watch")
                        .err())
                .contains("--equals goes without");
    }

    @Test
    void a_producer_shows_its_totals_while_it_runs() {
        Result result = cli.run(
                "generate",
                "trade-risk",
                "--events",
                "20000",
                "--output",
                folder.resolve("more.ndjson").toString(),
                "--totals-every",
                "1ms");
        assertThat(result.err()).contains("10,000 messages: value ", "20,000 messages: value ");
    }
}
