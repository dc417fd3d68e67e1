package dev.onefold.cli.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestCommandTest {
    private static final String SUMS = """
            pipeline: sums
            input: {key: user, version: n}
            process:
              class: dev.onefold.cli.verbs.Adding
              order: ORDER
              tables: {totals: [user]}
            rollups:
              by-team: {of: totals, levels: [team], measures: {total: "sum(total) decimal(18,0)", users: count()}}
            """;

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void write() {
        cli = Cli.in(folder);
        StringBuilder events = new StringBuilder();
        for (int n = 1; n < 8; n++) {
            events.append(event("u1", n, "FX", 100 * n)).append(event("u2", n, "PV", -3 + n));
        }
        cli.write("in.ndjson", events.toString());
        cli.write("sums.yaml", SUMS.replace("ORDER", "in-order"));
    }

    private static String event(String user, int n, String team, int amount) {
        return "{\"user\":\"%s\",\"n\":%d,\"team\":\"%s\",\"amount\":%d}\n".formatted(user, n, team, amount);
    }

    private Result test(String... more) {
        String[] words = {"test", "sums.yaml", "--input", "in.ndjson", "--expect", "tables.json", "--runs", "2"};
        return cli.run(Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new));
    }

    private Path written() {
        assertThat(test("--write").out()).startsWith("Wrote tables.json. ");
        return folder.resolve("tables.json");
    }

    @Test
    void a_function_comes_to_the_file_that_was_written_from_its_sample_whatever_happens() throws IOException {
        assertThat(written()).content().isEqualTo("""
                {"tables":{
                "totals":[
                {"user":"u1","team":"FX","total":2800,"before":600,"tags":["a,b"],"at":"1970-01-01T00:00:00Z"},
                {"user":"u2","team":"PV","total":10,"before":3,"tags":["a,b"],"at":"1970-01-01T00:00:00Z"}
                ]},
                "totals":{
                "by-team":[
                {"group":[],"values":{"total":2810,"users":2}},
                {"group":["FX"],"values":{"total":2800,"users":1}},
                {"group":["PV"],"values":{"total":10,"users":1}}
                ]}}
                """);
        Result again = test();
        assertThat(again.err()).isEmpty();
        assertThat(again.out())
                .isEqualTo("Equal: 1 table and 1 roll-up from 14 records, as they are, and in 2 runs with other orders,"
                        + " duplicates, cuts and crashes.\n");
        assertThat(again.exitCode()).isZero();
        assertThat(test("--seed", "7").out()).contains("in 1 run with");
        assertThat(folder.toFile().list()).as("nothing else is left").hasSize(3);
        Result twice = test("--write");
        assertThat(twice.exitCode()).isEqualTo(2);
        assertThat(twice.err()).contains("There is a file tables.json already.");
    }

    @Test
    void values_that_differ_from_the_file_are_named_at_80_and_at_40_columns() throws IOException {
        Path file = written();
        Files.writeString(
                file,
                Files.readString(file)
                        .replace("\"total\":10,", "\"total\":11,")
                        .replace("{\"group\":[\"FX\"]", "{\"group\":[\"FY\"]"));
        Result wide = test();
        assertThat(wide.exitCode()).isEqualTo(1);
        assertThat(wide.lines())
                .containsExactly(
                        "Different: the records as they are do not come to tables.json.",
                        "",
                        "row          column  expected  actual",
                        "by-team: FX  (all)   none      there",
                        "by-team: FY  (all)   there     none",
                        "by-team: PV  total   11        10",
                        "totals: u2   total   11        10");
        cli = cli.onTerminal(40);
        assertThat(test().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(40));
    }

    @Test
    void a_function_that_depends_on_order_is_shown_with_the_records_and_passes_where_order_is_kept() {
        cli.write("sums.yaml", SUMS.replace("ORDER", "every"));
        Result different = test("--write");
        assertThat(different.exitCode()).isEqualTo(1);
        assertThat(different.out())
                .contains("depends on the order of arrival", "--keep-order", "table totals, row u", "2 of 14 records")
                .containsPattern("Seed \\d+, order: every\\. The option --seed repeats it\\.");
        assertThat(test("--keep-order").out())
                .startsWith("Equal: ")
                .contains("2 runs with duplicates, cuts and crashes");
    }

    @Test
    void totals_without_a_function_are_tested_too() {
        cli.write("sums.yaml", Cli.TRADES);
        StringBuilder trades = new StringBuilder();
        for (int id = 0; id < 30; id++) {
            trades.append(Cli.trade("t" + id % 7, id, "FX", "EU", id + ".10"));
        }
        cli.write("in.ndjson", trades + "{}\n");
        assertThat(test("--write").out())
                .contains("Equal: 1 roll-up from 31 records, as they are, and in 2 runs with other orders");
    }

    @Test
    void what_is_missing_is_said() {
        assertThat(test().err()).contains("There is no file tables.json", "--write");
        cli.write("tables.json", "[]");
        assertThat(test().err()).contains("tables.json is not a JSON object");
        cli.write("tables.json", "{\"rows\":{}}");
        assertThat(test().err()).contains("tables.json has 'rows'");
        cli.write("in.ndjson", "");
        assertThat(test().err()).contains("in.ndjson has no records");
        assertThat(test("--runs", "0").exitCode()).isEqualTo(2);
    }
}
