package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PackageCommandTest {
    @TempDir
    private Path folder;

    private Path jar;

    @BeforeEach
    void make() throws IOException {
        jar = folder.resolve("runs.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new ZipEntry("Runs.class"));
            out.write(new byte[100_000]);
        }
    }

    @Test
    void what_is_no_jar_is_not_packed() throws IOException {
        Cli cli = Cli.in(folder);
        cli.write("notes.ndjson", "{}\n");
        cli.write("notes.jar", "{}\n");
        Files.copy(jar, folder.resolve("runs.zip"));
        for (String wrong : List.of("notes.ndjson", "notes.jar", "runs.zip", ".", "missing.jar")) {
            Result result = cli.run("aws", "package", "--with", wrong, "--output", "functions.zip");
            assertThat(result.exitCode()).as(wrong).isEqualTo(2);
            assertThat(result.err())
                    .containsAnyOf(wrong + " is not a jar.", folder + " is not a file", "no input file " + wrong);
            assertThat(folder.resolve("functions.zip")).doesNotExist();
        }
    }

    @Test
    void an_archive_that_cannot_be_written_whole_is_named_and_not_left_there() throws IOException {
        Path file = folder.resolve("functions.zip");
        FunctionArchive.write(List.of(jar), file);
        try (ZipFile archive = new ZipFile(file.toFile())) {
            assertThat(archive.getEntry("lib/runs.jar").getSize()).isEqualTo(Files.size(jar));
        }
        assertThatThrownBy(() -> FunctionArchive.write(List.of(jar, folder.resolve("missing.jar")), file))
                .isInstanceOf(NoSuchFileException.class);
        assertThat(file).doesNotExist();
        Path full = Path.of("/dev/full");
        if (Files.exists(full)) { // Of Linux.
            assertThatThrownBy(() -> FunctionArchive.write(List.of(jar), full))
                    .hasMessageContaining("The archive /dev/full cannot be written: No space left on device");
            assertThat(full).exists();
        }
    }
}
