package dev.onefold.cli.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.Operation;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Who may read and write a data directory, what a terminal gets of it, and whether its journal is kept.
class AccessTest {
    @TempDir
    Path folder;

    private Cli cli;
    private Path data;

    @BeforeEach
    void prepare() {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        cli.write("in.ndjson", Cli.trade("1", 1, "=F\\u202eX", "EMEA", "5") + "gar\u202ebage\n");
        data = folder.resolve("onefold-data").resolve("trades");
    }

    private Result fold(String... options) {
        String[] words = Stream.concat(Stream.of("run", "trades.yaml", "--input", "in.ndjson"), Stream.of(options))
                .toArray(String[]::new);
        Result result = cli.run(words);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result;
    }

    @Test
    void only_the_user_who_runs_the_engine_may_read_its_files() throws IOException {
        fold();
        try (Stream<Path> all = Files.walk(data)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(each)))
                        .as(each.toString())
                        .isEqualTo(Files.isDirectory(each) ? "rwx------" : "rw-------");
            }
        }
    }

    @Test
    void a_copy_on_a_read_only_medium_is_asked_and_verified_and_its_letters_are_read() throws IOException {
        fold();
        Path zip = folder.resolve("copy.zip");
        try (FileSystem medium = FileSystems.newFileSystem(URI.create("jar:" + zip.toUri()), Map.of("create", "true"));
                Stream<Path> all = Files.walk(data)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Files.copy(
                        each,
                        medium.getPath("/data").resolve(data.relativize(each).toString()));
            }
        }
        try (FileSystem medium = FileSystems.newFileSystem(zip, Map.of("accessMode", "readOnly"));
                EmbeddedEngine engine = EmbeddedEngine.read(medium.getPath("/data"), Settings.defaults())) {
            assertThat(medium.isReadOnly()).isTrue();
            assertThat(engine.query(Query.all("main"))
                            .lines()
                            .getFirst()
                            .values()
                            .getFirst())
                    .isEqualByComparingTo("5");
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(engine.deadLetters().record(1))
                    .asString(StandardCharsets.UTF_8)
                    .isEqualTo("gar\u202ebage");
        }
    }

    @Test
    void a_folder_that_cannot_be_made_is_no_failing_disk() {
        Result result = cli.run("run", "trades.yaml", "--input", "in.ndjson", "--data", "/proc/onefold/data");
        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.err())
                .contains("No access: creating of /proc/onefold")
                .doesNotContain("Storage failed");
    }

    @Test
    void data_that_this_user_may_not_look_for_are_not_called_missing() throws IOException {
        SimulatedDisk disk = SimulatedDisk.empty();
        Cli other = Cli.in(Files.createDirectory(disk.getPath("/here")));
        other.write("trades.yaml", Cli.TRADES);
        for (String hidden : new String[] {"/here/onefold-data/trades", "/here/onefold-data/trades/CURRENT"}) {
            Files.createDirectories(disk.getPath("/here/onefold-data/trades/view-1"));
            disk.inject(Faults.none().withHook((operation, path) -> {
                if (operation == Operation.STAT && path.startsWith(hidden)) {
                    throw new AccessDeniedException(path.toString());
                }
            }));
            for (String verb : new String[] {"query", "status", "verify", "reset"}) {
                for (String pipeline : new String[] {"trades.yaml", "trades"}) {
                    Result result = other.run(verb, pipeline);
                    assertThat(result.exitCode()).as(verb + hidden).isEqualTo(3);
                    assertThat(result.out() + result.err())
                            .as(verb + hidden)
                            .contains("No access: reading of " + hidden)
                            .doesNotContain("no data");
                }
            }
            disk.inject(Faults.none());
        }
    }

    @Test
    void a_terminal_obeys_nothing_of_what_is_stored_and_a_pipe_gets_it_as_it_is() {
        fold();
        Cli terminal = cli.onTerminal(100);
        for (String[] command : new String[][] {
            {"query", "trades", "--format", "csv"},
            {"query", "trades", "--format", "json"},
            {"dead-letters", "trades", "export", "--output", "-"}
        }) {
            assertThat(terminal.run(command).out()).contains("\\u202e").doesNotContain("\u202e");
            assertThat(cli.run(command).out()).contains("\u202e").endsWith("\n");
        }
        assertThat(cli.run("query", "trades", "--rollup", "\u001b[31mx").err())
                .contains("\\u001b[31mx")
                .doesNotContain("\u001b");
    }

    @Test
    void a_name_that_a_spreadsheet_takes_for_a_formula_is_neutralised_on_request() {
        fold();
        assertThat(cli.run("query", "trades", "--format", "csv").out()).contains("\n1,=F\u202eX,,");
        assertThat(cli.run("query", "trades", "--format", "csv", "--neutralise-formulas")
                        .out())
                .contains("\n1,'=F\u202eX,,")
                .contains("depth,desk");
        assertThat(cli.run("query", "trades", "--neutralise-formulas").exitCode())
                .isEqualTo(2);
    }

    @Test
    void a_kept_journal_stays_kept_until_it_is_released() {
        fold("--keep-journal");
        assertThat(cli.run("journal", "trades").out()).contains("The journal is kept");
        String more = Cli.trade("2", 1, "A", "B", "7");
        assertThat(cli.runWithInput(more, "run", "trades.yaml", "--input", "-").exitCode())
                .isZero();
        assertThat(cli.run("journal", "trades").out()).contains("The journal is kept");
        assertThat(cli.run("verify", "trades.yaml", "--from-sources").exitCode())
                .isZero();
        Result no = cli.runWithInput("n\n", "journal", "trades", "release");
        assertThat(no.exitCode()).isEqualTo(1);
        assertThat(no.err()).contains("Delete the kept journal for good?", "kept as it was");
        assertThat(cli.run("journal", "trades").out()).contains("The journal is kept");
        assertThat(cli.run("journal", "trades", "release", "--yes").out()).isEqualTo("The journal is released.\n");
        assertThat(cli.run("journal", "trades").out()).contains("The journal is not kept");
        assertThat(cli.run("verify", "trades.yaml", "--from-sources").err()).contains("was not kept");
    }

    @Test
    void a_journal_is_released_through_the_owner_too() {
        fold("--keep-journal");
        try (EmbeddedEngine owner = BesideTest.own(data)) {
            assertThat(owner.journal().isKept()).isTrue();
            assertThat(cli.runWithInput("yes\n", "journal", "trades", "release").out())
                    .isEqualTo("The journal is released.\n");
            assertThat(owner.journal().isKept()).isFalse();
        }
    }
}
