package dev.onefold.simulator.batches;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.delivery.Carrier;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Copies of batches that wait, on a real file system that has no space for them. Mounting one needs root; without it,
/// the tests are skipped and say so.
@Timeout(60)
class CopiesOnFullDiskTest {
    private static final int DISK_BYTES = 16 << 20;
    private static final int FREE_BYTES = 1_500 << 10; // Less than the first batch.
    private static final Carrier REFUSING = (manifest, _, _) ->
            manifest.number().number() == 1 ? new Outcome.Refused("not this one") : new Outcome.Done();

    @TempDir
    private Path directory;

    private Path mount;
    private Path view;

    private static boolean succeeds(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
    }

    @BeforeEach
    void mount() throws IOException, InterruptedException {
        mount = Files.createDirectory(directory.resolve("mount"));
        view = mount.resolve("d/view-1");
        boolean mounted = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux")
                && succeeds("mount", "-t", "tmpfs", "-o", "size=" + DISK_BYTES, "tmpfs", mount.toString());
        assumeTrue(mounted, "No tmpfs can be mounted by this user: a real full file system is not tested");
    }

    @AfterEach
    void unmount() throws IOException, InterruptedException {
        succeeds("umount", "--lazy", mount.toString());
    }

    private EmbeddedEngine open() {
        String text = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":20,"
                + "\"deliver\":{\"http\":\"http://h/\"},\"receiver\":\"idempotent\"}}";
        Pipeline pipeline = switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> read;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
        return EmbeddedEngine.open(
                mount.resolve("d"), pipeline, Settings.defaults().withCheckpointInterval(Duration.ofMillis(20)));
    }

    private static List<String> records(int from, int to, int bytes) {
        return IntStream.range(from, to)
                .mapToObj(id -> "{\"id\":" + id + ",\"text\":\"" + "x".repeat(bytes) + "\"}")
                .toList();
    }

    /// One batch that is larger than the free space is put aside.
    private void putAside(EmbeddedEngine engine) throws IOException {
        engine.deliver(REFUSING);
        for (int id = 0; id < 20; id++) {
            engine.append("a", records(id, id + 1, 100_000));
        }
        while (engine.batches().summary().aside() == 0) {
            Thread.onSpinWait();
        }
        engine.checkpointNow();
        long free = Files.getFileStore(mount).getUsableSpace();
        Files.write(mount.resolve("filler"), new byte[(int) free - FREE_BYTES]);
    }

    @Test
    void a_batch_that_waits_is_not_copied_to_the_last_space_and_its_end_gives_the_space_back() throws Exception {
        try (EmbeddedEngine engine = open()) {
            putAside(engine);
            for (int from = 20; from < 400; from += 20) {
                engine.append("a", records(from, from + 20, 1_000));
            }
            while (engine.batches().summary().done() < 19) {
                Thread.onSpinWait();
            }
            engine.checkpointNow();
            assertThat(view.toFile().list()).noneMatch(name -> name.startsWith("held-"));
            engine.batches().settle(BatchNumber.of(1), Delivery.How.DISCARDED);
            while (Files.exists(view.resolve("bodies-1"))) {
                engine.checkpointNow();
            }
        }
    }

    @Test
    void what_a_kill_left_of_a_copy_or_a_content_does_not_keep_the_directory_closed() throws Exception {
        try (EmbeddedEngine engine = open()) {
            engine.append("a", records(0, 20, 10));
            engine.checkpointNow();
        }
        Path content = view.resolve("content-000099.gz.new");
        Path copy = view.resolve("held-000001.new");
        Files.write(content, new byte[DISK_BYTES / 4]);
        fill(copy);
        try (EmbeddedEngine engine = open()) {
            engine.append("a", records(20, 40, 10));
            assertThat(content).doesNotExist();
            assertThat(copy).doesNotExist();
        }
    }

    /// Takes all the space of a file system.
    private static void fill(Path file) throws IOException {
        byte[] block = new byte[4 << 10];
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int written = 0; written <= DISK_BYTES; written += block.length) {
                out.write(block);
            }
        } catch (IOException full) {
            return;
        }
        throw new IllegalStateException("The file system is not full");
    }
}
