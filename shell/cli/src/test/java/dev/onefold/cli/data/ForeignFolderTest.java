package dev.onefold.cli.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.embedded.EmbeddedEngine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Each verb on folders that are no data directories, and reading verbs on one that is: every name, byte and time
/// stays.
class ForeignFolderTest {
    private static final List<List<String>> READING = List.of(
            List.of("query"),
            List.of("status"),
            List.of("query", "--format", "csv"),
            List.of("get", "1"),
            List.of("verify"),
            List.of("verify", "--from-sources"),
            List.of("dead-letters"),
            List.of("dead-letters", "list"),
            List.of("dead-letters", "show", "1"),
            List.of("dead-letters", "export", "--output", "-"));
    private static final List<List<String>> CHANGING = List.of(
            List.of("run", "--input", "in.ndjson"),
            List.of("rebuild"),
            List.of("rebuild", "--from-sources"),
            List.of("dead-letters", "redrive", "1"),
            List.of("dead-letters", "redrive", "--all"),
            List.of("dead-letters", "purge", "--all", "--yes"),
            List.of("dead-letters", "purge", "1", "--yes"));

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void prepare() {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        cli.write("in.ndjson", Cli.trade("1", 1, "FX", "EMEA", "5") + "garbage\n");
    }

    /// Name, kind, content and times of all that is in a folder, and of the folder itself.
    private static SortedMap<String, String> everything(Path path) throws IOException {
        SortedMap<String, String> found = new TreeMap<>();
        try (Stream<Path> all = Files.walk(path)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                BasicFileAttributes is =
                        Files.readAttributes(each, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                String content = is.isSymbolicLink()
                        ? Files.readSymbolicLink(each).toString()
                        : is.isRegularFile() ? Arrays.toString(Files.readAllBytes(each)) : "folder";
                found.put(each.toString(), is.lastModifiedTime() + " " + content);
            }
        }
        return found;
    }

    private static String[] command(List<String> verb, Path data) {
        List<String> words = new ArrayList<>(List.of(verb.getFirst(), "trades.yaml"));
        words.addAll(verb.subList(1, verb.size()));
        words.addAll(List.of("--data", data.toString()));
        return words.toArray(String[]::new);
    }

    private void requireUntouched(List<List<String>> verbs, Path data, Path watched, int... exitCodes)
            throws IOException {
        SortedMap<String, String> before = everything(watched);
        for (List<String> verb : verbs) {
            Result result = cli.run(command(verb, data));
            assertThat(result.exitCode())
                    .as(verb + ": " + result.err())
                    .isIn(Arrays.stream(exitCodes).boxed().toArray());
            assertThat(result.err()).doesNotContain("Storage failed", "bug in Onefold");
            assertThat(everything(watched)).as(verb + " on " + data).isEqualTo(before);
        }
    }

    private static List<List<String>> all() {
        return Stream.concat(READING.stream(), CHANGING.stream()).toList();
    }

    private Path foreign(String... names) throws IOException {
        Path foreign = Files.createTempDirectory(folder, "foreign");
        for (String name : names) {
            Path file = foreign.resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, "precious");
        }
        return foreign;
    }

    @Test
    void no_verb_touches_a_folder_of_somebody_else() throws IOException {
        Path first = foreign("view-templates/index.html");
        requireUntouched(all(), first, first, 3);
        for (Path foreign : List.of(
                foreign("view-1/index.html"),
                foreign("view-1/rows-0-0", "view-1/template.html"),
                foreign("view-model.js"),
                foreign("LOCK"),
                foreign("LOCK", "CURRENT", "MANIFEST-000001"),
                foreign("CURRENT.new", "notes.txt"),
                foreign("journal-1/entry"),
                foreign("notes.txt"))) {
            requireUntouched(List.of(READING.getFirst(), CHANGING.getFirst()), foreign, foreign, 3);
        }
    }

    @Test
    void a_file_of_somebody_else_is_named_as_the_reason() throws IOException {
        Path foreign = foreign("notes.txt");
        assertThat(cli.run(command(List.of("run", "--input", "in.ndjson"), foreign))
                        .err())
                .contains("is not a data directory of Onefold: it holds notes.txt", "--data");
        assertThat(cli.run(command(List.of("query"), foreign)).err()).contains("it holds notes.txt");
    }

    @Test
    void only_an_intake_makes_a_data_directory_of_a_missing_or_an_empty_folder() throws IOException {
        List<List<String>> others = all().subList(0, all().size()).stream()
                .filter(verb -> !verb.getFirst().equals("run"))
                .toList();
        Path base = Files.createDirectory(folder.resolve("base"));
        requireUntouched(others, base.resolve("missing"), base, 3);
        Path empty = Files.createDirectory(base.resolve("empty"));
        requireUntouched(others, empty, base, 3);
        Path link = Files.createSymbolicLink(base.resolve("link"), empty);
        requireUntouched(others, link, base, 3);
        for (Path each : List.of(base.resolve("missing"), link)) {
            assertThat(cli.run(command(List.of("run", "--input", "in.ndjson"), each))
                            .exitCode())
                    .isZero();
            assertThat(cli.run(command(List.of("query", "--depth", "0"), each)).out())
                    .contains("5.00");
        }
        assertThat(Files.isSymbolicLink(link)).isTrue();
        assertThat(empty.resolve("CURRENT")).exists();
    }

    @Test
    void a_file_where_the_folder_should_be_is_a_mistake_of_the_command_line() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "precious");
        requireUntouched(all(), file, folder, 2);
    }

    @Test
    void a_directory_whose_first_process_was_killed_is_empty_to_readers_and_a_beginning_to_an_intake()
            throws IOException {
        assertThat(cli.run(command(List.of("run", "--input", "in.ndjson"), folder.resolve("whole")))
                        .exitCode())
                .isZero();
        Path half = Files.createDirectories(folder.resolve("half"));
        Files.createFile(half.resolve("LOCK"));
        Files.writeString(half.resolve("LOCK.holder"), "process 1");
        Files.copy(folder.resolve("whole").resolve("journal-mark"), half.resolve("journal-mark"));
        Files.createDirectory(half.resolve("view-1"));
        Files.createFile(half.resolve("view-1").resolve("CHECKPOINT.new"));
        requireUntouched(
                all().stream().filter(verb -> !verb.getFirst().equals("run")).toList(), half, half, 3);
        assertThat(cli.run(command(List.of("run", "--input", "in.ndjson"), half))
                        .exitCode())
                .isZero();
        assertThat(cli.run(command(List.of("query", "--depth", "0"), half)).out())
                .contains("5.00");
    }

    @Test
    @Tag("campaign")
    void a_reading_verb_changes_nothing_in_a_data_directory() throws IOException {
        Path data = folder.resolve("data");
        assertThat(cli.run(command(List.of("run", "--input", "in.ndjson"), data))
                        .exitCode())
                .isZero();
        Files.writeString(data.resolve("README"), "mine");
        Files.createDirectory(data.resolve("view-2"));
        Files.delete(data.resolve("LOCK.holder"));
        requireUntouched(READING, data, data, 0);
        assertThat(cli.run(command(List.of("query", "--depth", "0"), data)).out())
                .contains("5.00");
        Result list = cli.run(command(List.of("dead-letters", "list"), data));
        assertThat(list.out()).contains("malformed", "in.ndjson:2");
        Result letters = cli.run(command(List.of("dead-letters", "export", "--output", "-"), data));
        assertThat(letters.out()).contains("\"text\":\"garbage\"");
        assertThat(cli.run(command(List.of("run", "--input", "in.ndjson"), data))
                        .exitCode())
                .isZero();
        assertThat(data.resolve("view-2")).doesNotExist();
        assertThat(data.resolve("README")).hasContent("mine");
    }

    @Test
    @Tag("campaign")
    void what_was_acknowledged_and_is_in_no_checkpoint_is_read_too() throws Exception {
        Path data = folder.resolve("data");
        cli.run(command(List.of("run", "--input", "in.ndjson"), data));
        Path copy = folder.resolve("copy");
        try (EmbeddedEngine owner = BesideTest.own(data)) {
            byte[] line = Cli.trade("2", 1, "FX", "EMEA", "7").getBytes(StandardCharsets.UTF_8);
            owner.append("live", 1, line, line.length);
            copy(data, copy);
        }
        requireUntouched(READING, copy, copy, 0, 1);
        assertThat(cli.run(command(List.of("query", "--depth", "0"), copy)).out())
                .contains("12.00");
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                if (Files.isDirectory(each) || Files.isRegularFile(each)) {
                    Files.copy(each, to.resolve(from.relativize(each)));
                }
            }
        }
    }
}
