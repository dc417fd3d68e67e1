package dev.onefold.cli.letters;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeadLettersCommandTest {
    private static final String CUT_OFF = "{\"id\":\"2\",\"v\":1,";

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void fold() throws Exception {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        Files.write(
                folder.resolve("in.ndjson"),
                (Cli.trade("1", 1, "FX", "EMEA", "5") + CUT_OFF + "\n" + Cli.trade("3", 1, "FX", "EMEA", "\"x\"")
                                + "\u00ff\n")
                        .getBytes(StandardCharsets.ISO_8859_1));
        assertThat(cli.run("run", "trades.yaml", "--input", "in.ndjson").exitCode())
                .isZero();
    }

    private Result letters(String... arguments) {
        String[] all = new String[arguments.length + 2];
        all[0] = "dead-letters";
        all[1] = "trades.yaml";
        System.arraycopy(arguments, 0, all, 2, arguments.length);
        return cli.run(all);
    }

    @Test
    void list_shows_each_with_reason_place_time_and_message() {
        assertThat(letters("list").out())
                .containsPattern("1  malformed  in.ndjson:2  20.*UTC\n    .*cut off")
                .containsPattern("2  refused  in.ndjson:3  20.*UTC\n    Field value .*'x'")
                .contains("3 of 3 dead letters.");
        assertThat(letters().out()).isEqualTo(letters("list").out());
        assertThat(letters("list").lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    }

    @Test
    void list_goes_on_behind_a_number() {
        assertThat(letters("list", "--limit", "1", "--after", "1").out())
                .startsWith("2  refused")
                .contains("--after 2");
        assertThat(letters("list", "--after", "3").out()).isEqualTo("There are none after 3.\n");
        assertThat(letters("list", "--format", "json", "--limit", "2").out())
                .contains("\"size\":3", "\"id\":2")
                .doesNotContain("\"id\":3");
        assertThat(letters("list", "--limit", "0").exitCode()).isEqualTo(2);
    }

    @Test
    void show_gives_the_record_as_it_is() {
        assertThat(letters("show", "1").out()).contains("reason   malformed", "in.ndjson:2", CUT_OFF);
        assertThat(letters("show", "1", "--raw").out()).isEqualTo(CUT_OFF);
        assertThat(letters("show", "3").out()).contains("not UTF-8");
        assertThat(letters("show", "77").exitCode()).isEqualTo(1);
        assertThat(letters("show", "77").err()).contains("no dead letter 77");
    }

    @Test
    void a_letter_is_corrected_and_counts_once_however_often_it_is_redriven() {
        cli.write("2.json", Cli.trade("2", 1, "FX", "EMEA", "10"));
        Result redriven = letters("redrive", "1", "--file", "2.json");
        assertThat(redriven.exitCode()).as(redriven.err()).isZero();
        assertThat(redriven.out()).isEqualTo("1 accepted\n");
        assertThat(letters("redrive", "1", "--file", "2.json").out()).startsWith("1 gone");
        assertThat(cli.run("query", "trades.yaml", "--depth", "0").out()).containsPattern("total +15.00 +2\n");
        assertThat(letters("list").out()).contains("2 of 2");
    }

    @Test
    void the_edited_record_may_come_from_standard_input() {
        Result result = cli.runWithInput(
                Cli.trade("2", 1, "FX", "EMEA", "10"), "dead-letters", "trades.yaml", "redrive", "1", "--file", "-");
        assertThat(result.out()).as(result.err()).isEqualTo("1 accepted\n");
    }

    @Test
    void what_is_rejected_again_stays_with_its_new_reason_and_the_exit_code_says_so() {
        Result all = letters("redrive", "--all");
        assertThat(all.exitCode()).isEqualTo(1);
        assertThat(all.out()).startsWith("3 rejected again");
        assertThat(letters("list").out()).contains("3 of 3");
    }

    @Test
    void redrive_and_purge_want_to_know_which() {
        assertThat(letters("redrive").exitCode()).isEqualTo(2);
        assertThat(letters("redrive", "1", "--all").exitCode()).isEqualTo(2);
        assertThat(letters("redrive", "1", "2", "--file", "x").err()).contains("one number");
        assertThat(letters("redrive", "1", "--file", "missing").exitCode()).isEqualTo(2);
        assertThat(letters("purge").exitCode()).isEqualTo(2);
        cli.write("two.json", "{}\n{}\n");
        assertThat(letters("redrive", "1", "--file", "two.json").err()).contains("more than one line");
    }

    @Test
    void purge_asks_first() {
        Result no = cli.runWithInput("n\n", "dead-letters", "trades.yaml", "purge", "--all");
        assertThat(no.exitCode()).isEqualTo(1);
        assertThat(no.err()).contains("Purge 3 dead letters for good? [y/N]", "Nothing was purged");
        Result yes = cli.runWithInput("y\n", "dead-letters", "trades.yaml", "purge", "1", "99");
        assertThat(yes.out()).isEqualTo("Purged 1 dead letter. 1 were not there.\n");
        assertThat(letters("purge", "--all", "--yes").out()).isEqualTo("Purged 2 dead letters.\n");
        assertThat(letters("list").out()).isEqualTo("There are no dead letters.\n");
    }

    @Test
    void export_writes_each_whole() throws Exception {
        assertThat(letters("export", "--output", "out.ndjson").out())
                .isEqualTo("Wrote 3 dead letters to out.ndjson.\n");
        String base64 = Base64.getEncoder().encodeToString(CUT_OFF.getBytes(StandardCharsets.UTF_8));
        assertThat(Files.readAllLines(folder.resolve("out.ndjson")))
                .hasSize(3)
                .first()
                .asString()
                .contains("\"base64\":\"" + base64 + "\"", "\"text\":\"{\\\"id\\\"", "\"line\":2");
        assertThat(letters("export", "--output", "-").lines().getLast())
                .contains("\"base64\":\"" + Base64.getEncoder().encodeToString(new byte[] {-1}) + "\"")
                .doesNotContain("\"text\"");
    }

    @Test
    void the_pipeline_comes_first_and_the_message_says_so() {
        Result result = cli.run("dead-letters", "list");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("PIPELINE [COMMAND]");
    }
}
