package dev.onefold.cli.reset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.api.sync.SeedLog;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.embedded.DataReset;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.Operation;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResetCommandTest {
    @TempDir
    private Path folder;

    private Cli cli;
    private Path data;

    @BeforeEach
    void run() {
        cli = Cli.in(folder);
        data = folder.resolve("onefold-data/trades");
        cli.write("trades.yaml", Cli.TRADES);
        cli.write("in.ndjson", Cli.trade("1", 1, "FX", "EMEA", "5") + Cli.trade("2", 1, "FX", "APAC", "7") + "x\n");
        assertThat(cli.run("run", "trades.yaml", "--input", "in.ndjson").exitCode())
                .isZero();
    }

    private String total() {
        return cli.run("query", "trades.yaml", "--format", "csv", "--depth", "0")
                .out();
    }

    @Test
    void the_next_run_begins_with_nothing_and_reads_its_files_again() {
        String before = total();
        Result result = cli.run("reset", "trades.yaml", "--yes");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).isEqualTo("Emptied onefold-data/trades. The next run begins with nothing.\n");
        assertThat(result.err())
                .contains(
                        "Deletes the data of pipeline trades in onefold-data/trades: 3 records of 1 source, 2 rows,"
                                + " 1 dead letter;",
                        "How far the sources were read is forgotten.",
                        "The dead letters are deleted, too.")
                .doesNotContain("batch", "published", "--keep-journal", "idempotency");
        assertThat(cli.run("query", "trades.yaml").err()).contains("There is no data in ");
        assertThat(cli.run("run", "trades.yaml", "--input", "in.ndjson").out()).contains("Folded 3 records");
        assertThat(total()).isEqualTo(before);
        assertThat(data.resolve("RESET")).doesNotExist();
    }

    @Test
    void it_asks_on_a_terminal_and_nothing_is_deleted_without_a_yes() {
        String before = total();
        Cli terminal = cli.onTerminal(40);
        Result no = terminal.runWithInput("\n", "reset", "trades.yaml");
        assertThat(no.exitCode()).isEqualTo(1);
        assertThat(no.err()).contains("Delete all of it? [y/N]", "Nothing was deleted.");
        assertThat(no.err().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(60));
        assertThat(total()).isEqualTo(before);
        Result nobody = cli.runWithInput("y\n", "reset", "trades.yaml");
        assertThat(nobody.exitCode()).isEqualTo(2);
        assertThat(nobody.err()).contains("Nobody can be asked", "--yes");
        assertThat(total()).isEqualTo(before);
        assertThat(terminal.runWithInput("y\n", "reset", "trades.yaml").exitCode())
                .isZero();
        assertThat(cli.run("query", "trades.yaml").exitCode()).isEqualTo(3);
    }

    @Test
    void while_an_engine_runs_nobody_is_asked_and_nothing_is_deleted() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(data, Settings.defaults())) {
            Result result = cli.run("reset", "trades.yaml", "--yes");
            assertThat(result.exitCode()).isEqualTo(3);
            assertThat(result.err()).contains("is in use by process").doesNotContain("Deletes the data");
            assertThat(engine.status().rows()).isEqualTo(2);
        }
    }

    @Test
    void a_run_while_the_person_thinks_is_not_deleted_unseen() throws IOException {
        cli.write("more.ndjson", Cli.trade("3", 1, "FX", "EMEA", "5"));
        Result result = cli.onTerminal(200)
                .run(new Answer(() -> cli.run("run", "trades.yaml", "--input", "more.ndjson")), "reset", "trades.yaml");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err())
                .contains(
                        "The data in onefold-data/trades have changed meanwhile",
                        "an engine has run, or another reset");
        assertThat(cli.run("get", "trades.yaml", "3").exitCode()).isZero();
        Result second = cli.onTerminal(200)
                .run(new Answer(() -> cli.run("reset", "trades.yaml", "--yes")), "reset", "trades.yaml");
        assertThat(second.exitCode()).isEqualTo(1);
        assertThat(second.err()).contains("or another reset");
    }

    @Test
    void on_a_full_disk_it_says_whether_anything_was_deleted() throws IOException {
        SimulatedDisk disk = SimulatedDisk.empty();
        Cli full = Cli.in(Files.createDirectory(disk.getPath("/here")));
        full.write("trades.yaml", Cli.TRADES);
        assertThat(full.runWithInput(Cli.trade("1", 1, "FX", "EMEA", "5"), "run", "trades.yaml", "--input", "-")
                        .exitCode())
                .isZero();
        Path current = disk.getPath("/here/onefold-data/trades/CURRENT");
        for (boolean isBegun : new boolean[] {false, true}) {
            disk.inject(Faults.none().withHook((operation, path) -> {
                if (operation == Operation.OPEN && path.endsWith("RESET.new") && Files.exists(current) != isBegun) {
                    throw new FileSystemException(path.toString(), null, Faults.NO_SPACE);
                }
            }));
            Result result = full.run("reset", "trades.yaml", "--yes");
            assertThat(result.exitCode()).isEqualTo(4);
            assertThat(result.err())
                    .contains("The disk is full", isBegun ? "Nothing more was deleted." : "Nothing was deleted.");
            assertThat(Files.exists(current)).isNotEqualTo(isBegun);
        }
        disk.inject(Faults.none());
        assertThat(full.run("reset", "trades.yaml").out()).contains("the rest is deleted now");
    }

    @Test
    void a_data_directory_behind_a_link_has_a_size_and_is_emptied() throws IOException {
        Files.createSymbolicLink(folder.resolve("link"), data);
        assertThat(cli.run("status", "trades.yaml", "--data", "link").out()).containsPattern("disk +[0-9.]+ [kM]B");
        Result result = cli.run("reset", "trades.yaml", "--data", "link", "--yes");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err()).contains("1 dead letter; ").doesNotContain(" 0 bytes");
        assertThat(data.resolve("CURRENT")).doesNotExist();
    }

    /// Somebody who does something before the answer, which is yes.
    private static final class Answer extends ByteArrayInputStream {
        private final Runnable before;
        private boolean isDone;

        Answer(Runnable before) {
            super("y\n".getBytes(StandardCharsets.US_ASCII));
            this.before = before;
        }

        @Override
        public synchronized int read() {
            if (!isDone) {
                isDone = true;
                before.run();
            }
            return super.read();
        }

        @Override
        public synchronized int read(byte[] bytes, int offset, int length) {
            int first = length == 0 ? 0 : read();
            if (first < 0) {
                return -1;
            }
            if (length > 0) {
                bytes[offset] = (byte) first;
            }
            return Math.min(length, 1);
        }
    }

    @Test
    void what_is_missing_is_said_and_is_no_failure_and_somebody_elses_folder_stays() throws IOException {
        Result missing = cli.run("reset", "trades.yaml", "--data", "nowhere", "--yes");
        assertThat(missing.exitCode()).isZero();
        assertThat(missing.out())
                .isEqualTo("There is no data of pipeline trades in nowhere, so there was nothing to delete.\n");
        Path foreign = Files.createDirectories(folder.resolve("foreign"));
        Files.writeString(foreign.resolve("notes.txt"), "precious");
        Result refused = cli.run("reset", "trades.yaml", "--data", "foreign", "--yes");
        assertThat(refused.exitCode()).isEqualTo(3);
        assertThat(refused.err()).contains("it holds notes.txt");
        assertThat(foreign.resolve("notes.txt")).hasContent("precious");
        assertThat(foreign.resolve("LOCK")).doesNotExist();
    }

    @Test
    void the_data_of_another_pipeline_stay() {
        cli.write("other.yaml", Cli.TRADES.replace("pipeline: trades", "pipeline: other"));
        String before = total();
        Result refused = cli.run("reset", "other.yaml", "--data", "onefold-data/trades", "--yes");
        assertThat(refused.exitCode()).isEqualTo(3);
        assertThat(refused.err()).contains("is of pipeline trades, not of pipeline other");
        assertThat(total()).isEqualTo(before);
    }

    private void interruptReset() throws IOException {
        Files.writeString(data.resolve("RESET"), "onefold-reset 1 begun trades\n");
        Files.delete(data.resolve("CURRENT"));
    }

    @Test
    void a_copy_that_was_put_over_an_interrupted_reset_is_served() throws IOException {
        String before = total();
        Path copy = Files.createDirectory(folder.resolve("copy"));
        copy(data, copy);
        interruptReset();
        Files.delete(data.resolve("view-1/CHECKPOINT"));
        copy(copy, data);
        assertThat(total()).isEqualTo(before);
        cli.write("more.ndjson", Cli.trade("3", 1, "FX", "EMEA", "5"));
        assertThat(cli.run("run", "trades.yaml", "--input", "more.ndjson").exitCode())
                .isZero();
        assertThat(cli.run("get", "trades.yaml", "1").exitCode()).isZero();
        assertThat(data.resolve("RESET")).doesNotExist();
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Path copy = to.resolve(from.relativize(each).toString());
                if (!Files.isDirectory(copy)) {
                    Files.copy(each, copy, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    @Test
    void nothing_is_deleted_where_data_are_behind_a_link() throws IOException {
        Files.createDirectory(data.resolve("seeds"));
        Files.writeString(data.resolve("seeds/1730000000000.json"), "precious");
        String before = total();
        for (String name : new String[] {"view-1", "seeds", "seeds/1730000000000.json", "view-1/CHECKPOINT"}) {
            Path link = data.resolve(name);
            Path elsewhere = folder.resolve("elsewhere");
            Files.move(link, elsewhere);
            Files.createSymbolicLink(link, elsewhere);
            Result refused = cli.run("reset", "trades.yaml", "--yes");
            assertThat(refused.exitCode()).as(name).isEqualTo(3);
            assertThat(refused.err()).contains(name + " is a symbolic link").doesNotContain("Deletes the data");
            assertThat(total()).isEqualTo(before);
            Files.delete(link);
            Files.move(elsewhere, link);
        }
        interruptReset();
        Files.createSymbolicLink(data.resolve("requests"), folder);
        Result refused = cli.run("run", "trades.yaml", "--input", "in.ndjson");
        assertThat(refused.exitCode()).isEqualTo(3);
        assertThat(refused.err()).contains("requests is a symbolic link");
        Files.delete(data.resolve("requests"));
        assertThat(cli.run("reset", "trades.yaml").exitCode()).isZero();
    }

    @Test
    void a_reset_that_was_interrupted_is_finished_without_another_question() throws IOException {
        interruptReset();
        for (String verb : new String[] {"query", "status", "rebuild"}) {
            Result refused = cli.run(verb, "trades.yaml");
            assertThat(refused.exitCode()).isEqualTo(3);
            assertThat(refused.err()).contains("A reset of ", "was interrupted", "'onefold reset' again");
        }
        Result result = cli.run("reset", "trades.yaml");
        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).contains("had been interrupted; the rest is deleted now");
        assertThat(DataReset.interrupted(data)).isEmpty();
        assertThat(data.resolve("CURRENT")).doesNotExist();
    }

    @Test
    void the_next_run_finishes_a_reset_that_was_interrupted() throws IOException {
        interruptReset();
        Result result = cli.run("run", "trades.yaml", "--input", "in.ndjson");
        assertThat(result.out()).contains("Folded 3 records");
        assertThat(result.err())
                .startsWith(
                        "A reset of onefold-data/trades was interrupted; the rest of its data was deleted first.\n");
        assertThat(cli.run("status", "trades.yaml").out()).contains("2");
        assertThat(cli.run("run", "trades.yaml", "--input", "in.ndjson").err()).doesNotContain("interrupted");
    }

    @Test
    void rows_are_seeded_where_there_are_no_data_yet_or_no_longer() throws IOException {
        cli.write("rows.ndjson", Cli.trade("1", 1, "FX", "EMEA", "5"));
        String[] seed = {"seed", "trades.yaml", "--from", "rows.ndjson", "--data", "new"};
        Files.createDirectory(folder.resolve("new"));
        assertThat(cli.run(Stream.concat(Stream.of(seed), Stream.of("--dry-run"))
                                .toArray(String[]::new))
                        .exitCode())
                .isZero();
        assertThat(folder.resolve("new")).isEmptyDirectory();
        Result first = cli.run(seed);
        assertThat(first.exitCode()).as(first.err()).isZero();
        assertThat(cli.run("reset", "trades.yaml", "--data", "new", "--yes").exitCode())
                .isZero();
        Result again = cli.run(seed);
        assertThat(again.exitCode()).as(again.err()).isZero();
        data = folder.resolve("new");
        interruptReset();
        Result afterAll = cli.run(seed);
        assertThat(afterAll.exitCode()).as(afterAll.err()).isZero();
        assertThat(afterAll.err()).contains("A reset of new was interrupted; the rest of its data was deleted first.");
        assertThat(cli.run("get", "trades.yaml", "1", "--data", "new").exitCode())
                .isZero();
    }

    @Test
    void a_seeding_that_goes_on_by_itself_is_not_pulled_from_under() throws IOException {
        try (Closeable _ = new SeedLog(data.resolve("seeds"))
                .begin("a file", SeedLog.Numbers.of(5, Optional.empty()), true)::close) {
            Result refused = cli.run("reset", "trades.yaml", "--yes");
            assertThat(refused.exitCode()).isEqualTo(3);
            assertThat(refused.err()).contains("A seeding or a repair of this pipeline runs.");
            assertThat(cli.run("query", "trades.yaml").exitCode()).isZero();
        }
        assertThat(cli.run("reset", "trades.yaml", "--yes").exitCode()).isZero();
        assertThat(data.resolve("seeds")).doesNotExist();
    }

    @Test
    void remembered_answers_and_a_kept_journal_are_named_and_forgotten() throws IOException {
        cli.run("run", "trades.yaml", "--input", "in.ndjson", "--data", "kept", "--keep-journal");
        Files.createDirectories(folder.resolve("kept/requests"));
        Files.writeString(folder.resolve("kept/requests/answers"), "");
        Result result = cli.run("reset", "trades.yaml", "--data", "kept", "--yes");
        assertThat(result.err()).contains("answers to requests with an idempotency key", "--keep-journal again");
        assertThat(folder.resolve("kept/requests")).doesNotExist();
    }

    @Test
    void numbers_of_batches_are_given_again_only_if_that_is_said() throws IOException {
        Files.createDirectories(folder.resolve("out"));
        cli.write("b.yaml", """
                pipeline: b
                input: {format: json, id: id}
                batch:
                  size: 2
                  wait: 1h
                  deliver: {file: "out/b-{number}.ndjson"}
                """);
        cli.write("ids.ndjson", "{\"id\":1}\n{\"id\":2}\n");
        assertThat(cli.run("run", "b.yaml", "--input", "ids.ndjson").exitCode()).isZero();
        Result refused = cli.run("reset", "b.yaml", "--yes");
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err())
                .contains("Batches up to number 1 of pipeline b are sealed", "put aside", "--renumber");
        assertThat(cli.run("batches", "b", "list").exitCode()).isZero();
        Result result = cli.run("reset", "b.yaml", "--yes", "--renumber");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err())
                .contains("1 sealed batch", "numbers its batches from 1 again")
                .doesNotContain("not delivered");
        assertThat(folder.resolve("out/b-000001.ndjson")).exists();
        cli.write("ids.ndjson", "{\"id\":7}\n{\"id\":8}\n");
        assertThat(cli.run("run", "b.yaml", "--input", "ids.ndjson").err())
                .contains("Batch 000001 is put aside", "is there already, and is not batch b-000001");
    }

    @Test
    void batches_of_a_pipeline_that_makes_none_are_a_mistake_of_the_command_line() {
        for (String verb : new String[] {"list", "show", "release", "seal"}) {
            Result result = verb.equals("list") || verb.equals("seal")
                    ? cli.run("batches", "trades.yaml", verb)
                    : cli.run("batches", "trades.yaml", verb, "1");
            assertThat(result.exitCode()).as(verb + result.err()).isEqualTo(2);
            assertThat(result.err()).contains("Pipeline trades makes no batches");
        }
    }
}
