package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The launcher itself, which builds what it needs. In the campaign, because that takes a while.
@Tag("campaign")
class LauncherTest {
    private static final String RUN = "./onefold run examples/trade-risk/pipeline.yaml --data \"$0\" --input ";

    @TempDir
    private Path data;

    private record Said(int code, String text) {}

    private Said shell(String line) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        "bash", "-c", line, data.resolve("data").toString())
                .directory(Clone.root().toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Said(process.waitFor(), text);
    }

    @Test
    void standard_streams_that_are_closed_are_no_files_of_the_jvm() throws Exception {
        Said nothing = shell(RUN + "- <&-");
        assertThat(nothing.text()).contains("Folded 0 records");
        assertThat(nothing.code()).isZero();
        assertThat(shell(RUN + "examples/trade-risk/sample.ndjson >&-").code()).isEqualTo(1);
        assertThat(shell(RUN + "examples/trade-risk/sample.ndjson 2>&-").code()).isZero();
        Said verified = shell("./onefold verify examples/trade-risk/pipeline.yaml --data \"$0\"");
        assertThat(verified.text()).contains("93 rows");
        assertThat(verified.code()).isZero();
    }

    @Test
    void a_newer_source_of_any_module_is_built_first() throws Exception {
        Path clone = Files.createDirectories(data.resolve("clone"));
        Files.copy(Clone.root().resolve("onefold"), clone.resolve("onefold"), StandardCopyOption.COPY_ATTRIBUTES);
        List<String> modules = modules();
        assertThat(modules).contains("engine/core", "edges/sftp", "shell/cli");
        Path built = file(clone.resolve("shell/cli/target/app/current"), 2);
        file(clone.resolve("pom.xml"), 1);
        for (String module : modules) {
            file(clone.resolve(module + "/pom.xml"), 1);
            file(clone.resolve(module + "/src/main/java/Any.java"), 1);
        }
        Path programs = Files.createDirectories(data.resolve("programs"));
        Files.writeString(programs.resolve("mvn"), "#!/bin/sh\nexit 1\n");
        assertThat(programs.resolve("mvn").toFile().setExecutable(true)).isTrue();
        String version = "PATH=" + programs + ":$PATH " + clone + "/onefold --version";
        assertThat(shell(version).text()).doesNotContain("Building");
        for (String module : modules) {
            Path source = file(clone.resolve(module + "/src/main/java/Any.java"), 3);
            assertThat(shell(version).text()).as(module).contains("Building Onefold again");
            Files.setLastModifiedTime(source, Files.getLastModifiedTime(clone.resolve("pom.xml")));
            assertThat(built).exists();
        }
        file(built.resolveSibling("any").resolve("jdk"), 2); // Of the build that the file names.
        assertThat(shell("PATH=" + programs + ":$PATH " + clone + "/onefold demo --on aws-local")
                        .text())
                .contains("Building Onefold with what stands in for AWS");
    }

    /// As a package lays it out: a runtime and jars beside the launcher, and a link to it somewhere else.
    @Test
    void an_installed_folder_is_started_through_a_link_and_nothing_is_built_or_written() throws Exception {
        assertThat(shell("./onefold --version").code()).isZero();
        Path app = Clone.root().resolve("shell/cli/target/app");
        Path installed = Files.createDirectories(data.resolve("a folder/onefold"));
        Files.copy(Clone.root().resolve("onefold"), installed.resolve("onefold"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.createSymbolicLink(installed.resolve("lib"), app.resolve(Files.readString(app.resolve("current"))));
        Files.createSymbolicLink(installed.resolve("runtime"), Path.of(System.getProperty("java.home")));
        Path link = Files.createSymbolicLink(data.resolve("onefold"), Path.of("a folder/onefold/onefold"));
        Said version = shell("LC_ALL=C '" + link + "' --version");
        assertThat(version.text()).startsWith("onefold ").doesNotContain("Building");
        assertThat(version.code()).isZero();
        try (Stream<Path> files = Files.list(installed)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("onefold", "lib", "runtime");
        }
        Said local = shell("PATH='" + data + "':\"$PATH\" onefold demo --on aws-local");
        assertThat(local.text()).contains("it runs from a clone");
    }

    private static List<String> modules() throws IOException {
        return Files.readAllLines(Clone.root().resolve("pom.xml")).stream()
                .map(String::strip)
                .filter(line -> line.startsWith("<module>"))
                .map(line -> line.replaceAll("</?module>", ""))
                .toList();
    }

    private static Path file(Path path, int hours) throws IOException {
        Files.createDirectories(path.getParent());
        Files.writeString(path, "any");
        return Files.setLastModifiedTime(path, FileTime.from(Instant.now().plus(Duration.ofHours(hours))));
    }
}
