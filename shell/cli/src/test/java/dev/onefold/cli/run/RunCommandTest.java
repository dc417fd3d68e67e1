package dev.onefold.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.ZstdOutputStream;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunCommandTest {
    private static final String ONE = Cli.trade("1", 1, "FX", "EMEA", "1");
    private static final String TWO = Cli.trade("2", 1, "FX", "EMEA", "2");
    private static final String FOUR = Cli.trade("4", 1, "FX", "EMEA", "4");

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void writePipeline() {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
    }

    private String total() {
        return cli.run("query", "trades.yaml", "--depth", "0", "--format", "csv")
                .lines()
                .getLast();
    }

    private Result run(String... inputs) {
        String[] arguments = {"run", "trades.yaml", "--input"};
        String[] all = Arrays.copyOf(arguments, arguments.length + inputs.length);
        System.arraycopy(inputs, 0, all, arguments.length, inputs.length);
        return cli.run(all);
    }

    @Test
    void several_files_are_folded_the_last_line_needs_no_end() {
        cli.write("1", ONE + TWO.strip());
        cli.write("2", FOUR);
        Result result = run("1", "2");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out())
                .contains("Folded 3 records", "Durable in onefold-data/trades: 3 rows of 3 records in all.");
        assertThat(total()).isEqualTo("0,,,7.00,3");
    }

    @Test
    void an_empty_source_or_folder_and_a_link_to_nowhere_are_named_as_what_they_are() throws IOException {
        Result source = cli.runWithInput(ONE, "run", "trades.yaml", "--input", "-", "--source", "", "--from", "1");
        assertThat(source.exitCode()).isEqualTo(2);
        assertThat(source.err()).contains("--source is empty");
        cli.write("1", ONE);
        assertThat(cli.run("run", "trades.yaml", "--input", "1", "--data", "").err())
                .contains("--data is empty");
        Files.createSymbolicLink(folder.resolve("link"), Path.of("nowhere"));
        Result link = cli.run("run", "trades.yaml", "--input", "1", "--data", "link");
        assertThat(link.exitCode()).isEqualTo(2);
        assertThat(link.err()).contains("link is a symbolic link to something that is not there");
        assertThat(folder.resolve("nowhere")).doesNotExist();
    }

    @Test
    void rejected_records_are_summed_up_by_reason_with_an_example_and_fail_the_run_on_request() {
        cli.write("typo.yaml", Cli.TRADES.replace("key: id", "key: Id").replace("pipeline: trades", "pipeline: typo"));
        cli.write("in", ONE + TWO + "{\"Id\":3,\"v\":\"x\"}\n{\"Id\":4,\"v\":\"y\"}\n{\n" + FOUR);
        Result result = cli.run("run", "typo.yaml", "--input", "in");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.out()).contains("""
                Commonest reasons:
                  3 x Field Id is missing; it is part of the key; the record has id, v, desk, region, value.
                    First: in:1, dead letter 1.
                  2 x Field v is 'x', which is not an integer; it is the version.
                    First: in:3, dead letter 3.
                  1 x\s""");
        cli.write("more", ONE.replace("1", "7"));
        Result failed = cli.run("run", "typo.yaml", "--input", "more", "--fail-on-rejected");
        assertThat(failed.exitCode()).isEqualTo(1);
        assertThat(failed.out()).contains("  1 x Field Id is missing").doesNotContain("3 x", "2 x");
        assertThat(run("more", "--fail-on-rejected").exitCode()).isZero();
    }

    @Test
    void a_run_names_what_was_silent_and_fails_if_all_changes_are_of_other_tables() {
        cli.write("log.yaml", """
                pipeline: log
                input: {format: debezium, table: public.orders, key: id}
                rollup: {levels: [], measures: {n: count()}}
                """);
        String change = "{\"op\":\"u\",\"after\":{\"id\":1},\"source\":{\"schema\":\"%s\",\"table\":\"%s\","
                + "\"lsn\":1,\"sequence\":\"[null,\\\"1\\\"]\"}}\n";
        cli.write("old", change.formatted("public", "crew").repeat(1_200) + "null\n");
        Result result = cli.run("run", "log.yaml", "--input", "old");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err())
                .contains("of old have no change of the table that the pipeline file names (table: public.orders),"
                        + " but changes of public.crew. Folding goes on.");
        assertThat(result.out())
                .contains("silent               1,201", "    of public.crew     1,200", "    tombstone              1")
                .contains("There is no change of the table that the pipeline file names (table: public.orders)");
        assertThat(cli.run("status", "log.yaml").out())
                .containsPattern("\n  silent +1,201\n    of public.crew +1,200\n    tombstone +1\n");
        StringBuilder many = new StringBuilder(change.formatted("public", "orders"));
        for (int i = 0; i < 20; i++) {
            many.append(change.formatted("public", "orders_" + i));
        }
        cli.write("new", many.toString());
        Result good = cli.run("run", "log.yaml", "--input", "old", "new");
        assertThat(good.exitCode()).isZero();
        assertThat(good.out()).contains("accepted", "    of public.orders_3", "    of further tables");
    }

    @Test
    void a_source_of_which_each_record_is_rejected_fails_the_run_and_is_named_while_it_is_read() {
        cli.write("good", ONE + TWO);
        cli.write("bad", "{\"Id\":1}\n".repeat(120));
        Result result = run("good", "bad");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err())
                .contains("Of the first 120 records of bad not one was accepted.")
                .contains("Every record of bad was rejected: 120.")
                .doesNotContain("of good");
        assertThat(run("good", "bad").exitCode()).as("nothing is new").isZero();
        cli.append("bad", ONE + "{\"Id\":1}\n");
        assertThat(run("bad").exitCode()).as("one is accepted, or known").isZero();
        Result input = cli.runWithInput("{\"Id\":1}\n", "run", "trades.yaml", "--input", "-");
        assertThat(input.exitCode()).isEqualTo(1);
        assertThat(input.err()).contains("Every record of standard input was rejected: 1.");
    }

    @Test
    void a_file_whose_header_is_refused_leaves_no_lag() {
        cli.write(
                "csv.yaml",
                Cli.TRADES.replace("input:", "input:\n  format: csv").replace("pipeline: trades", "pipeline: c"));
        cli.write("in", ONE + TWO);
        assertThat(cli.run("run", "csv.yaml", "--input", "in").exitCode()).isEqualTo(1);
        assertThat(cli.run("status", "csv.yaml").out()).containsPattern("lag +0 ");
    }

    @Test
    void the_numbers_of_records_are_those_of_the_file_without_its_header_also_after_redrives_and_refused_files() {
        cli.write(
                "csv.yaml",
                "pipeline: csv\ninput: {format: csv, id: id}\nrollup: {levels: [], measures: {s: 'sum(x) decimal(9,2)'}}\n");
        cli.write("other.csv", "no,columns\n1,2\n");
        assertThat(cli.run("run", "csv.yaml", "-i", "other.csv").exitCode()).isEqualTo(1);
        cli.write("in.csv", "id,x\n1,1\n2,2\n3,three\n1,1\n");
        assertThat(cli.run("run", "csv.yaml", "-i", "in.csv").out())
                .contains("Folded 4 records", "2 rows of 4 records in all.");
        cli.write("edit", "3,3\n");
        assertThat(cli.run("dead-letters", "csv.yaml", "redrive", "1", "--file", "edit")
                        .exitCode())
                .isZero();
        assertThat(cli.run("query", "csv.yaml").out()).contains("with 4 lines of 1 source", "in.csv: 4 lines");
        assertThat(cli.run("run", "csv.yaml", "-i", "in.csv").err()).contains("in.csv is folded already.");
        assertThat(cli.run("run", "csv.yaml", "-i", "in.csv").out()).contains("3 rows of 4 records in all.");
    }

    @Test
    void lines_of_a_source_are_no_records_where_a_record_may_have_several() {
        String file =
                "pipeline: csv\ninput: {format: csv, id: id}\nrollup: {levels: [], measures: {s: 'sum(x) decimal(9,2)'}}\n";
        cli.write("csv.yaml", file);
        cli.write("in.csv", "id,x\n\"1\n2\",1\n2,2\n");
        assertThat(cli.run("run", "csv.yaml", "-i", "in.csv").out()).contains("2 rows of 2 records in all.");
        assertThat(cli.run("query", "csv.yaml").out()).contains("with 3 lines of 1 source", "in.csv: 3 lines");
        cli.write(
                "plain.yaml",
                file.replace("format: csv", "format: csv, quote: none").replace(": csv\n", ": plain\n"));
        cli.write("plain.csv", "id,x\n1,1\n");
        assertThat(cli.run("run", "plain.yaml", "-i", "plain.csv").exitCode()).isZero();
        assertThat(cli.run("query", "plain.yaml").out()).contains("with 1 record of 1 source");
    }

    @Test
    void compressed_files_are_known_by_their_names_with_all_their_members() throws Exception {
        ByteArrayOutputStream gzip = new ByteArrayOutputStream();
        for (String member : new String[] {ONE, TWO}) {
            try (OutputStream out = new GZIPOutputStream(gzip)) {
                out.write(member.getBytes(StandardCharsets.UTF_8));
            }
        }
        Files.write(folder.resolve("a.gz"), gzip.toByteArray());
        try (OutputStream out = new ZstdOutputStream(Files.newOutputStream(folder.resolve("b.zst")))) {
            out.write(FOUR.getBytes(StandardCharsets.UTF_8));
        }
        Result result = run("a.gz", "b.zst");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(total()).isEqualTo("0,,,7.00,3");
    }

    @Test
    void a_compressed_file_that_is_cut_off_is_refused_by_name() throws Exception {
        ByteArrayOutputStream gzip = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(gzip)) {
            out.write(ONE.repeat(100).getBytes(StandardCharsets.UTF_8));
        }
        Files.write(folder.resolve("a.gz"), Arrays.copyOf(gzip.toByteArray(), gzip.size() / 2));
        Result result = run("a.gz");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err())
                .contains("a.gz", "cannot be read: its end is missing")
                .doesNotContain("\tat ");
        for (String empty : List.of("empty.gz", "empty.zst")) {
            cli.write(empty, "");
            assertThat(run(empty).err())
                    .contains(empty + " cannot be read: it is empty, and so is no compressed file.");
        }
        try (OutputStream out = new ZstdOutputStream(Files.newOutputStream(folder.resolve("whole")))) {
            out.write(ONE.repeat(100).getBytes(StandardCharsets.UTF_8));
        }
        byte[] whole = Files.readAllBytes(folder.resolve("whole"));
        Files.write(folder.resolve("b.zst"), Arrays.copyOf(whole, whole.length / 2));
        assertThat(run("b.zst").err()).contains("b.zst cannot be read: its end is missing");
    }

    @Test
    void a_file_is_not_folded_twice_also_under_another_name() throws Exception {
        cli.write("1", ONE + TWO);
        run("1");
        assertThat(run("1").err()).contains("1 is folded already.");
        Files.copy(folder.resolve("1"), folder.resolve("copy"));
        Result copy = run("copy");
        assertThat(copy.exitCode()).isZero();
        assertThat(copy.err()).contains("copy is folded already, as 1.");
        assertThat(total()).isEqualTo("0,,,3.00,2");
    }

    @Test
    void where_lines_count_by_place_a_file_that_begins_as_another_one_is_folded_on_request_only() {
        cli.write("places.yaml", "pipeline: places\ninput: {}\nrollup: {levels: [], measures: {n: count()}}\n");
        cli.write("1", ONE);
        cli.write("2", ONE + TWO);
        assertThat(cli.run("run", "places.yaml", "--input", "1").exitCode()).isZero();
        Result doubtful = cli.run("run", "places.yaml", "--input", "2");
        assertThat(doubtful.exitCode()).isEqualTo(1);
        assertThat(doubtful.err()).contains("begins with all that was folded as " + folder.resolve("1"), "--separate");
        assertThat(cli.run("run", "places.yaml", "--input", "2", "--separate").exitCode())
                .isZero();
        assertThat(cli.run("query", "places.yaml", "--format", "csv").out()).endsWith("0,3\n");
        assertThat(cli.run("verify", "places.yaml", "--from-sources").exitCode())
                .isZero();
    }

    @Test
    void where_lines_count_by_place_an_equal_file_is_refused_until_it_is_a_copy_or_a_file_of_its_own() {
        cli.write("places.yaml", "pipeline: places\ninput: {}\nrollup: {levels: [], measures: {n: count()}}\n");
        cli.write("hour-1", ONE);
        cli.write("hour-2", ONE);
        Result doubtful = cli.run("run", "places.yaml", "--input", "hour-1", "hour-2");
        assertThat(doubtful.exitCode()).isEqualTo(1);
        assertThat(doubtful.err())
                .contains("Input hour-2 has the same content as hour-1")
                .contains("--copy", "--separate");
        Result copy = cli.run("run", "places.yaml", "--input", "hour-1", "hour-2", "--copy");
        assertThat(copy.exitCode()).isZero();
        assertThat(copy.err()).contains("hour-2 is folded already, as hour-1.");
        assertThat(cli.run("query", "places.yaml", "--format", "csv").out()).endsWith("0,1\n");
        assertThat(cli.run("run", "places.yaml", "--input", "hour-1", "hour-2", "--separate")
                        .exitCode())
                .isZero();
        assertThat(cli.run("query", "places.yaml", "--format", "csv").out()).endsWith("0,2\n");
        assertThat(cli.run("run", "places.yaml", "--input", "hour-2").exitCode())
                .isZero();
        assertThat(cli.run("run", "places.yaml", "--input", "hour-2", "--copy", "--separate")
                        .exitCode())
                .isEqualTo(2);
    }

    @Test
    void a_file_that_has_grown_goes_on_and_one_that_was_cut_or_changed_is_refused() {
        cli.write("1", ONE);
        run("1");
        cli.append("1", TWO);
        assertThat(run("1").out()).contains("Folded 1 record");
        cli.write("1", ONE);
        Result cut = run("1");
        assertThat(cut.exitCode()).isEqualTo(1);
        assertThat(cut.err()).contains(folder.resolve("1").toString());
        cli.write("1", TWO + ONE);
        assertThat(run("1").exitCode()).isEqualTo(1);
        assertThat(total()).isEqualTo("0,,,3.00,2");
    }

    @Test
    void what_cannot_be_read_is_refused_before_a_directory_is_made() {
        assertThat(run("missing").exitCode()).isEqualTo(2);
        assertThat(run("missing").err()).contains("no input file missing");
        assertThat(run("kafka://localhost:9092/trades").err())
                .contains("input: from: {kafka: {topic: trades, servers: \"localhost:9092\"}}", "check FILE --connect");
        assertThat(run(".").err()).contains("not a file that can be read again", "with --input -.");
        assertThat(folder.resolve("onefold-data")).doesNotExist();
    }

    @Test
    void under_a_horizon_a_file_is_refused_before_a_directory_is_made_and_standard_input_is_taken() {
        cli.write("timed.yaml", """
                pipeline: timed
                input: {id: id, time: at, horizon: 7d}
                rollup: {levels: [], measures: {n: count()}}
                """);
        assertThat(cli.run("check", "timed.yaml").out().replace("\n", " "))
                .contains("A record is too old if its time is more than 7 days before its arrival")
                .contains("An id is forgotten a day after the horizon")
                .contains("Files have no arrival");
        cli.write("1", "{}\n");
        Result file = cli.run("run", "timed.yaml", "--input", "1");
        assertThat(file.exitCode()).isEqualTo(2);
        assertThat(file.err()).contains("has a horizon", "a line of the file 1 has no arrival", "standard input");
        assertThat(folder.resolve("onefold-data")).doesNotExist();
        String record = "{\"id\":1,\"at\":\"" + Instant.now() + "\"}\n";
        Result lines = cli.runWithInput(record, "run", "timed.yaml", "--input", "-");
        assertThat(lines.exitCode()).as(lines.err()).isZero();
        assertThat(lines.out()).contains("Folded 1 record");
        cli.write("short.yaml", """
                pipeline: timed
                input: {id: id, time: at, horizon: 1s}
                rollup: {levels: [], measures: {n: count()}}
                """);
        assertThat(cli.run("check", "short.yaml").err())
                .contains("input.horizon: '1s' is shorter than a day", "write a horizon from 1d to 36500d");
    }

    @Test
    void standard_input_is_acknowledged_line_by_line_number() {
        Result result = cli.runWithInput(
                ONE + TWO + FOUR, "run", "trades.yaml", "--input", "-", "--acknowledge", "--progress", "none");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.lines().getLast()).isEqualTo("3");
        assertThat(result.out()).matches("([0-9]+\n)+");
        assertThat(result.err()).contains("Folded 3 records");
        assertThat(total()).isEqualTo("0,,,7.00,3");
    }

    @Test
    void a_source_goes_on_where_it_was_and_a_gap_is_refused() {
        assertThat(send(ONE + TWO, 1).lines().getLast()).isEqualTo("2");
        assertThat(send(TWO + FOUR, 2).lines().getLast()).isEqualTo("3");
        assertThat(send(ONE + TWO + FOUR, 1).out()).isEqualTo("3\n");
        Result gap = send(FOUR, 6);
        assertThat(gap.exitCode()).isEqualTo(1);
        assertThat(gap.err()).contains("p1", "3", "line 4");
        assertThat(total()).isEqualTo("0,,,7.00,3");
    }

    private Result send(String lines, long from) {
        return send(lines.getBytes(StandardCharsets.UTF_8), from);
    }

    private Result send(byte[] lines, long from) {
        return cli.run(
                new ByteArrayInputStream(lines),
                "run",
                "trades.yaml",
                "--input",
                "-",
                "--acknowledge",
                "--source",
                "p1",
                "--from",
                String.valueOf(from));
    }

    @Test
    void a_last_line_without_end_is_taken_unless_lines_are_counted() {
        assertThat(cli.runWithInput(ONE.strip(), "run", "trades.yaml", "--input", "-")
                        .exitCode())
                .isZero();
        assertThat(total()).isEqualTo("0,,,1.00,1");
        Result counted = send(TWO + FOUR.substring(0, 20), 1);
        assertThat(counted.exitCode()).isEqualTo(1);
        assertThat(counted.out()).isEqualTo("1\n");
        assertThat(counted.err()).contains("20 bytes are not taken");
        assertThat(send(FOUR, 2).exitCode()).isZero();
        assertThat(total()).isEqualTo("0,,,7.00,3");
    }

    @Test
    void a_line_over_the_limit_is_a_dead_letter_of_its_place_and_the_others_go_on() {
        byte[] big = new byte[11 * 1024 * 1024];
        Arrays.fill(big, (byte) 'x');
        byte[] input = (ONE + new String(big, StandardCharsets.US_ASCII) + "\n" + TWO).getBytes(StandardCharsets.UTF_8);
        Result result = send(input, 1);
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.lines().getLast()).isEqualTo("3");
        assertThat(total()).isEqualTo("0,,,3.00,2");
        assertThat(cli.run("dead-letters", "trades.yaml", "list", "--format", "json")
                        .out())
                .contains("\"bytes\":" + big.length, "\"kept\":false", "\"line\":2", "\"offset\":" + ONE.length());
        assertThat(cli.run("dead-letters", "trades.yaml", "show", "1", "--raw").exitCode())
                .isEqualTo(1);
        assertThat(cli.run("dead-letters", "trades.yaml", "show", "1").out()).contains("not kept");
        assertThat(cli.run("dead-letters", "trades.yaml", "redrive", "1").exitCode())
                .isEqualTo(1);
        assertThat(cli.run("dead-letters", "trades.yaml", "export", "--output", "-")
                        .out())
                .contains("\"kept\":false");
    }

    @Test
    void settings_are_taken_and_none_changes_an_answer() {
        cli.write("1", ONE + TWO + FOUR);
        Result result = cli.run(
                "run",
                "trades.yaml",
                "--shards",
                "3",
                "--threads",
                "1",
                "--checkpoint-interval",
                "200ms",
                "--state-memory",
                "256m",
                "--keep-journal",
                "--progress",
                "ticks",
                "--input",
                "1");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err()).containsPattern("(?m)^\\d+ \\d+ 3$");
        assertThat(total()).isEqualTo("0,,,7.00,3");
        assertThat(cli.run("run", "trades.yaml", "--shards", "0", "--input", "1")
                        .exitCode())
                .isEqualTo(2);
        assertThat(cli.run("run", "trades.yaml", "--state-memory", "lots", "--input", "1")
                        .err())
                .contains("8g");
        assertThat(cli.run("run", "trades.yaml", "--checkpoint-interval", "1", "--input", "1")
                        .err())
                .contains("500ms");
    }

    @Test
    void options_that_do_not_go_together_are_refused_with_the_reason() {
        cli.write("1", ONE);
        assertThat(run("-", "1").err()).contains("comes last");
        assertThat(cli.run("run", "trades.yaml", "--input", "1", "--acknowledge")
                        .err())
                .contains("--input -");
        assertThat(cli.run("run", "trades.yaml", "--input", "-", "--source", "x")
                        .err())
                .contains("--from");
        assertThat(cli.run("run", "trades.yaml", "--input", "-", "--source", "x", "--from", "0")
                        .exitCode())
                .isEqualTo(2);
        assertThat(cli.run("run", "trades.yaml", "--input", "-", "--follow").exitCode())
                .isEqualTo(2);
        assertThat(cli.run("run", "trades.yaml", "--input", "1", "--forget-rotated")
                        .exitCode())
                .isEqualTo(2);
        assertThat(cli.run("run", "trades.yaml").err()).contains("--input");
        cli.write("1.gz", ONE);
        assertThat(cli.run("run", "trades.yaml", "--input", "1.gz", "--follow").exitCode())
                .isEqualTo(2);
    }
}
