package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The script of `examples/favourites` for the interfaces of AWS, as it is, with what was compiled here.
class FavouritesExampleTest {
    @TempDir
    private Path folder;

    @Test
    @Tag("campaign")
    void a_table_that_is_seeded_while_it_changes_and_whose_stream_breaks_off_is_equal_to_its_totals()
            throws IOException, InterruptedException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("examples/favourites/run.sh"))) {
            root = root.getParent();
        }
        Path command = folder.resolve("onefold");
        Files.writeString(
                command, """
                exec '%s/bin/java' -Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED \\
                    -cp '%s' dev.onefold.cli.Main "$@"
                """.formatted(System.getProperty("java.home"), System.getProperty("java.class.path")));
        Files.setPosixFilePermissions(command, PosixFilePermissions.fromString("rwxr-xr-x"));
        Machine machine = Parts.machine(1);
        ProcessBuilder script = new ProcessBuilder("examples/favourites/run.sh", "--on", "aws-local", "600", "40")
                .directory(root.toFile())
                .redirectErrorStream(true);
        script.environment()
                .putAll(Map.of(
                        "JAVA_HOME", System.getProperty("java.home"),
                        "ONEFOLD", command.toString(),
                        "WORK", folder.resolve("work").toString(),
                        "PARTS", System.getProperty("java.class.path"),
                        "NODE", machine.node().toString(),
                        "FUNCTIONS",
                                machine.functions().stream()
                                        .map(Path::toString)
                                        .collect(Collectors.joining(File.pathSeparator))));
        Process process = script.start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(said).isZero();
        assertThat(said)
                .containsPattern("  gone from the source +[1-9][0-9,]*\n    repaired +[1-9]")
                .contains("All rows are equal.", "Equal: the totals are those of the table.");
    }
}
