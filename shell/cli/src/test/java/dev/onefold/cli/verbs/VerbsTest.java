package dev.onefold.cli.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerbsTest {
    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void fold() {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        cli.write(
                "in.ndjson",
                Cli.trade("1", 1, "FX", "EMEA", "1000000.50")
                        + Cli.trade("2", 1, "FX", "A/B\\\\C", "2.25")
                        + Cli.trade("3", 1, "Rates", "EMEA", "-7")
                        + Cli.trade("3", 1, "Rates", "EMEA", "-7")
                        + "{\"id\":\"4\",\"v\":2,\"gone\":true}\n"
                        + "garbage\n");
        Result run = cli.run("run", "trades.yaml", "--input", "in.ndjson");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out())
                .containsPattern("accepted +4\n")
                .containsPattern("duplicate +1\n")
                .containsPattern("rejected +1\n")
                .contains("1 dead letter: see", "onefold-data/trades");
    }

    @Test
    void query_shows_an_indented_tree_with_aligned_numbers_and_what_it_covers() {
        Result result = cli.run("query", "trades.yaml");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.lines())
                .startsWith(
                        "trades by desk / region",
                        "",
                        "                  value  trades",
                        "total        999,995.75       3",
                        "  FX       1,000,002.75       2",
                        "    A/B\\C          2.25       1",
                        "    EMEA   1,000,000.50       1",
                        "  Rates           -7.00       1",
                        "    EMEA          -7.00       1",
                        "")
                .last()
                .isEqualTo("  in.ndjson: 6 records, " + "%,d".formatted(size("in.ndjson")) + " bytes");
        assertThat(result.out()).containsPattern("At 20.* UTC, with 6 records of 1 source:");
    }

    @Test
    void query_answers_for_one_group_however_its_name_is_written() {
        assertThat(cli.run("query", "trades.yaml", "--group", "FX/A\\/B\\\\C").out())
                .contains("FX/A\\/B\\\\C", "2.25");
        assertThat(cli.run("query", "trades.yaml", "--group-json", "[\"FX\",\"A/B\\\\C\"]")
                        .out())
                .contains("2.25");
        assertThat(cli.run("query", "trades.yaml", "--group", "FX", "--depth", "0")
                        .lines())
                .hasSize(7);
    }

    @Test
    void query_for_a_group_that_is_not_there_has_an_exit_code_and_a_message_in_each_format() {
        for (String format : List.of("table", "json", "csv")) {
            Result result = cli.run("query", "trades.yaml", "--group", "nobody/x", "--format", format);
            assertThat(result.exitCode()).as(format).isEqualTo(1);
            assertThat(result.err()).contains("There is no group nobody/x.");
        }
    }

    @Test
    void every_verb_answers_on_a_terminal_of_40_columns() {
        for (String verb : List.of(
                "query",
                "get 1",
                "verify",
                "rebuild",
                "dead-letters list",
                "check",
                "status",
                "run -i in.ndjson",
                "query --top 1 --by value")) {
            String[] words = verb.split(" ", 2);
            String line = words[0] + " trades.yaml" + (words.length > 1 ? " " + words[1] : "");
            Result result = cli.onTerminal(40).run(line.split(" "));
            assertThat(result.exitCode()).as(line + result.err()).isZero();
            assertThat(result.out()).as(line).isNotBlank();
        }
    }

    @Test
    void an_argument_that_the_locale_garbled_is_refused() {
        Result result = cli.run("get", "trades.yaml", "\uFFFD\uFFFDi");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("LC_ALL=C.UTF-8");
    }

    @Test
    void status_says_what_became_of_the_records_and_how_far_behind_it_is() throws Exception {
        cli.append("in.ndjson", "not json\n");
        assertThat(cli.run("run", "trades.yaml", "-i", "in.ndjson").exitCode()).isEqualTo(1);
        cli.append("in.ndjson", "12345\n");
        Result json = cli.run("status", "trades", "--format", "json");
        assertThat(json.exitCode()).as(json.err()).isZero();
        assertThat(JsonText.read(json.out(), new Problems())).isNotNull();
        assertThat(json.out())
                .contains(
                        "\"records\":7,",
                        "\"accepted\":",
                        "\"malformed\":2",
                        "\"lagBytes\":6,",
                        "\"definitionPending\":false")
                .containsPattern("\"diskBytes\":[1-9]")
                .containsPattern("\"checkpointAgeMs\":[0-9]");
        cli.write("trades.yaml", Cli.TRADES.replace("levels: [desk, region]", "levels: [desk]"));
        Result table = cli.run("status", "trades.yaml");
        assertThat(table.out())
                .containsPattern("records +7\n")
                .containsPattern("  malformed +2\n")
                .containsPattern("lag +6 bytes\n")
                .containsPattern("definition +changed");
    }

    @Test
    void query_ranks_groups() {
        assertThat(cli.run("query", "trades.yaml", "--top", "2", "--by", "value", "--format", "csv")
                        .out())
                .isEqualTo("""
                        depth,desk,region,value,trades
                        2,FX,EMEA,1000000.50,1
                        2,FX,A/B\\C,2.25,1
                        """);
        assertThat(cli.run("query", "trades.yaml", "--top", "1", "--by", "trades", "--depth", "1")
                        .out())
                .containsPattern("FX +1,000,002.75 +2");
    }

    @Test
    void query_gives_json_with_every_digit() {
        String json = cli.run("query", "trades.yaml", "--format", "json").out();
        assertThat(json)
                .contains("{\"group\":[],\"values\":{\"value\":999995.75,\"trades\":3}}")
                .contains("{\"group\":[\"FX\",\"A/B\\\\C\"],\"values\":{\"value\":2.25,\"trades\":1}}")
                .contains("\"records\":6");
        Problems problems = new Problems();
        assertThat(JsonText.read(json, problems)).isNotNull();
    }

    @Test
    void query_says_what_there_is_when_it_is_asked_for_what_there_is_not() {
        assertThat(cli.run("query", "trades.yaml", "--rollup", "x"))
                .satisfies(result -> assertThat(result.exitCode()).isEqualTo(2))
                .satisfies(result -> assertThat(result.err()).contains("'x'", "main"));
        assertThat(cli.run("query", "trades.yaml", "--top", "1", "--by", "x").err())
                .contains("'x'", "value", "trades");
        assertThat(cli.run("query", "trades.yaml", "--top", "1").err()).contains("--by");
        assertThat(cli.run("query", "trades.yaml", "--depth", "-1").exitCode()).isEqualTo(2);
        assertThat(cli.run("query", "trades.yaml", "--group", "a\\b").err()).contains("\\\\");
        assertThat(cli.run("query", "trades.yaml", "--group-json", "[1]").err()).contains("list of texts");
        assertThat(cli.run("query", "trades.yaml", "--group", "a/b/c").exitCode())
                .isEqualTo(2);
        assertThat(cli.run("query", "trades.yaml", "--group", "a", "--group-json", "[]")
                        .exitCode())
                .isEqualTo(2);
    }

    @Test
    void a_pipeline_that_has_run_is_known_by_its_name() {
        assertThat(cli.run("query", "trades", "--depth", "0").out()).contains("999,995.75");
        assertThat(cli.run("query", "nothing").err()).contains("no pipeline file nothing", "onefold-data/nothing");
        assertThat(cli.run("query", "nothing").exitCode()).isEqualTo(2);
    }

    @Test
    void the_data_directory_is_where_the_option_or_the_environment_says() {
        assertThat(cli.run("query", "trades", "--data", "onefold-data/trades").exitCode())
                .isZero();
        Cli elsewhere = new Cli(folder, cli.screen(), java.util.Map.of("ONEFOLD_DATA", "elsewhere"));
        Result result = elsewhere.run("query", "trades.yaml");
        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.err()).contains("elsewhere/trades", "onefold run");
        assertThat(folder.resolve("elsewhere")).doesNotExist();
    }

    @Test
    void get_shows_a_row_and_where_it_came_from() {
        assertThat(cli.run("get", "trades.yaml", "1").out())
                .containsPattern("key +1\n")
                .containsPattern("version +1\n")
                .containsPattern("group +FX/EMEA\n")
                .containsPattern("value decimal\\(18,2\\) +1,000,000.50\n")
                .containsPattern("from +in.ndjson, offset 0\n");
        assertThat(cli.run("get", "trades.yaml", "4", "--format", "json").out()).contains("\"deleted\":true");
    }

    @Test
    void get_ends_with_1_for_a_key_that_was_never_seen_and_with_2_for_no_key() {
        assertThat(cli.run("get", "trades.yaml", "99").exitCode()).isEqualTo(1);
        assertThat(cli.run("get", "trades.yaml", "1", "2").exitCode()).isEqualTo(2);
        assertThat(cli.run("get", "trades.yaml").exitCode()).isEqualTo(2);
    }

    @Test
    void verify_and_rebuild_find_the_totals_right() {
        Result verify = cli.run("verify", "trades.yaml");
        assertThat(verify.exitCode()).isZero();
        assertThat(verify.out()).startsWith("Equal: 3 groups");
        assertThat(cli.run("rebuild", "trades.yaml").out()).contains("All were right before");
    }

    @Test
    void a_changed_pipeline_file_is_noted_and_what_was_run_is_shown() {
        cli.write("trades.yaml", Cli.TRADES.replace("trades: count()", "number: count()"));
        Result result = cli.run("query", "trades.yaml");
        assertThat(result.exitCode()).isZero();
        assertThat(result.err()).contains("has changed");
        assertThat(result.out()).contains("trades");
    }

    @Test
    void batches_in_the_order_of_keys_are_refused_on_aws_with_the_reason() {
        cli.write("keyed.yaml", """
                pipeline: keyed
                input: {format: json, id: id, key: customer}
                batch: {size: 1, order: key, deliver: {http: 'https://host/'}, receiver: idempotent}
                """);
        assertThat(cli.run("check", "keyed.yaml").out()).contains("in the order of keys (not on AWS");
        Result template = cli.run("aws", "template", "keyed.yaml", "--input", "new-stream");
        assertThat(template.exitCode()).isNotZero();
        assertThat(template.err()).contains("cannot be on AWS: its order is by key", "leave 'order' out");
    }

    @Test
    void problems_of_a_pipeline_file_are_shown_in_it_by_check_and_by_every_verb() {
        cli.write("bad.yaml", Cli.TRADES.replace("version: v", "versoin: v"));
        for (String verb : new String[] {"check", "query", "verify"}) {
            Result result = cli.run(verb, "bad.yaml");
            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err()).contains("bad.yaml:4:3: input.versoin", "did you mean", "problems");
        }
        assertThat(cli.run("check", "trades.yaml").out()).contains("right", "2 measures");
        assertThat(cli.run("check", "missing.yaml").exitCode()).isEqualTo(2);
    }

    @Test
    void an_error_has_no_stack_trace_unless_debug_asks_for_it() {
        assertThat(cli.run("query", "nothing").err()).doesNotContain("\tat ");
        assertThat(cli.run("query", "nothing", "--debug").err()).contains("\tat ");
    }

    private long size(String name) {
        return folder.resolve(name).toFile().length();
    }

    @Test
    void a_damaged_directory_is_refused_with_3() throws Exception {
        try (var files = Files.walk(folder.resolve("onefold-data"))) {
            for (Path file : files.filter(path -> path.endsWith("CHECKPOINT")).toList()) {
                byte[] bytes = Files.readAllBytes(file);
                bytes[bytes.length / 2] ^= 1;
                Files.write(file, bytes);
            }
        }
        Result result = cli.run("query", "trades.yaml");
        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.err()).contains("corrupt").doesNotContain("\tat ");
    }
}
