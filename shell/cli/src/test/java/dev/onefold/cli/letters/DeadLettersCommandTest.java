package dev.onefold.cli.letters;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
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
        assertThat(redriven.out()).isEqualTo("letter 1: accepted\n");
        assertThat(letters("redrive", "1", "--file", "2.json").out()).startsWith("letter 1: gone");
        assertThat(cli.run("query", "trades.yaml", "--depth", "0").out()).containsPattern("total +15.00 +2\n");
        assertThat(letters("list").out()).contains("2 of 2");
    }

    @Test
    void the_edited_record_may_come_from_standard_input() {
        Result result = cli.runWithInput(
                Cli.trade("2", 1, "FX", "EMEA", "10"), "dead-letters", "trades.yaml", "redrive", "1", "--file", "-");
        assertThat(result.out()).as(result.err()).isEqualTo("letter 1: accepted\n");
    }

    @Test
    void while_a_person_types_the_edited_record_others_may_own_the_directory() {
        byte[] edit = Cli.trade("2", 1, "FX", "EMEA", "10").getBytes(StandardCharsets.UTF_8);
        Result[] beside = new Result[1];
        InputStream typed = new ByteArrayInputStream(edit) {
            @Override
            public synchronized int read(byte[] bytes, int from, int length) {
                if (beside[0] == null) {
                    beside[0] = letters("purge", "2", "--yes");
                }
                return super.read(bytes, from, length);
            }
        };
        Result result = cli.run(typed, "dead-letters", "trades.yaml", "redrive", "1", "--file", "-");
        assertThat(beside[0].out()).as(beside[0].err()).isEqualTo("Purged 1 dead letter.\n");
        assertThat(result.out()).as(result.err()).isEqualTo("letter 1: accepted\n");
    }

    @Test
    void what_is_rejected_again_stays_with_its_new_reason_and_the_exit_code_says_so() {
        Result all = letters("redrive", "--all");
        assertThat(all.exitCode()).isEqualTo(1);
        assertThat(all.out())
                .startsWith("letter 1: rejected again: malformed: ")
                .contains("letter 2: rejected again: refused: Field value", "\nrejected again: 3 dead letters\n");
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
        Result two = letters("redrive", "1", "--file", "two.json");
        assertThat(two.exitCode()).isNotZero();
        assertThat(two.out() + two.err()).contains("and so one line");
    }

    @Test
    void purge_asks_first() {
        Result no = cli.runWithInput("n\n", "dead-letters", "trades.yaml", "purge", "--all");
        assertThat(no.exitCode()).isEqualTo(1);
        assertThat(no.err()).contains("Purge 3 dead letters for good? [y/N]", "Nothing was purged");
        Result yes = cli.runWithInput("y\n", "dead-letters", "trades.yaml", "purge", "1", "99");
        assertThat(yes.out()).isEqualTo("Purged 1 dead letter. 1 was not there.\n");
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
        Result again = letters("export", "--output", "out.ndjson");
        assertThat(again.exitCode()).isEqualTo(2);
        assertThat(again.err()).contains("There is a file out.ndjson already, perhaps with edits.");
        assertThat(Files.readAllLines(folder.resolve("out.ndjson"))).hasSize(3);
        assertThat(letters("export", "--output", "-").lines().getLast())
                .contains("\"base64\":\"" + Base64.getEncoder().encodeToString(new byte[] {-1}) + "\"")
                .doesNotContain("\"text\"");
    }

    @Test
    void an_empty_edit_or_that_of_another_letter_is_refused_and_the_record_stays() {
        cli.write("empty", "");
        Result empty = letters("redrive", "1", "--file", "empty");
        assertThat(empty.exitCode()).isEqualTo(1);
        assertThat(empty.out()).contains("letter 1: not redriven: The edit of dead letter 1 is empty");
        assertThat(letters("show", "1", "--raw").out()).isEqualTo(CUT_OFF);
        cli.write("other.json", Cli.trade("9", 1, "FX", "EMEA", "10"));
        Result other = letters("redrive", "2", "--file", "other.json");
        assertThat(other.exitCode()).isEqualTo(1);
        assertThat(other.out()).contains("the key '9', the letter's record the key '3'", "--other-key");
        assertThat(letters("redrive", "2", "--file", "other.json", "--other-key")
                        .out())
                .isEqualTo("letter 2: accepted\n");
    }

    @Test
    void an_edit_that_is_rejected_is_shown_beside_the_record_as_it_arrived() {
        cli.write("edit.json", Cli.trade("3", 1, "FX", "EMEA", "\"y\""));
        assertThat(letters("show", "2", "--edited").exitCode()).isEqualTo(1);
        Result redriven = letters("redrive", "2", "--file", "edit.json");
        assertThat(redriven.exitCode()).isEqualTo(1);
        assertThat(redriven.out())
                .startsWith("letter 2: rejected again: refused: Field value")
                .contains("'y'");
        assertThat(letters("show", "2").out()).contains("\"value\":\"x\"").doesNotContain("\"value\":\"y\"");
        assertThat(letters("show", "2", "--edited").out()).contains("\"value\":\"y\"");
        assertThat(letters("show", "2", "--edited", "--raw").out()).contains("\"value\":\"y\"");
        assertThat(letters("list").out()).containsPattern("2  refused .*  edited\n");
    }

    @Test
    void letters_are_chosen_by_reason_and_source() {
        assertThat(letters("list", "--reason", "refused").out())
                .startsWith("2  refused")
                .contains("1 of 3");
        assertThat(letters("list", "--source", "in.ndjson", "--limit", "1").out())
                .contains("--after 1");
        assertThat(letters("list", "--source", "other").out()).isEqualTo("There are no such dead letters.\n");
        Result wrong = letters("list", "--reason", "bad");
        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err()).contains("malformed, refused, too large, too old, too new, conflict");
        assertThat(letters("export", "--reason", "REFUSED", "--output", "-").lines())
                .hasSize(1);
        assertThat(letters("redrive", "--reason", "too-large").out()).isEqualTo("There are no such dead letters.\n");
        assertThat(letters("redrive", "1", "--reason", "refused").exitCode()).isEqualTo(2);
        assertThat(letters("purge", "--reason", "malformed", "--yes").out()).isEqualTo("Purged 2 dead letters.\n");
        assertThat(letters("list").out()).contains("1 of 1 dead letter.");
    }

    @Test
    void what_export_wrote_is_taken_back_edited_and_each_counts_once_however_often() throws Exception {
        letters("export", "--output", "all.ndjson");
        String all = Files.readString(folder.resolve("all.ndjson"))
                .replace("\\\"value\\\":\\\"x\\\"", "\\\"value\\\":7")
                .replace("\"v\\\":1,\"", "\"v\\\":1}\"");
        cli.write("edited.ndjson", all + "{\"id\":77,\"text\":\"{}\"}\n\nnonsense\n");
        Result first = letters("import", "edited.ndjson");
        assertThat(first.exitCode()).isEqualTo(1);
        assertThat(first.out())
                .contains(
                        "accepted: 1 dead letter\n",
                        "rejected again: 2 dead letters\n",
                        "gone: 1 dead letter\n",
                        "letter 1: rejected again: refused",
                        "line 6: not redriven: it is not a JSON object");
        assertThat(letters("import", "edited.ndjson").out()).contains("gone: 2 dead letters\n");
        assertThat(cli.run("query", "trades.yaml", "--depth", "0").out()).containsPattern("total +12.00 +2\n");
    }

    @Test
    void what_was_exported_from_other_data_edits_no_letter_that_has_the_same_number() {
        letters("export", "--output", "all.ndjson");
        cli.write("other.ndjson", "precious but broken\n");
        assertThat(cli.run("run", "trades.yaml", "--data", "other", "--input", "other.ndjson")
                        .exitCode())
                .isEqualTo(1);
        Result taken = letters("import", "all.ndjson", "--data", "other");
        assertThat(taken.exitCode()).isEqualTo(1);
        assertThat(taken.out())
                .contains("letter 1: not redriven: the file holds another record under this number (line 1)");
        assertThat(letters("show", "1", "--data", "other").out())
                .contains("other.ndjson:1", "precious but broken")
                .doesNotContain("edited");
    }

    @Test
    void a_letter_that_has_another_number_by_now_is_named_and_left_alone() {
        letters("export", "--output", "all.ndjson");
        assertThat(cli.run("rebuild", "trades.yaml", "--from-sources").exitCode())
                .isZero();
        Result taken = letters("import", "all.ndjson");
        assertThat(taken.exitCode()).isEqualTo(1);
        assertThat(taken.out()).containsPattern("letter 1: not redriven: it is letter \\d+ now. Export again.");
        assertThat(letters("list").out()).contains("3 of 3 dead letters.");
        assertThat(letters("redrive", "999").exitCode()).isEqualTo(1);
    }

    @Test
    @Tag("campaign")
    void verbs_on_many_letters_show_their_progress_on_a_terminal_and_nothing_of_it_elsewhere() {
        cli.write("many.ndjson", "garbage\n".repeat(1_200));
        assertThat(cli.run("run", "trades.yaml", "--input", "many.ndjson").exitCode())
                .as("each record was rejected")
                .isEqualTo(1);
        Cli terminal = cli.onTerminal(80);
        Result redriven = terminal.run("dead-letters", "trades.yaml", "redrive", "--all");
        assertThat(redriven.err()).contains("Redriving").contains("100%");
        assertThat(redriven.out()).startsWith("letter 1: rejected again: ").contains("rejected again: 1,203 dead");
        letters("export", "--output", "many.json");
        Result taken = terminal.run("dead-letters", "trades.yaml", "import", "many.json");
        assertThat(taken.err()).contains("Redriving").contains("100%");
        assertThat(letters("redrive", "--reason", "malformed").err()).isEmpty();
        Result purged = terminal.run("dead-letters", "trades.yaml", "purge", "--all", "--yes");
        assertThat(purged.err()).contains("Purging").contains("100%");
        assertThat(purged.out()).isEqualTo("Purged 1,203 dead letters.\n");
    }

    @Test
    void a_reason_is_written_in_one_way_in_text_and_in_json() {
        assertThat(letters("list").out()).contains("2  refused  ");
        assertThat(letters("list", "--format", "json").out())
                .contains("\"reason\":\"refused\"", "\"reason\":\"malformed\"", "\"content\":\"record\"");
        assertThat(letters("export", "--output", "-").out()).contains("\"reason\":\"refused\"");
        assertThat(cli.run("status", "trades.yaml", "--format", "json").out()).contains("\"refused\":1");
        assertThat(cli.run("status", "trades.yaml").out()).containsPattern("  refused +1\n");
    }

    @Test
    void a_purge_of_nothing_is_no_success() {
        Result nothing = letters("purge", "77", "--yes");
        assertThat(nothing.exitCode()).isEqualTo(1);
        assertThat(nothing.out()).isEqualTo("Purged 0 dead letters. 1 was not there.\n");
        Result unanswered = cli.runWithInput("", "dead-letters", "trades.yaml", "purge", "1");
        assertThat(unanswered.err()).contains("[y/N] \n");
    }

    @Test
    void get_says_that_a_newer_version_was_refused_and_waits() {
        cli.write("more.ndjson", Cli.trade("1", 2, "FX", "EMEA", "\"5,00\""));
        cli.run("run", "trades.yaml", "--input", "more.ndjson");
        assertThat(cli.run("get", "trades.yaml", "1").out())
                .containsPattern("waits +version 2 of this key: newer, rejected, dead letter 4\n");
        assertThat(cli.run("get", "trades.yaml", "1", "--format", "json").out()).contains("\"newer\":true");
        assertThat(cli.run("get", "trades.yaml", "3").err())
                .contains("was never accepted. Dead letter 2 is a record of it that was rejected.");
    }

    @Test
    void redriven_records_are_no_further_ones() {
        letters("redrive", "--all");
        cli.write("none.ndjson", "");
        assertThat(cli.run("run", "trades.yaml", "--input", "none.ndjson").out())
                .contains("of 4 records in all");
    }

    @Test
    void the_pipeline_comes_first_and_the_message_says_so() {
        Result result = cli.run("dead-letters", "list");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).containsPattern("PIPELINE\\s+\\[COMMAND]");
    }
}
