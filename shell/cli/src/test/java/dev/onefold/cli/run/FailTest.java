package dev.onefold.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.OnefoldProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Failures on purpose of `run`, `serve` and `demo`.
class FailTest {
    private static final String PIPELINE = """
            pipeline: p
            input: {key: id, version: v}
            rollup: {levels: [desk], measures: {value: "sum(value) decimal(12,2)"}}
            """;

    @TempDir
    private Path folder;

    private String refusal(String... arguments) throws Exception {
        Files.writeString(folder.resolve("p.yaml"), PIPELINE);
        Files.writeString(folder.resolve("in.ndjson"), "");
        Cli.Result result = Cli.in(folder).run(arguments);
        assertThat(result.exitCode()).isEqualTo(2);
        return result.err();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0%", "51%", "-1%", "1e1%", "x", "1%:", "", "1%:Journal", "0.00001%", "1%%"})
    void a_percentage_that_is_none_or_too_high_is_refused(String text) throws Exception {
        assertThat(refusal("run", "p.yaml", "--input", "in.ndjson", "--fail", text))
                .contains("--fail is a percentage above 0 and up to 50");
        assertThat(folder.resolve("p.onefold")).doesNotExist();
    }

    @Test
    void what_cannot_fail_on_purpose_says_why() throws Exception {
        assertThat(refusal("run", "p.yaml", "--input", "in.ndjson", "--fail", "1%:map"))
                .contains("Stages are read, journal, fold, write, checkpoint, begin, delivery");
        assertThat(refusal("run", "p.yaml", "--input", "in.ndjson", "--fail", "50%", "--fail", "0.5%:read"))
                .contains("adds up to 50.5% behind read");
        assertThat(refusal("run", "p.yaml", "--input", "-", "--fail", "1%")).contains("'onefold serve --fail …'");
        assertThat(refusal("serve", "p.yaml", "--port", "0", "--fail", "1%")).contains("--port N");
        assertThat(refusal("demo", "--fail", "1%:delivery")).contains("makes no batches");
        assertThat(refusal("demo", "--fail", "1%", "--page")).contains("without --page");
        assertThat(refusal("verify", "p.yaml", "--fail", "1%")).contains("--fail");
    }

    /// Each of the files is folded in one round, until a process outlives it: about six die, and one run in 64
    /// has none.
    @Test
    @Tag("campaign")
    void a_run_that_dies_between_its_stages_counts_each_record_once_and_says_how_often_it_died() throws Exception {
        Files.writeString(folder.resolve("p.yaml"), PIPELINE);
        List<String> words = new ArrayList<>(
                List.of("run", "p.yaml", "--data", "d", "--fail", "50%:fold", "--fail", "1%:write", "--input"));
        for (int file = 0; file < 6; file++) {
            int first = file * 100;
            Files.writeString(
                    folder.resolve("f" + file),
                    IntStream.range(first, first + 100)
                            .mapToObj(id -> "{\"id\":%d,\"v\":1,\"desk\":\"d\",\"value\":1}\n".formatted(id))
                            .collect(Collectors.joining()));
            words.add("f" + file);
        }
        try (OnefoldProcess run = OnefoldProcess.start(folder, words.toArray(String[]::new))) {
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.err())
                    .containsPattern("Failed on purpose [0-9]+ times?: [0-9]+ behind fold|No failure was injected");
            assertThat(run.out()).contains("600 rows of 600 records in all");
        }
        assertThat(Cli.in(folder).run("query", "p.yaml", "--data", "d").out()).containsPattern("total +600\\.00");
        assertThat(Cli.in(folder).run("verify", "p.yaml", "--data", "d").exitCode())
                .isZero();
    }

    @Test
    @Tag("campaign")
    void the_table_of_the_demo_has_a_row_without_and_a_row_with_failures_and_both_are_equal() {
        Cli.Result demo = Cli.in(folder).run("demo", "--events", "6000", "--fail", "25%:journal");
        assertThat(demo.exitCode()).as(demo.out() + demo.err()).isZero();
        assertThat(demo.out())
                .containsPattern("none +0 .* equal")
                .containsPattern("25%:journal +[1-9][0-9]* .* equal")
                .doesNotContain("DIFFERENT");
    }
}
