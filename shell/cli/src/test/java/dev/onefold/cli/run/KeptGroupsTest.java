package dev.onefold.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The verbs of a pipeline whose time buckets end.
class KeptGroupsTest {
    private static final String PIPELINE = """
            pipeline: p
            input: {key: id, version: v, time: at}
            rollup: {levels: ["bucket(at, 1d)", g], keep: 2d, measures: {n: count()}}
            """;

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void fold() {
        cli = Cli.in(folder);
        cli.write("p.yaml", PIPELINE);
        cli.write("in.ndjson", record("a", 1, "01") + record("b", 1, "05") + record("late", 1, "02"));
        done("run", "p.yaml", "--input", "in.ndjson", "--data", "d");
    }

    private static String record(String id, int version, String day) {
        return "{\"id\":\"%s\",\"v\":%d,\"g\":\"x\",\"at\":\"2024-03-%sT12:00:00Z\"}\n".formatted(id, version, day);
    }

    private Result done(String... arguments) {
        Result result = cli.run(arguments);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result;
    }

    private String csv(String pipeline) {
        return done("query", pipeline, "--data", "d", "--format", "csv").out();
    }

    @Test
    void late_records_are_said_and_each_verb_sees_the_groups_that_are_kept() {
        assertThat(done("status", "p.yaml", "--data", "d").out())
                .containsPattern("accepted +2\n")
                .containsPattern("beyond keep +1\n")
                .contains("so no answer shows what it adds");
        assertThat(csv("p.yaml"))
                .contains(",,1\n", "2024-03-05T00:00:00Z,x,1\n")
                .doesNotContain("03-01", "03-02");
        assertThat(done("verify", "p.yaml", "--data", "d").out()).startsWith("Equal: ");
        assertThat(done("get", "p.yaml", "--data", "d", "late").out()).contains("2024-03-02T00:00:00Z");
        cli.write("rows.ndjson", record("seeded", 1, "04") + record("old", 1, "01") + record("b", 0, "05"));
        assertThat(done("seed", "p.yaml", "--data", "d", "--from", "rows.ndjson")
                        .out())
                .contains(
                        "  new                      1", "  newer live               1", "  silent                   1");
        assertThat(csv("p.yaml")).contains(",,2\n", "2024-03-04T00:00:00Z,x,1\n");
        assertThat(done("status", "p.yaml", "--data", "d").out()).containsPattern("beyond keep +2\n");
        assertThat(cli.runWithInput(
                                record("c", 1, "09"), "run", "p.yaml", "--input", "-", "--data", "d", "--shards", "3")
                        .exitCode())
                .isZero();
        assertThat(csv("p.yaml"))
                .contains(",,1\n", "2024-03-09T00:00:00Z,x,1\n")
                .doesNotContain("03-05");
        assertThat(done("rebuild", "p.yaml", "--data", "d").out()).contains("All were right before");
        cli.write("more.ndjson", record("later", 1, "02") + "{\n");
        Result late = cli.run("run", "p.yaml", "--input", "more.ndjson", "--data", "d");
        assertThat(late.err()).doesNotContain("Every record");
        assertThat(late.exitCode()).as("one was folded").isZero();
    }

    @Test
    void one_file_several_or_standard_input_come_to_the_same_and_a_wrong_clock_ends_nothing() {
        String[] lines = {
            record("k", 2, "01").replace("2024", "2020"),
            record("x", 1, "05"),
            record("k", 1, "05"),
            record("f", 1, "05").replace("2024", "2150")
        };
        String all = String.join("", lines);
        cli.write("all", all);
        for (int i = 0; i < lines.length; i++) {
            cli.write("part" + i, lines[i]);
        }
        cli.run("run", "p.yaml", "--data", "one", "--input", "all");
        cli.run("run", "p.yaml", "--data", "parts", "--input", "part0", "part1", "part2", "part3");
        cli.runWithInput(all, "run", "p.yaml", "--data", "stdin", "--input", "-");
        for (String data : List.of("one", "parts", "stdin")) {
            assertThat(done("query", "p.yaml", "--data", data, "--format", "csv")
                            .out())
                    .contains(",,2\n", "2024-03-05T00:00:00Z,x,2\n");
            assertThat(done("dead-letters", "p.yaml", "--data", data, "list").out())
                    .contains("too new");
            assertThat(done("verify", "p.yaml", "--data", data).out()).startsWith("Equal: 1 group ");
        }
        assertThat(done("verify", "p.yaml", "--data", "parts", "--from-sources").out())
                .startsWith("Equal: 1 group ");
    }

    @Test
    void a_longer_keep_reads_the_file_again_or_is_refused_and_a_shorter_one_takes_the_rows() {
        cli.write("longer.yaml", PIPELINE.replace("2d", "4d"));
        cli.write("gone.yaml", PIPELINE.replace("keep: 2d, ", ""));
        cli.write("shorter.yaml", PIPELINE.replace("2d", "1h"));
        assertThat(done("check", "shorter.yaml", "--data", "d").out())
                .contains("can follow it from the rows", "cannot be on AWS");
        assertThat(done("check", "longer.yaml", "--data", "d").out())
                .contains("by reading 1 file again", "'keep' has ended groups that would be kept now");
        done("run", "gone.yaml", "--input", "in.ndjson", "--data", "d");
        assertThat(csv("gone.yaml")).contains(",,3\n", "2024-03-01T00:00:00Z,x,1\n");
        done("run", "p.yaml", "--input", "in.ndjson", "--data", "d");
        assertThat(csv("p.yaml")).contains(",,1\n");
        assertThat(cli.runWithInput(record("c", 1, "05"), "run", "p.yaml", "--input", "-", "--data", "d")
                        .exitCode())
                .isZero(); // From now on not all can be read again.
        for (String wider : new String[] {"longer.yaml", "gone.yaml"}) {
            Result refused = cli.run("run", wider, "--input", "in.ndjson", "--data", "d");
            assertThat(refused.exitCode()).as(wider).isEqualTo(3);
            assertThat(refused.err()).as(wider).contains("'keep' has ended groups that would be kept now");
        }
        done("run", "shorter.yaml", "--input", "in.ndjson", "--data", "d");
        assertThat(csv("shorter.yaml")).contains(",,2\n");
    }
}
