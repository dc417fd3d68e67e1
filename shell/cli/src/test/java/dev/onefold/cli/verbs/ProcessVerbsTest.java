package dev.onefold.cli.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The verbs on a pipeline with a function.
class ProcessVerbsTest {
    private static final String PIPELINE = """
            pipeline: sums
            input: {key: user, version: n}
            process:
              class: dev.onefold.cli.verbs.Adding
              order: in-order
              keep: 3
              tables: {totals: [user]}
            rollups:
              by-team: {of: totals, levels: [team], measures: {total: "sum(total) decimal(18,0)", users: count()}}
            """;

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void fold() {
        cli = Cli.in(folder);
        cli.write("sums.yaml", PIPELINE);
        StringBuilder events = new StringBuilder();
        for (int n : new int[] {10, 12, 14, 16, 12, 13, 3}) {
            events.append(event("u1", n, "FX", 1_000));
        }
        events.append(event("u2", 1, "=PV", 7)).append(event("u2", 2, "=PV", -1));
        cli.write("in.ndjson", events.toString());
        Result run = cli.run("run", "sums.yaml", "--input", "in.ndjson");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out())
                .containsPattern("accepted +6\n")
                .containsPattern("duplicate +1\n")
                .containsPattern("rejected +2\n")
                .contains("2 dead letters: see", "2 keys of 9 records in all.");
    }

    private static String event(String user, int n, String team, int amount) {
        return "{\"user\":\"%s\",\"n\":%d,\"team\":\"%s\",\"amount\":%d}\n".formatted(user, n, team, amount);
    }

    @Test
    void query_shows_the_rows_of_tables_and_of_one_key_in_each_format() {
        assertThat(cli.run("query", "sums.yaml", "--table", "totals").lines())
                .startsWith(
                        "sums, totals",
                        "",
                        "user  team  total  before  tags     at",
                        "u1    FX    5,000   1,000  [\"a,b\"]  1970-01-01T00:00:00Z",
                        "u2    =PV       7       -  [\"a,b\"]  1970-01-01T00:00:00Z",
                        "");
        Result narrow = cli.onTerminal(40).run("query", "sums.yaml", "--table", "totals", "--key", "u2");
        assertThat(narrow.lines()).startsWith("sums, totals", "", "u2", "  team    =PV", "  total   7");
        String[] json = {"query", "sums.yaml", "--table", "totals", "--key", "u1", "--format", "json"};
        assertThat(cli.run(json).out())
                .contains("{\"table\":\"totals\",\"columns\":[\"user\",\"team\",\"total\",\"before\",\"tags\",\"at\"]")
                .contains("\n{\"user\":\"u1\",\"team\":\"FX\",\"total\":5000,\"before\":1000,\"tags\":[\"a,b\"],\"at\":"
                        + "\"1970-01-01T00:00:00Z\"}\n");
        assertThat(cli.run(
                                "query",
                                "sums.yaml",
                                "--table",
                                "totals",
                                "--format",
                                "csv",
                                "--neutralise-formulas",
                                "--limit",
                                "2")
                        .lines())
                .containsExactly(
                        "user,team,total,before,tags,at",
                        "u1,FX,5000,1000,\"[\"\"a,b\"\"]\",1970-01-01T00:00:00Z",
                        "u2,'=PV,7,,\"[\"\"a,b\"\"]\",1970-01-01T00:00:00Z");
        assertThat(cli.run("query", "sums.yaml").out()).containsPattern("FX +5,000 +1\n");
    }

    @Test
    void query_says_what_is_not_there() {
        Result unknown = cli.run("query", "sums.yaml", "--table", "nothing");
        assertThat(unknown.exitCode()).isEqualTo(2);
        assertThat(unknown.err()).contains("There is no table nothing; there is totals.");
        Result key = cli.run("query", "sums.yaml", "--table", "totals", "--key", "u9");
        assertThat(key.exitCode()).isEqualTo(1);
        assertThat(key.err()).contains("The key u9 has no rows.");
        assertThat(cli.run("query", "sums.yaml", "--key", "u1").err()).contains("--key and --limit are for --table.");
    }

    @Test
    void get_shows_the_state_of_a_key_and_what_is_missing_or_failed() {
        boolean isFirst =
                cli.run("dead-letters", "sums.yaml", "show", "1").out().contains("too late");
        int ofUser1 = isFirst ? 1 : 2; // Which key comes first depends on the number of processors.
        assertThat(cli.run("get", "sums.yaml", "u1").lines())
                .containsExactly(
                        "key           u1",
                        "version       16",
                        "missing       versions between the lowest and this one have not come",
                        "folded by     version 1 of the function",
                        "kept          3 events that a late one can be folded before",
                        "waits         version 3: too late, dead letter " + ofUser1,
                        "context.sum   5,000",
                        "context.last  1,000");
        assertThat(cli.run("get", "sums.yaml", "u2").out())
                .containsPattern("failed +2: the function failed at it\nwaits +version 2: failed, dead letter [12]\n");
        assertThat(cli.run("get", "sums.yaml", "u1", "--format", "json").out())
                .contains(
                        "\"version\":\"16\",\"code\":1,\"context\":{\"sum\":5000,\"last\":1000},\"kept\":3,\"gaps\":true");
        assertThat(cli.run("get", "sums.yaml", "u9").err()).contains("The key u9 was never seen.");
    }

    @Test
    void a_table_is_exported_to_a_new_file() throws IOException {
        Result export = cli.run("export", "sums.yaml", "--table", "totals", "--output", "totals.csv");
        assertThat(export.out()).isEqualTo("Wrote 2 rows to totals.csv.\n");
        assertThat(Files.readAllLines(folder.resolve("totals.csv"))).hasSize(3);
        assertThat(cli.run("export", "sums.yaml", "--table", "totals", "-o", "totals.csv")
                        .exitCode())
                .isEqualTo(2);
        assertThat(cli.run("export", "sums.yaml", "--table", "totals", "-o", "-", "--format", "ndjson")
                        .lines())
                .hasSize(2)
                .first()
                .asString()
                .startsWith("{\"user\":\"u1\"");
    }

    @Test
    void dead_letters_name_the_reasons_and_verify_finds_all_equal() {
        assertThat(cli.run("dead-letters", "sums.yaml", "list").out()).contains("too late", "failed");
        assertThat(cli.run("dead-letters", "sums.yaml", "show", "1").out()).contains("the amount is negative");
        Result verify = cli.run("verify", "sums.yaml");
        assertThat(verify.exitCode()).as(verify.out()).isZero();
        assertThat(verify.out()).startsWith("Equal: ");
        assertThat(cli.run("status", "sums.yaml").out())
                .containsPattern("too late +1\n")
                .containsPattern("keys +2\n")
                .containsPattern("impure calls +0\n")
                .doesNotContain("rows");
    }

    @Test
    void check_shows_types_and_promises_and_what_a_change_comes_to() {
        Result right = cli.run("check", "sums.yaml");
        assertThat(right.exitCode()).isZero();
        assertThat(right.out())
                .contains("is right: pipeline sums, 1 table, 1 roll-up, 2 measures.")
                .contains("context  {sum: long, last: long?}")
                .contains("Order in-order:", "Accepted depending on arrival: an event that comes after 3 newer ones");
        cli.write("sums.yaml", PIPELINE.replace("order: in-order", "version: 2\n  order: in-order"));
        Result raised = cli.run("check", "sums.yaml", "--data", "onefold-data/sums");
        assertThat(raised.exitCode()).as(raised.out()).isZero();
        assertThat(raised.out()).contains("Version 2 of the function follows version 1: the events that are kept");
        assertThat(cli.run("get", "sums.yaml", "u1").err()).contains("the pipeline file has changed");
        Result run = cli.run("run", "sums.yaml", "--input", "in.ndjson");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(cli.run("get", "sums.yaml", "u1").out()).contains("folded by     version 2 of the function");
    }

    @Test
    void a_loser_of_which_the_content_alone_is_left_waits_at_its_key() {
        cli.write("more.ndjson", event("u1", 16, "FY", 1_000) + event("u3", 16, "FX", 1));
        assertThat(cli.run("run", "sums.yaml", "--input", "more.ndjson").out()).containsPattern("conflicting +1\n");
        assertThat(cli.run("get", "sums.yaml", "u1").out())
                .containsPattern("waits +version 3: too late, dead letter [12]; version 16: conflict, dead letter 3\n");
    }

    @Test
    void a_long_context_is_broken_into_lines_of_the_terminal() {
        cli.write(
                "long.yaml",
                PIPELINE.substring(0, PIPELINE.indexOf("rollups"))
                        .replace("sums", "long")
                        .replace("Adding", "Adding$Longest"));
        cli.write("long.ndjson", "{\"user\":\"u1\",\"n\":1,\"text\":\"" + "abcdefghij".repeat(9) + "\"}\n");
        assertThat(cli.run("run", "long.yaml", "--input", "long.ndjson").exitCode())
                .isZero();
        assertThat(cli.onTerminal(40).run("get", "long.yaml", "u1").lines())
                .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(40))
                .contains("context.texts  [\"abcdefghijabcdefghijabc");
    }

    @Test
    void an_impure_function_is_shown_with_both_results_by_the_run() {
        cli.write("impure.yaml", PIPELINE.replace("sums", "impure").replace("Adding", "Adding$Impure"));
        Result run = cli.run("run", "impure.yaml", "--input", "in.ndjson");
        assertThat(run.out())
                .containsPattern("The function is not pure: two calls with equal arguments for key u[12] had different"
                        + " results. The first one counts: context .*\"last\":.*; the second one: context ");
    }

    @Test
    void another_jar_of_the_same_version_is_a_warning_with_both_hashes_once() throws IOException {
        cli.write("sums.yaml", PIPELINE.replace("sums", "jars").replace("class: ", "jar: f.jar\n  class: "));
        String first = jar("one");
        assertThat(cli.run("run", "sums.yaml", "--input", "in.ndjson").err()).doesNotContain("Warning");
        String second = jar("two");
        assertThat(cli.run("run", "sums.yaml", "--input", "in.ndjson").err())
                .contains("Warning: The function of pipeline jars has another hash", second, first);
        assertThat(cli.run("run", "sums.yaml", "--input", "in.ndjson").err()).doesNotContain("Warning");
        assertThat(cli.run("query", "sums.yaml", "--table", "totals").err()).doesNotContain("hash");
    }

    /// A jar with the function; its hash.
    private String jar(String comment) throws IOException {
        Path jar = folder.resolve("f.jar");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
            out.setComment(comment);
            for (String name : List.of("", "$Sum", "$Amount", "$Total")) {
                String path = Adding.class.getName().replace('.', '/') + name + ".class";
                try (InputStream in = Adding.class.getClassLoader().getResourceAsStream(path)) {
                    out.putNextEntry(new ZipEntry(path));
                    out.write(Objects.requireNonNull(in, path).readAllBytes());
                }
            }
        }
        return Sha256.hex(Files.readAllBytes(jar));
    }

    @Test
    void a_class_that_is_not_there_is_said_by_check_and_run_while_the_data_can_be_read() {
        cli.write("sums.yaml", PIPELINE.replace("verbs.Adding", "verbs.Missing"));
        for (Result result :
                List.of(cli.run("check", "sums.yaml"), cli.run("run", "sums.yaml", "--input", "in.ndjson"))) {
            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err()).contains("There is no class dev.onefold.cli.verbs.Missing on the class path.");
        }
        assertThat(cli.run("query", "sums.yaml", "--table", "totals").exitCode())
                .isZero();
    }
}
