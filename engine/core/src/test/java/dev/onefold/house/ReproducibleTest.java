package dev.onefold.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/// The conditions for two equal builds, as far as a second is enough to check them.
/// `dist/check-reproducible.sh` builds twice.
class ReproducibleTest {
    private static final String SECONDS = "1735689600";

    @TempDir
    private Path work;

    @Test
    @EnabledOnOs(OS.LINUX) // Packages are made there only.
    void an_archive_depends_on_names_contents_and_permissions_alone() throws Exception {
        byte[] one = packed("one", List.of("b", "a", "B", "c"), Instant.EPOCH.plusSeconds(1));
        byte[] two = packed("two", List.of("c", "B", "a", "b"), Instant.parse("2025-06-01T10:11:12.345Z"));
        assertThat(two).isEqualTo(one);
        Path changed = work.resolve("two/onefold/a");
        Files.setPosixFilePermissions(changed, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(archive("two")).isNotEqualTo(one);
        // A file system may list both folders in the same order, and another one in yet another.
        Files.write(work.resolve("one.tar.gz"), one);
        assertThat(new String(output(work, "tar", "-tzf", "one.tar.gz"), StandardCharsets.UTF_8).lines())
                .containsExactly("onefold/", "onefold/B", "onefold/a", "onefold/b", "onefold/c");
    }

    /// A folder of these files, made in this order at this time, as an archive.
    private byte[] packed(String place, List<String> names, Instant time) throws IOException, InterruptedException {
        Path folder = Files.createDirectories(work.resolve(place).resolve("onefold"));
        for (String name : names) {
            Path file = Files.writeString(folder.resolve(name), "content of " + name);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
            Files.setLastModifiedTime(file, FileTime.from(time));
        }
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setLastModifiedTime(folder, FileTime.from(time));
        return archive(place);
    }

    private byte[] archive(String place) throws IOException, InterruptedException {
        String script = SourceTree.root().resolve("dist/archive.sh").toString();
        return output(work.resolve(place), script, "onefold", SECONDS);
    }

    private static byte[] output(Path folder, String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        byte[] bytes = process.getInputStream().readAllBytes();
        assertThat(process.waitFor()).isZero();
        assertThat(bytes).isNotEmpty();
        return bytes;
    }

    /// Jars, Javadoc, the image and the Debian package take the time of the build from this property.
    @Test
    void no_packer_takes_the_time_of_the_clock() throws IOException {
        String root = Files.readString(SourceTree.root().resolve("pom.xml"));
        assertThat(root).containsPattern("<project.build.outputTimestamp>\\d{4}-\\d\\d-\\d\\dT[\\d:]+Z</");
        assertThat(root).contains("<notimestamp>true</notimestamp>");
        String dist = Files.readString(SourceTree.root().resolve("dist/pom.xml"));
        assertThat(dist)
                .contains("<creationTime>${project.build.outputTimestamp}</creationTime>")
                .contains("<filesModificationTime>${project.build.outputTimestamp}</filesModificationTime>")
                .contains("<TIME>${project.build.outputTimestamp}</TIME>");
        for (String script : List.of("pack.sh", "archive.sh")) {
            List<String> lines =
                    Files.readAllLines(SourceTree.root().resolve("dist").resolve(script));
            assertThat(lines.stream()
                            .filter(line -> line.contains("date ") && !line.contains("date -u "))
                            .toList())
                    .as("Lines of dist/%s that ask the clock or the time zone.", script)
                    .isEmpty();
            assertThat(lines.stream()
                            .filter(line -> line.contains("gzip ") && !line.contains("gzip -9n"))
                            .toList())
                    .as("Lines of dist/%s whose gzip writes down a time.", script)
                    .isEmpty();
        }
    }
}
