package dev.onefold.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli.Result;
import dev.onefold.core.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
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
    void a_header_that_comes_again_is_no_record_of_a_look() {
        cli.write("joined.csv", "id,price\n1,2.5\n2,3.5\nid,price\n3,4.5\n");
        assertThat(first("joined.csv")).contains("all its 3 records", "# price: sum(price) decimal(18,1)");
    }

    @Test
    void a_file_without_a_header_gets_columns_and_a_word_on_the_doubt() {
        cli.write("plain.csv", "\ufeff1,Berlin,2.5\n2,Bern,3.5\n3,Bern,4\n");
        assertThat(first("plain.csv"))
                .contains("all its 3 records", "  columns: [c1, c2, c3]", "seems to have no header", "sum(c3)");
        cli.write("frame.csv", ",town\n0,Bern\n1,Chur\n");
        assertThat(first("frame.csv"))
                .contains("all its 2 records", "If the file has no header, write columns: [c1, c2]");
    }

    @Test
    void a_quote_without_an_end_is_a_character_of_the_first_pipeline() {
        cli.write("inches.tsv", "id\tsize\n1\t\"5\n2\tx\n");
        assertThat(first("inches.tsv")).contains("  quote: none", "all its 2 records");
    }

    @Test
    void decimal_commas_are_not_taken_for_delimiters_and_the_lines_to_write_are_named() {
        cli.write("de.csv", "id;stadt;betrag\n1;K\u00f6ln;1.412,50\n2;Bonn;3,25\n3;K\u00f6ln;7\n4;Bonn;0,5\n");
        String text = first("de.csv");
        assertThat(text)
                .contains("  delimiter: \";\"\n", "levels: ['stadt missing \"unknown\"']")
                .contains("  # decimal: \",\"   #", "  # thousands: \".\"   #", "# betrag: sum(betrag) decimal(18,2)");
        cli.write(
                "de.yaml",
                text.replace("# decimal", "decimal")
                        .replace("# thousands", "thousands")
                        .replace("# betrag", "betrag"));
        assertThat(cli.run("run", "de.yaml", "--input", "de.csv").exitCode()).isZero();
        assertThat(cli.run("query", "de.yaml").out()).contains("1,419.50", "3.75");
        cli.write("fr.csv", "a;b\nx;1\u202f234,50\ny;2\u00a0000\n");
        assertThat(first("fr.csv")).contains("decimal: \",\"", "thousands: \"\\u202f\"", "thousands: \"\\u00a0\"");
        cli.write("en.csv", "a\tb\nx\t1,234.50\ny\t2,000\nz\t1.5E2\n");
        assertThat(first("en.csv"))
                .contains("thousands: \",\"", "# b: sum(b) decimal(18,3)")
                .doesNotContain("decimal: \"");
        cli.write("one.csv", "betrag\n12,50\n3,25\n7,00\n");
        assertThat(cli.run("check", "--input", "one.csv").err()).doesNotContain("title");
        cli.write("blanks.csv", "id , v,v \n1,2,3\n");
        assertThat(first("blanks.csv")).doesNotContain("an empty name");
        cli.write("quoted.csv", "id;\"a;b\";n\n1;\"x\n,y\n,z\";2,5\n2;\"x;;;\";2,5\n");
        assertThat(first("quoted.csv")).contains("delimiter: \";\"", "from all its 2 records");
    }

    @Test
    void a_file_that_is_no_csv_as_it_stands_is_refused_with_the_way_out() throws IOException {
        Files.write(folder.resolve("latin.csv"), "id,größe\n1,2\n".getBytes(StandardCharsets.ISO_8859_1));
        Files.write(folder.resolve("utf16.csv"), "id,town\n1,Bern\n".getBytes(StandardCharsets.UTF_16LE));
        cli.write("excel.csv", "sep=;\nid;town\n1;Bern\n2;Bern\n");
        cli.write("mac.csv", "id,town\r1,Bern\r2,Bern\r");
        cli.write("title.csv", "Orders of May\n\nid;town\n1;Bern\n2;Bern\n");
        cli.write("all.yaml", "pipeline: all\ninput: {format: csv}\nrollup: {levels: [], measures: {n: count()}}\n");
        Map<String, String> ways = Map.of(
                "latin.csv", "iconv -f WINDOWS-1252 -t UTF-8",
                "utf16.csv", "iconv -f UTF-16 -t UTF-8",
                "excel.csv", "Delete the first line, and write delimiter: \";\" under input",
                "mac.csv", "tr '\\r' '\\n'");
        ways.forEach((name, way) -> {
            assertThat(cli.run("check", "--input", name).err()).contains(way);
            Result run = cli.run("run", "all.yaml", "--input", name, "--data", "data-" + name);
            assertThat(run.exitCode()).as(name).isEqualTo(1);
            assertThat(run.err()).contains(way);
        });
        cli.write("blank.csv", "\n\nid;town\n1;Bern\n2;Bern\n");
        assertThat(cli.run("check", "--input", "blank.csv").err())
                .contains("The first line of blank.csv is empty. Delete it: tail -n +2");
        Result title = cli.run("check", "--input", "title.csv");
        assertThat(title.exitCode()).isEqualTo(1);
        assertThat(title.err())
                .contains("The first record of title.csv has 1 column, and the next ones have 2.", "tail -n +2");
    }

    @Test
    void bytes_that_are_no_text_are_named_by_what_they_are() throws IOException {
        cli.write("p.yaml", "pipeline: p\ninput: {format: json}\nrollup: {levels: [], measures: {n: count()}}\n");
        for (Map.Entry<String, String> each : Map.of(
                        "1f8b0800", "Give it a name that ends in .gz",
                        "28b52ffd00", "Give it a name that ends in .zst",
                        "504b0304", "is a zip archive. Unpack it",
                        "fffe7b00", "iconv -f UTF-16 -t UTF-8",
                        "feff007b", "iconv -f UTF-16 -t UTF-8")
                .entrySet()) {
            Files.write(folder.resolve("bytes.json"), HexFormat.of().parseHex(each.getKey()));
            assertThat(cli.run("run", "p.yaml", "--input", "bytes.json").err()).contains(each.getValue());
            assertThat(cli.run("check", "--input", "bytes.json").err()).contains(each.getValue());
        }
    }

    @Test
    void a_file_with_another_header_is_looked_at_and_read_up_to_it() {
        cli.write("two.csv", "id,qty,price\n1,2,10\nid,price,qty\n2,20,3\n");
        cli.write(
                "two.yaml",
                "pipeline: two\ninput: {format: csv}\nrollup: {levels: [], measures: {q: 'sum(qty) decimal(18,0)'}}\n");
        for (String[] command : new String[][] {
            {"check", "--input", "two.csv"},
            {"check", "two.yaml", "--input", "two.csv"},
            {"run", "two.yaml", "--input", "two.csv"}
        }) {
            Result refused = cli.run(command);
            assertThat(refused.exitCode()).isEqualTo(1);
            assertThat(refused.err()).contains("another header", "Column 2 is 'price', and was 'qty'");
        }
        assertThat(cli.run("query", "two").out()).contains("with 1 line of 1 source");
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
