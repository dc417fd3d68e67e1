package dev.onefold.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli.Result;
import dev.onefold.core.document.Json;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `onefold check --input`: what real input has, and what a pipeline makes of it.
class InputCheckTest {
    private static final String ORDERS = """
            {"Order Id":"o-1","rev":1,"ship":{"town":"Bern"},"amount":"10.50","tags":["a"],"at":"2026-01-01T10:00:00Z"}
            {"Order Id":"o-1","rev":2,"ship":{"town":"Bern"},"amount":"11.00","tags":[],"at":"2026-01-01T11:00:00Z"}
            {"Order Id":"o-2","rev":1,"ship":{"town":"Chur"},"amount":7,"at":"2026-01-01T12:00:00Z"}
            {"Order Id":"o-3","rev":1,"ship":{"town":"Chur"},"amount":null,"it's \\"odd\\"":true,"at":"2026-01-01T13:00:00Z"}
            """;

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void open() {
        cli = Cli.in(folder);
    }

    /// The first pipeline file for an input; it runs as it stands, and accepts each record.
    private String first(String input) {
        Result looked = cli.run("check", "--input", input);
        assertThat(looked.exitCode()).as(looked.err()).isZero();
        cli.write("first.yaml", looked.out());
        Result run = cli.run("run", "first.yaml", "--input", input, "--data", "data-" + input);
        assertThat(run.exitCode()).as(looked.out() + run.err()).isZero();
        assertThat(run.out()).containsPattern("rejected +0");
        Result checked = cli.run("check", "first.yaml", "--input", input);
        assertThat(checked.exitCode()).as(checked.err()).isZero();
        return looked.out();
    }

    @Test
    void a_first_pipeline_is_written_for_lines_of_json() {
        cli.write("orders.ndjson", ORDERS);
        String text = first("orders.ndjson");
        assertThat(text)
                .contains("pipeline: orders\n", "format: json\n", "levels: [ship.town]", "records: count()")
                .contains("key: '\"Order Id\"'   # or: the highest version", "version: rev", "{field: at, type: iso}")
                .contains("# amount: sum(amount) decimal(18,2)")
                .containsPattern("#   amount +decimal, integer; 3; 3; 10.50 \\| 11.00 \\| 7")
                .containsPattern("#   tags +list; 2; ");
        assertThat(text.lines()).allMatch(line -> line.length() <= 120 || line.startsWith("#"));
    }

    @Test
    void what_is_probably_meant_otherwise_is_said_with_the_line_to_write() {
        String wallet = "{\"xid\":901,%s\"data\":{\"id\":1,\"balance\":\"%s\"},\"type\":\"update\",\"city\":\"%s\"}\n";
        cli.write(
                "wallets.ndjson",
                wallet.formatted("\"xoffset\":0,", "80", "Orl\u00e9ans") + wallet.formatted("", "79", "Orle\u0301ans")
                        + "{\"xid\":902,\"type\":\"delete\",\"data\":{\"id\":2}}\n"
                        + "{\"xid\":900,\"type\":\"insert\",\"data\":{\"id\":2,\"balance\":\"1\"},\"city\":\"x\"}\n");
        String pipeline = """
                pipeline: wallets
                input:
                  key: data.id
                  version: xid
                  delete: type = "delete"
                rollup: {levels: [city], measures: {balance: "sum(data.balance) decimal(18,2)"}}
                """;
        cli.write("wallets.yaml", pipeline);
        String said =
                cli.run("check", "wallets.yaml", "--input", "wallets.ndjson").out();
        assertThat(said)
                .contains("  stale                    1\n    behind a delete        1\n", "grows for ever")
                .contains("'version: [xid, {field: xoffset, missing: highest}]'");
        cli.write(
                "wallets.yaml",
                pipeline.replace("version: xid", said.replaceAll("(?s).*'(version: \\[[^']*)'.*", "$1")));
        String then =
                cli.run("check", "wallets.yaml", "--input", "wallets.ndjson").out();
        assertThat(then).contains("conflicting              0").doesNotContain("missing: highest");
        assertThat(said + then).contains("Level city has 'Orle\u0301ans' in Unicode's decomposed form");
        cli.write("wallets.yaml", pipeline.replace("  key:", "  normalize: nfc\n  key:"));
        assertThat(cli.run("check", "wallets.yaml", "--input", "wallets.ndjson").out())
                .doesNotContain("decomposed");
    }

    @Test
    void a_first_pipeline_is_written_for_csv_of_any_delimiter() {
        cli.write("visits.csv", "\ufeffid;town;note\n1;Bern;\"a;b\"\n2;Bern;\n3;Chur;x\n4;Chur;\n");
        assertThat(first("visits.csv"))
                .contains(
                        "format: csv\n  delimiter: \";\"\n",
                        "id: id   # each id counts once",
                        "levels: ['town missing");
        cli.write("tabs.tsv", "id\ttown\n1\tBern\n");
        assertThat(first("tabs.tsv")).contains("delimiter: \"\\t\"");
    }

    @Test
    void a_record_that_a_derived_field_refuses_is_named_and_another_formula_fills_the_totals_anew() {
        cli.write("orders.csv", "id,email,gross,tax\n1, A@b.c ,10.50,2\n2,a@B.C,1,0.5\n3,x@y,abc,1\n");
        String pipeline = """
                pipeline: orders
                input:
                  format: csv
                  let:
                    mail: lower(trim(email))
                    net: %s
                  id: id
                rollup:
                  levels: [mail]
                  measures: {net: "sum(net) decimal(18,2)"}
                """;
        cli.write("orders.yaml", pipeline.formatted("gross - tax"));
        assertThat(cli.run("check", "orders.yaml", "--input", "orders.csv").out())
                .contains("Derived field net: Field gross is 'abc', which is not a number");
        cli.run("run", "orders.yaml", "--input", "orders.csv", "--data", "data");
        assertThat(cli.run("query", "orders.yaml", "--data", "data", "--format", "csv")
                        .out())
                .contains("1,a@b.c,9.00");
        cli.write("orders.yaml", pipeline.formatted("(gross - tax) * 2"));
        cli.run("run", "orders.yaml", "--input", "orders.csv", "--data", "data");
        assertThat(cli.run("query", "orders.yaml", "--data", "data", "--format", "csv")
                        .out())
                .contains("1,a@b.c,18.00");
    }

    @Test
    void comments_and_words_for_missing_values_are_seen_in_csv() {
        cli.write("export.csv", "# exported, today\n#\nid,town,price\n1,Bern,NULL\n# half\n2,\\N,5\n");
        String text = first("export.csv");
        assertThat(text)
                .contains("  comment: \"#\"\n")
                .contains("  # nulls: ['\\N', 'NULL']   # if these values")
                .contains("from all its 2 records");
        cli.write(
                "export.yaml",
                text.replace("# nulls: ['\\N', 'NULL'] ", "nulls: [NULL, \\N] ")
                        .replace("levels: []", "levels: [price]"));
        Result run = cli.run("check", "export.yaml", "--input", "export.csv");
        assertThat(run.out()).containsPattern("accepted +1\n").contains("Field price is missing");
        cli.write("header.csv", "#id,town\n1,Bern\n");
        assertThat(first("header.csv")).doesNotContain("comment");
    }

    @Test
    void a_first_pipeline_looks_into_notifications_of_sns() {
        StringBuilder lines = new StringBuilder();
        for (String event : List.of("{\"id\":\"a\",\"n\":1}", "{\"id\":\"b\",\"n\":2}")) {
            lines.append("{\"Type\":\"Notification\",\"TopicArn\":\"t\",\"MessageId\":\"m\",\"Message\":")
                    .append(Json.of(event))
                    .append("}\n");
        }
        cli.write("sns.ndjson", lines.toString());
        assertThat(first("sns.ndjson")).contains("unwrap: Message\n", "id: id   # each id counts once");
    }

    @Test
    void changes_of_tables_are_seen_as_such() {
        cli.write(
                "changes.ndjson",
                "{\"key\":{\"id\":1},\"value\":{\"op\":\"c\",\"before\":null,\"after\":{\"id\":1},\"source\":{\"table\":\"t\"}}}\n");
        assertThat(first("changes.ndjson")).contains("Debezium", "docs/tables.md");
        cli.write("items.ndjson", "{\"dynamodb\":{\"NewImage\":{}},\"eventName\":\"INSERT\"}\n");
        assertThat(first("items.ndjson")).contains("format: dynamodb-stream");
    }

    @Test
    void the_way_in_which_a_file_holds_its_records_is_seen() {
        cli.write("array.json", "[{\"id\":1},{\"id\":2}]\n");
        cli.write("pretty.json", "{\n  \"id\": 1\n}\n{\n  \"id\": 2\n}\n");
        for (String name : List.of("array", "pretty")) {
            Result seen = cli.run("check", "--input", name + ".json");
            assertThat(seen.out())
                    .contains(name.equals("array") ? "  records: array\n" : "  records: objects\n")
                    .contains("from all its 2 records");
            cli.write(name + ".yaml", seen.out());
            assertThat(cli.run("run", name + ".yaml", "--input", name + ".json").out())
                    .containsPattern("accepted +2\n");
        }
        cli.write("lines.yaml", "pipeline: lines\ninput: {}\nrollup: {levels: [], measures: {n: count()}}\n");
        assertThat(cli.run("check", "lines.yaml", "--input", "array.json").err())
                .contains("Write 'records: array' under input");
    }

    @Test
    void an_empty_file_and_one_that_is_not_there_are_refused() {
        cli.write("empty.json", "\n");
        Result empty = cli.run("check", "--input", "empty.json");
        assertThat(empty.exitCode()).isEqualTo(1);
        assertThat(empty.err()).contains("The file is empty");
        assertThat(cli.run("check").exitCode()).isEqualTo(2);
        assertThat(cli.run("check", "--input", "nowhere").exitCode()).isEqualTo(2);
    }

    @Test
    void a_pipeline_is_tried_on_real_input_and_nothing_is_stored() {
        cli.write("orders.ndjson", ORDERS + ORDERS);
        cli.write(
                "orders.yaml",
                "pipeline: orders\ninput: {key: '\"Order Id\"', version: rev}\nrollup: {levels: [], measures: {amount: "
                        + "'sum(amount) decimal(18,2)'}}\n");
        Result tried = cli.run("check", "orders.yaml", "--input", "orders.ndjson");
        assertThat(tried.exitCode()).isEqualTo(1);
        assertThat(tried.out())
                .contains("orders.yaml is right", "All 8 records of orders.ndjson, as this pipeline reads them:")
                .containsPattern("accepted +3")
                .containsPattern("rejected +2")
                .contains("2 x Field amount is missing", "Nothing was stored.");
        assertThat(folder.resolve("onefold-data")).doesNotExist();
        cli.write(
                "other.yaml",
                "pipeline: orders\ninput: {id: '\"Order Id\"'}\nrollup: {levels: [], measures: {n: count()}}\n");
        assertThat(cli.run("check", "other.yaml", "--input", "orders.ndjson").out())
                .containsPattern("accepted +3")
                .containsPattern("duplicate +5");
    }
}
