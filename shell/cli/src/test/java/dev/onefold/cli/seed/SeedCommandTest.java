package dev.onefold.cli.seed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PlaceOptions;
import dev.onefold.cli.data.PlacedPipeline;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class SeedCommandTest {
    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void write() {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
    }

    private Result done(String... arguments) {
        Result result = cli.run(arguments);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result;
    }

    private String total() {
        return done("query", "trades.yaml", "--depth", "0", "--format", "csv")
                .lines()
                .get(1);
    }

    private static String rows(int from, int to, int version) {
        return IntStream.range(from, to)
                .mapToObj(i -> Cli.trade("t" + i, version, "FX", "EMEA", "1.50"))
                .collect(Collectors.joining());
    }

    private static String change(String log, long lsn, String id, String town) {
        return ("{\"op\":\"c\",\"after\":{\"id\":\"%1$s\",\"town\":\"%2$s\"},\"source\":{\"table\":\"t\",\"name\":\"%3$s\","
                        + "\"lsn\":%4$d,\"sequence\":\"[\\\"0\\\",\\\"%4$d\\\"]\"}}\n")
                .formatted(id, town, log, lsn);
    }

    @Test
    void rows_of_a_table_are_below_the_changes_of_its_latest_log_and_above_those_of_earlier_ones() {
        cli.write("towns.yaml", """
                pipeline: towns
                input: {format: debezium, table: t, key: id, logs: [grid, grid-2]}
                rollup: {levels: [town], measures: {n: count()}}
                """);
        cli.write("live.ndjson", change("grid", 900, "a", "Old") + change("grid-2", 3, "b", "New"));
        done("run", "towns.yaml", "--input", "live.ndjson");
        cli.write(
                "rows.ndjson",
                "{\"id\":\"a\",\"town\":\"Row\"}\n{\"id\":\"b\",\"town\":\"Row\"}\n{\"id\":\"c\",\"town\":\"Row\"}\n");
        Result seeded = done("seed", "towns.yaml", "--from", "rows.ndjson");
        assertThat(seeded.out()).contains("  new                      2", "  newer live               1");
        assertThat(done("query", "towns.yaml", "--format", "csv").out()).contains("New,1", "Row,2");
        assertThat(done("get", "towns.yaml", "a").out()).containsPattern("1/0/[0-9]{13}");
    }

    @Test
    void a_seeding_whose_rows_are_not_in_the_data_directory_is_not_continued() throws IOException {
        cli.write("rows.ndjson", rows(0, 10, 1));
        done("seed", "trades.yaml", "--from", "rows.ndjson", "--dry-run");
        done("seed", "trades.yaml", "--from", "rows.ndjson");
        Path seeds = folder.resolve("onefold-data/trades/seeds");
        Path last;
        try (Stream<Path> files = Files.list(seeds)) {
            last = files.filter(file -> file.toString().endsWith(".json"))
                    .findFirst()
                    .orElseThrow();
        }
        String interrupted = Files.readString(last)
                .replace("\"done\"", "\"running\"")
                .replace("\"marks\":{}", "\"marks\":{\"0\":\"end\"}");
        Files.writeString(seeds.resolve("7.json"), interrupted); // Of a directory that was here before.
        Files.writeString(seeds.resolve("7.lock"), "");
        Files.delete(last);
        Result again = done("seed", "trades.yaml", "--from", "rows.ndjson");
        assertThat(again.err()).doesNotContain("Goes on");
        assertThat(again.out()).contains("  already there           10");
    }

    @Test
    void a_seeding_that_is_stopped_does_not_end_as_if_all_rows_were_in() throws IOException {
        cli.write("rows.ndjson", rows(0, 10, 1));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        StopRequest terminated = new StopRequest();
        terminated.make(ExitCode.DONE); // As SIGTERM does.
        PlaceOptions place = new PlaceOptions();
        PlacedPipeline pipeline =
                new PlacedPipeline(cli.caller(InputStream.nullInputStream(), out, out), place, (_, _, _) -> {
                    throw new AssertionError("It is not deployed");
                });
        SeedCommand seed = new SeedCommand(pipeline, place, terminated, false);
        assertThat(new CommandLine(seed).execute("trades.yaml", "--from", "rows.ndjson"))
                .isEqualTo(1);
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("Stopped. The same command goes on there.");
        done("seed", "trades.yaml", "--from", "rows.ndjson");
        assertThat(total()).endsWith("15.00,10");
    }

    @Test
    void rows_of_a_file_count_before_and_after_live_records_and_any_number_of_times() throws IOException {
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(folder.resolve("rows.ndjson.gz")))) {
            out.write(rows(0, 10, 1).getBytes(StandardCharsets.UTF_8));
        }
        Result first = done("seed", "trades.yaml", "--from", "rows.ndjson.gz");
        assertThat(first.out()).contains("Seeded 10 rows", "  new                     10");
        assertThat(first.err()).contains("Seeds trades from rows.ndjson.gz: ");
        assertThat(total()).endsWith("15.00,10");
        cli.write("live.ndjson", rows(8, 12, 2) + "{\"id\":\"t0\",\"v\":2,\"gone\":\"true\"}\n");
        done("run", "trades.yaml", "--input", "live.ndjson");
        Result again = done("seed", "trades", "--from", "file:rows.ndjson.gz");
        assertThat(again.out()).contains("  already there            7", "  newer live               3");
        assertThat(total()).endsWith("16.50,11");
    }

    @Test
    void a_csv_file_is_read_by_a_pipeline_of_json() {
        cli.write("rows.csv", "id,v,desk,region,value\nt1,1,FX,\"EM\"\"EA\",1.50\nt2,1,FX,APAC,2\n");
        done("seed", "trades.yaml", "--from", "rows.csv");
        assertThat(done("query", "trades.yaml", "--format", "csv").out()).contains("FX,\"EM\"\"EA\",1.50,1");
        assertThat(total()).endsWith("3.50,2");
    }

    @Test
    void a_file_that_does_not_hold_one_row_a_line_is_refused_with_the_way_out() {
        cli.write("rows.json", "[\n{\"id\":1},\n{\"id\":2}\n]\n");
        Cli.Result array = cli.run("seed", "trades.yaml", "--from", "rows.json");
        assertThat(array.exitCode()).isEqualTo(1);
        assertThat(array.err()).contains("rows.json holds an array of JSON objects", "jq -c '.[]' FILE > NEW");
        cli.write("rows.json", "{\n\"id\":1}\n{\"id\":2}\n");
        assertThat(cli.run("seed", "trades.yaml", "--from", "rows.json").err()).contains("jq -c . FILE > NEW");
    }

    @Test
    void a_csv_file_is_read_by_a_pipeline_of_csv_as_it_is() {
        cli.write("csv.yaml", Cli.TRADES.replace("trades\ninput:", "csv\ninput:\n  format: csv"));
        cli.write("rows.csv", "value,id,v,desk,region,gone\n1.50,t1,1,FX,EMEA,\n");
        done("seed", "csv.yaml", "--from", "rows.csv");
        assertThat(done("query", "csv.yaml", "--depth", "0", "--format", "csv").out())
                .contains("1.50,1");
        cli.write("less.csv", "value,id,v\n1.50,t1,1\n");
        assertThat(cli.run("seed", "csv.yaml", "--from", "less.csv").err())
                .contains("cannot read the rows: The header, the first line of the source, has no column");
        cli.write("rows.ndjson", rows(0, 1, 1));
        assertThat(cli.run("seed", "csv.yaml", "--from", "rows.ndjson").err()).contains("reads CSV");
    }

    @Test
    void while_an_engine_runs_the_rows_go_through_its_socket() {
        cli.write("rows.ndjson", rows(0, 5, 1) + "garbage\n");
        cli.write("empty.ndjson", "");
        done("run", "trades.yaml", "--input", "empty.ndjson");
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("onefold-data/trades"), Settings.defaults())) {
            Result result = cli.run("seed", "trades.yaml", "--from", "rows.ndjson", "--fail-on-rejected");
            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.out())
                    .contains(
                            "  new                      5", "  rejected                 1", "dead-letters trades list");
            assertThat(engine.counts().accepted()).isEqualTo(5);
        }
    }

    @Test
    @Tag("campaign")
    void a_bad_first_row_refuses_no_seeding_of_a_few_rows_a_second() {
        cli.write("rows.ndjson", "garbage\n" + rows(0, 2, 1));
        assertThat(done("seed", "trades.yaml", "--from", "rows.ndjson", "--rate", "1")
                        .out())
                .contains("  new                      2", "  rejected                 1");
    }

    /// Nobody can be asked: the second look at the directory says why, and not for ever.
    @Test
    void a_seeding_whose_owner_ends_and_whose_directory_cannot_be_opened_ends_with_the_reason() throws Exception {
        cli.write("rows.ndjson", rows(0, 60_000, 1));
        cli.write("empty.ndjson", "");
        done("run", "trades.yaml", "--input", "empty.ndjson");
        Path data = folder.resolve("onefold-data/trades");
        Path aside = folder.resolve("aside");
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(data, Settings.defaults().withCheckpointInterval(Duration.ofHours(1)))) {
            CompletableFuture<Result> seeding =
                    CompletableFuture.supplyAsync(() -> cli.run("seed", "trades.yaml", "--from", "rows.ndjson"));
            while (engine.counts().accepted() == 0 && !seeding.isDone()) {
                Thread.onSpinWait();
            }
            Files.move(data, aside);
            Files.createDirectory(data);
            Path strange = cli.write("onefold-data/trades/strange", "x");
            Result result = seeding.get(50, TimeUnit.SECONDS);
            assertThat(result.exitCode()).as(result.err()).isEqualTo(3);
            Files.delete(strange);
            Files.delete(data);
            Files.move(aside, data);
        }
    }

    /// Two seedings at once are this: the first one owns the directory, and ends.
    @Test
    void a_seeding_goes_on_when_the_process_that_owned_the_directory_ends() {
        cli.write("rows.ndjson", rows(0, 60_000, 1));
        cli.write("empty.ndjson", "");
        done("run", "trades.yaml", "--input", "empty.ndjson");
        CompletableFuture<Result> seeding;
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("onefold-data/trades"), Settings.defaults())) {
            seeding = CompletableFuture.supplyAsync(() -> cli.run("seed", "trades.yaml", "--from", "rows.ndjson"));
            while (engine.counts().accepted() == 0 && !seeding.isDone()) {
                Thread.onSpinWait();
            }
        }
        Result result = seeding.join();
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err())
                .contains("The process that owned the data directory has ended. The seeding goes on without it.");
        assertThat(total()).isEqualTo("0,,,90000.00,60000");
    }

    @Test
    void a_dry_run_says_what_would_be_read_and_makes_nothing() {
        cli.write("rows.ndjson", rows(0, 5, 1));
        assertThat(done("seed", "trades.yaml", "--from", "rows.ndjson", "--dry-run")
                        .err())
                .contains("Seeds trades from rows.ndjson: ");
        assertThat(folder.resolve("onefold-data")).doesNotExist();
    }

    @Test
    void what_cannot_be_exact_or_read_is_refused_with_the_reason() {
        cli.write("rows.ndjson", "{\"restaurant\":\"r1\"}\n".repeat(300));
        Result unreadable = cli.run("seed", "trades.yaml", "--from", "rows.ndjson");
        assertThat(unreadable.exitCode()).isEqualTo(1);
        assertThat(unreadable.err()).contains("of the first 100 not one is a record", "id");
        assertThat(done("dead-letters", "trades.yaml", "list").out()).contains("There are no dead letters");

        cli.write(
                "sums.yaml",
                "pipeline: sums\ninput: {format: json}\nrollup:\n  levels: [desk]\n  measures:\n    n: count()\n");
        assertThat(cli.run("seed", "sums.yaml", "--from", "rows.ndjson").err())
                .contains("has neither a version nor an id");
        for (String forget : List.of("after-delivery", "30d")) {
            cli.write("burst.yaml", """
                    pipeline: burst
                    input: {format: json, id: id}
                    batch: {size: 2, deliver: {file: "{number}.ndjson"}, forget: %s}
                    """.formatted(forget));
            assertThat(cli.run("seed", "burst.yaml", "--from", "rows.ndjson").err())
                    .contains("Pipeline burst forgets ids");
        }
        assertThat(cli.run("seed", "trades.yaml", "--from", "rows.ndjson", "--slot", "a")
                        .err())
                .contains("--slot is for a database");
        assertThat(cli.run("seed", "trades.yaml", "--from", "nowhere.ndjson").err())
                .contains("There is no input file nowhere.ndjson");
        assertThat(cli.run("seed", "trades.yaml", "--from", "rows.ndjson", "--query", "x")
                        .err())
                .contains("--query and a database in --from go together");
        assertThat(cli.run("seed", "trades.yaml", "--from", "rows.ndjson", "--no-stream")
                        .err())
                .contains("--no-stream is for dynamodb:, export: and a database");
        assertThat(cli.run("seed", "trades.yaml", "--from", "rows.ndjson", "--rate", "0")
                        .err())
                .contains("--rate is 1 or more");
    }

    @Test
    void rows_without_a_version_are_below_every_change_of_the_log_that_the_pipeline_reads() {
        cli.write("log.yaml", """
                pipeline: log
                input: {format: debezium, table: t, key: id}
                rollup:
                  levels: [desk]
                  measures: {n: count()}
                """);
        cli.write("rows.ndjson", "{\"id\":1,\"desk\":\"FX\"}\n{\"id\":2,\"desk\":\"FX\"}\n");
        cli.write(
                "live.ndjson",
                "{\"op\":\"d\",\"before\":{\"id\":2,\"desk\":\"FX\"},\"source\":{\"table\":\"t\","
                        + "\"lsn\":7,\"sequence\":\"[\\\"0\\\",\\\"7\\\"]\"}}\n");
        done("run", "log.yaml", "--input", "live.ndjson");
        assertThat(done("seed", "log.yaml", "--from", "rows.ndjson").out()).contains("  newer live               1");
        assertThat(done("get", "log", "1").out()).containsPattern("0/0/[0-9]{13}");
        assertThat(done("seed", "log.yaml", "--from", "rows.ndjson").out()).contains("  new                      1");
        assertThat(done("query", "log", "--format", "csv").out()).contains("FX,1");

        cli.write("stream.yaml", """
                pipeline: stream
                input: {format: dynamodb-stream, key: id}
                rollup:
                  levels: [desk]
                  measures: {n: count()}
                """);
        assertThat(cli.run("seed", "stream.yaml", "--from", "rows.ndjson").err())
                .contains("nothing says in which one: give its ARN with --stream");
        done(
                "seed",
                "stream.yaml",
                "--from",
                "rows.ndjson",
                "--stream",
                "arn:aws:dynamodb:eu-central-1:123456789012:table/T/stream/2026-11-01T00:00:00.123");
        assertThat(done("get", "stream", "1").out()).contains("1793491200/0/");
    }

    @Test
    void a_header_that_comes_again_is_no_row_and_another_one_ends_the_seeding() {
        cli.write("rows.csv", "id,v,desk,region,value\nt1,1,FX,EMEA,1\nid,v,desk,region,value\nt2,1,FX,EMEA,1\n");
        assertThat(done("seed", "trades.yaml", "--from", "rows.csv").out()).contains("  new                      2");
        assertThat(total()).endsWith("2.00,2");
        cli.write("other.csv", "id,v,desk,region,value\nt3,1,FX,EMEA,1\nid,v,region,desk,value\nt4,1,EMEA,FX,1\n");
        Result other = cli.run("seed", "trades.yaml", "--from", "other.csv");
        assertThat(other.exitCode()).isEqualTo(1);
        assertThat(other.err()).contains("record 2 behind the header is another header");
        cli.write("excel.csv", "sep=,\nid,v,desk,region,value\nt5,1,FX,EMEA,1\n");
        assertThat(cli.run("seed", "trades.yaml", "--from", "excel.csv").err()).contains("Delete the first line");
        assertThat(total()).endsWith("3.00,3");
    }

    @Test
    void a_seeding_whose_file_breaks_off_keeps_what_it_has_and_goes_on_when_it_is_whole() {
        cli.write("rows.csv", "id,v,desk,region,value\nt1,1,FX,EMEA,1\nt2,1,\"FX\n");
        Result broken = cli.run("seed", "trades.yaml", "--from", "rows.csv");
        assertThat(broken.exitCode()).isEqualTo(1);
        assertThat(broken.err()).contains("Not all rows of rows.csv could be read: a quoted field has no end");
        cli.write("rows.csv", "id,v,desk,region,value\nt1,1,FX,EMEA,1\nt2,1,FX,EMEA,1\n");
        done("seed", "trades.yaml", "--from", "rows.csv");
        assertThat(total()).endsWith("2.00,2");
    }
}
