package dev.onefold.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A pipeline file that is not the one that a data directory was folded with.
class ChangedPipelineTest {
    private static final String WIDE = """
            pipeline: p
            input: {key: id, version: v}
            rollup: {levels: [g], measures: {n: count(), x: "sum(x) decimal(9,2)"}}
            """;
    private static final String NARROW = WIDE.replace(", x: \"sum(x) decimal(9,2)\"", "");
    private static final String RECORD = "{\"id\":1,\"v\":1,\"g\":\"A\",\"x\":10}\n";

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void writePipelines() {
        cli = Cli.in(folder);
        cli.write("wide.yaml", WIDE);
        cli.write("narrow.yaml", NARROW);
        cli.write("typed.yaml", WIDE.replace("sum(x) decimal(9,2)", "distinct(x)"));
        cli.write("other.yaml", WIDE.replace("pipeline: p", "pipeline: q"));
        cli.write("in.ndjson", RECORD);
    }

    private Result send(String pipeline, String... options) {
        String[] command = {"run", pipeline, "--input", "-", "--data", "d"};
        String[] all = java.util.Arrays.copyOf(command, command.length + options.length);
        System.arraycopy(options, 0, all, command.length, options.length);
        return cli.runWithInput(RECORD, all);
    }

    @Test
    void what_cannot_be_had_back_goes_only_if_that_is_accepted() {
        assertThat(send("wide.yaml").exitCode()).isZero();
        assertThat(cli.run("check", "narrow.yaml", "--data", "d").out())
                .contains("from the rows, with a loss", "field x as decimal(9,2) is lost for ever");
        Result refused = send("narrow.yaml");
        assertThat(refused.exitCode()).isEqualTo(3);
        assertThat(refused.err())
                .contains("lost for ever: field x as decimal(9,2)")
                .doesNotContain("its new totals are made");
        assertThat(cli.run("query", "wide.yaml", "--data", "d").out()).contains("10.00");
        assertThat(send("narrow.yaml", "--accept-loss").exitCode()).isZero();
        assertThat(cli.run("check", "narrow.yaml", "--data", "d").out()).contains("was folded with this definition");
        Result impossible = cli.run("check", "wide.yaml", "--data", "d");
        assertThat(impossible.exitCode()).isEqualTo(1);
        assertThat(impossible.out()).contains("cannot follow it: the rows are not enough", "was not kept");
        assertThat(send("wide.yaml").err()).doesNotContain("its new totals are made");
    }

    @Test
    void what_a_fresh_fold_might_refuse_and_what_stays_counted_is_told_beforehand_and_when_it_is_done() {
        String told = "might come to something else: the time t was not read before";
        cli.write("timed.yaml", WIDE.replace("version: v}", "version: v, time: t}"));
        assertThat(send("wide.yaml").exitCode()).isZero();
        assertThat(cli.run("check", "timed.yaml", "--data", "d").out()).contains("can follow it from the rows.", told);
        Result followed = send("timed.yaml");
        assertThat(followed.exitCode()).as("the record has no time").isEqualTo(1);
        assertThat(followed.err()).contains("its new totals are made from the rows.", told);
        assertThat(cli.run("query", "timed.yaml", "--data", "d").out()).contains("10.00");
    }

    @Test
    void check_knows_without_being_told_that_the_directory_keeps_its_journal() {
        assertThat(send("wide.yaml", "--keep-journal").exitCode()).isZero();
        assertThat(cli.run("check", "narrow.yaml", "--data", "d").out()).contains("can follow it from the rows.");
        assertThat(cli.run("check", "typed.yaml", "--data", "d").out()).contains("by reading the journal again");
        assertThat(send("narrow.yaml").exitCode()).isZero();
        assertThat(cli.run("check", "wide.yaml", "--data", "d").out()).contains("by reading the journal again");
    }

    @Test
    void check_says_what_will_be_read_again_and_the_reason_is_true() {
        assertThat(cli.run("run", "wide.yaml", "--input", "in.ndjson", "--data", "d")
                        .exitCode())
                .isZero();
        assertThat(cli.run("check", "typed.yaml", "--data", "d").out())
                .contains("by reading 1 file again", "field x was read as decimal(9,2) before, not as a text");
        assertThat(cli.run("check", "narrow.yaml", "--data", "d").out()).contains("can follow it from the rows.");
        assertThat(cli.run("run", "narrow.yaml", "--input", "in.ndjson", "--data", "d")
                        .exitCode())
                .isZero();
    }

    @Test
    void another_pipeline_is_refused_by_each_verb() {
        send("wide.yaml");
        for (String verb : new String[] {"query", "verify", "rebuild", "check"}) {
            Result result = cli.run(verb, "other.yaml", "--data", "d");
            assertThat(result.exitCode()).as(verb).isEqualTo(3);
            assertThat(result.err()).as(verb).contains("is of pipeline p, not of pipeline q");
        }
        assertThat(send("other.yaml").err()).contains("is of pipeline p, not of pipeline q");
        assertThat(cli.run("query", "wide.yaml", "--data", "d").out()).contains("10.00");
    }
}
