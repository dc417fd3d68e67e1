package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The examples that are one command: their scripts as they are, with the command as it was compiled.
class ScriptsTest {
    @TempDir
    private Path folder;

    @Test
    void a_burst_is_in_files_that_hold_each_message_once() throws Exception {
        Said said = run(List.of("examples/bursts/run.sh", "4000", "500"), Map.of());

        assertThat(said.code).as(said.text).isZero();
        assertThat(said.text).contains("in all 8 of 8.").contains("Equal: the files hold each message once");
        assertThat(folder.resolve("work/drop/burst-000008.ndjson.gz")).exists();
        assertThat(folder.resolve("work/drop/burst-000008.json")).exists();
        assertThat(folder.resolve("work/drop/burst-000009.ndjson.gz")).doesNotExist();
    }

    @Test
    @Tag("campaign")
    void a_shop_that_fails_as_it_is_told_books_each_order_once() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Said said = run(List.of("examples/consumer/run.sh"), Map.of("PORT", String.valueOf(port)));

        assertThat(said.code).as(said.text).isZero();
        assertThat(said.text)
                .contains("6 sealed batches, 3 of them not delivered, 2 in doubt, 1 put aside")
                .contains("6 sealed batches, 0 of them not delivered");
        assertThat(Files.readAllLines(folder.resolve("work/book.ndjson"))).hasSize(6);
    }

    @Test
    @Tag("campaign")
    void a_table_that_changes_while_it_is_seeded_and_its_stream_breaks_off_is_equal_to_its_totals() throws Exception {
        Said said = run(List.of("examples/favourites/run.sh", "8000", "300"), Map.of());

        assertThat(said.code).as(said.text).isZero();
        assertThat(said.text)
                .containsPattern("  gone from the source +[1-9][0-9,]*\n    repaired +[1-9]")
                .contains("All rows are equal.", "Equal: the totals are those of the table.");
    }

    @Test
    @Tag("campaign")
    void totals_of_a_topic_whose_reader_is_killed_twice_are_those_of_its_producer() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Said said = run(
                List.of("examples/trade-risk-kafka/run.sh", "60000"),
                Map.of("PORT", String.valueOf(port), "PARTS", System.getProperty("java.class.path")));

        assertThat(said.code).as(said.text).isZero();
        assertThat(said.text)
                .contains("60607 records are in the topic", "2 partitions, 0 offsets behind", "equal: 3 groups.");
    }

    private record Said(int code, String text) {}

    /// The JDK that is the default, as on many machines, and a JDK 25 where a person keeps others.
    private Path olderJdk() throws IOException {
        Path older = Files.createDirectories(folder.resolve("older"));
        Files.writeString(older.resolve("release"), "JAVA_VERSION=\"17.0.15\"\n");
        for (String program : List.of("java", "javac")) {
            Path file = Files.createDirectories(older.resolve("bin")).resolve(program);
            Files.writeString(file, "#!/bin/sh\necho 'This is Java 17.'\nexit 1\n");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        Files.createSymbolicLink(
                Files.createDirectories(folder.resolve(".jdks")).resolve("25"),
                Path.of(System.getProperty("java.home")));
        return older;
    }

    private Said run(List<String> script, Map<String, String> variables) throws IOException, InterruptedException {
        Path command = folder.resolve("onefold");
        Files.writeString(
                command, """
                exec '%s/bin/java' -Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED \\
                    -cp '%s' dev.onefold.cli.Main "$@"
                """.formatted(System.getProperty("java.home"), System.getProperty("java.class.path")));
        Files.setPosixFilePermissions(command, PosixFilePermissions.fromString("rwxr-xr-x"));
        ProcessBuilder building =
                new ProcessBuilder(script).directory(Clone.root().toFile()).redirectErrorStream(true);
        building.environment().put("JAVA_HOME", olderJdk().toString());
        building.environment().put("HOME", folder.toString());
        building.environment().put("ONEFOLD", command.toString());
        building.environment().put("WORK", folder.resolve("work").toString());
        building.environment().putAll(variables);
        Process process = building.start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Said(process.waitFor(), text);
    }
}
