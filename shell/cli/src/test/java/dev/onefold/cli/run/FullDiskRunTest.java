package dev.onefold.cli.run;

import static dev.onefold.cli.OnefoldProcess.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.cli.OnefoldProcess;
import dev.onefold.cli.SmallDisk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A real process on a real file system without space.
class FullDiskRunTest {
    private static final long STOP_SECONDS_MAX = 5;
    private static final String PIPELINE = """
            pipeline: lines
            input: {key: k, version: v}
            rollup:
              levels: []
              measures:
                lines: count()
            """;

    @TempDir
    private Path folder;

    private static String record(int key) {
        return "{\"k\":" + key + ",\"v\":1}\n";
    }

    @Test
    void on_a_full_disk_a_run_is_asked_says_that_it_waits_and_ends_within_five_seconds() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(folder.resolve("mount"))) {
            Cli cli = Cli.in(folder);
            cli.write("lines.yaml", PIPELINE);
            cli.write("app.log", record(1));
            try (OnefoldProcess run = OnefoldProcess.start(
                    folder, "run", "lines.yaml", "--input", "app.log", "--follow", "--data", "mount/d")) {
                await(
                        "it follows",
                        () -> run.err().contains("Following") || !run.process().isAlive());
                disk.fill();
                Files.writeString(folder.resolve("app.log"), record(2), StandardOpenOption.APPEND);
                await(
                        "it says that the disk is full",
                        () -> run.err().toLowerCase(java.util.Locale.ROOT).contains("full")
                                || !run.process().isAlive());
                Result status = cli.run("status", "lines.yaml", "--data", "mount/d");
                assertThat(status.out()).as(status.err()).contains("intake waits for space since");
                Result query = cli.run("query", "lines.yaml", "--data", "mount/d");
                assertThat(query.out()).as(query.err()).contains("total");
                run.signal("TERM");
                assertThat(run.process().waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS))
                        .as(run.err())
                        .isTrue();
            }
            Result alone = cli.run("query", "lines.yaml", "--data", "mount/d");
            assertThat(alone.out())
                    .as("a reader without an owner needs no space: " + alone.err())
                    .contains("total");
        }
    }
}
