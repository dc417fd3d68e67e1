package dev.onefold.cli.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
        assertThat(cli.run("get", "sums.yaml", "u1").lines())
                .containsExactly(
                        "key           u1",
                        "version       16",
                        "missing       versions between the lowest and this one have not come",
                        "folded by     version 1 of the function",
                        "kept          3 events that a late one can be folded before",
                        "context.sum   5,000",
                        "context.last  1,000");
        assertThat(cli.run("get", "sums.yaml", "u2").out()).containsPattern("failed +2: the function failed at it\n");
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
        assertThat(cli.run("status", "sums.yaml").out()).containsPattern("too late +1\n");
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
