package dev.onefold.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.nio.file.Path;
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
                .containsPattern("accepted +1\n")
                .containsPattern("beyond keep +2\n")
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
        assertThat(done("status", "p.yaml", "--data", "d").out()).containsPattern("beyond keep +3\n");
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
