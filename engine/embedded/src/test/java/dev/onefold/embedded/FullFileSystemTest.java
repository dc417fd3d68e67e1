package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.onefold.api.RemoteEngine;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.SpaceListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A real file system without space, or without room for another file name. Mounting one needs root; without it, the
/// test is skipped and says so.
@Timeout(60)
class FullFileSystemTest {
    private static final long WAIT_SECONDS = 20;
    private static final int FILES_MAX = 200;
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .key("k")
            .version("v")
            .rollup(r -> r.count("n"))
            .build();

    @TempDir
    private Path directory;

    private final Semaphore told = new Semaphore(0);
    private final Semaphore ended = new Semaphore(0);

    private static boolean succeeds(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        return process.waitFor(WAIT_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
    }

    private Settings settings() {
        return Settings.defaults().withThreads(2).withShards(2).withSpaceListener(new SpaceListener() {
            @Override
            public void waiting(Instant since, Path file) {
                told.release();
            }

            @Override
            public void ended(Instant since) {
                ended.release();
            }
        });
    }

    /// Fills the file system with bytes, or with names.
    private static void fill(Path filler, boolean names) throws IOException {
        Files.createDirectory(filler);
        byte[] bytes = new byte[names ? 0 : 1 << 20];
        for (int i = 0; i < FILES_MAX; i++) {
            try {
                Files.write(filler.resolve(String.valueOf(i)), bytes);
            } catch (IOException full) {
                return;
            }
        }
        throw new IllegalStateException("The file system is not full after " + FILES_MAX + " files");
    }

    private static void empty(Path filler) throws IOException {
        try (var files = Files.newDirectoryStream(filler)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
    }

    private static void mount(Path mount) throws IOException, InterruptedException {
        boolean mounted = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux")
                && succeeds("mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=100", "tmpfs", mount.toString());
        assumeTrue(mounted, "No tmpfs can be mounted by this user: a real full file system is not tested");
    }

    @Test
    void an_append_through_the_socket_that_waits_for_space_learns_that_the_engine_is_closed() throws Exception {
        Path mount = Files.createDirectory(directory.resolve("mount"));
        mount(mount);
        Path data = mount.resolve("d");
        try (ExecutorService visitor = Executors.newSingleThreadExecutor()) {
            Future<?> append;
            try (EmbeddedEngine _ = EmbeddedEngine.open(data, PIPELINE, settings())) {
                fill(mount.resolve("filler"), false);
                append = visitor.submit(() -> {
                    RemoteEngine remote = RemoteEngine.connect(data).orElseThrow();
                    remote.append("s", List.of("{\"k\":1,\"v\":1}"));
                    remote.checkpointNow();
                });
                assertThat(told.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS)).isTrue();
            }
            assertThatThrownBy(() -> append.get(WAIT_SECONDS, TimeUnit.SECONDS))
                    .hasMessageContaining("closed")
                    .hasMessageNotContaining("unknown");
        } finally {
            assertThat(succeeds("umount", mount.toString())).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void on_a_full_file_system_intake_waits_answers_go_on_and_space_ends_the_wait(boolean names) throws Exception {
        Path mount = Files.createDirectory(directory.resolve("mount"));
        mount(mount);
        try (ExecutorService others = Executors.newSingleThreadExecutor()) {
            try (EmbeddedEngine engine = EmbeddedEngine.open(mount.resolve("d"), PIPELINE, settings())) {
                fill(mount.resolve("filler"), names);
                Future<?> append = others.submit(() -> {
                    engine.append("s", List.of("{\"k\":1,\"v\":1}"));
                    engine.checkpointNow();
                });
                assertThat(told.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS)).isTrue();
                assertThat(engine.query(Query.all("main")).lines()).isNotEmpty();
                assertThat(engine.status().waitingForSpaceSince()).isPresent();
                empty(mount.resolve("filler"));
                append.get(WAIT_SECONDS, TimeUnit.SECONDS);
                assertThat(ended.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS)).isTrue();
            }
            try (EmbeddedEngine engine = EmbeddedEngine.open(mount.resolve("d"), PIPELINE, settings())) {
                assertThat(engine.acknowledged("s")).isEqualTo(1);
            }
        } finally {
            assertThat(succeeds("umount", mount.toString())).isTrue();
        }
    }
}
