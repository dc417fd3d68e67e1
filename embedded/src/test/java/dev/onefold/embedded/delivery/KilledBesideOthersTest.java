package dev.onefold.embedded.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What follows a kill while several batches with a compressed content were being delivered at once.
@Timeout(60)
class KilledBesideOthersTest {
    private static final int BATCHES = 4;
    private static final int SIZE = 10;

    @TempDir
    private Path directory;

    private static Pipeline pipeline() {
        String text = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":" + SIZE
                + ",\"deliver\":{\"file\":\"/x/{number}.gz\"},\"concurrency\":" + BATCHES + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private static EmbeddedEngine open(Path data) {
        return EmbeddedEngine.open(data, pipeline(), Settings.defaults().withCheckpointInterval(Duration.ofMillis(20)));
    }

    /// The first batches are large, so that their contents take longer to make than those of the next ones.
    private static void fill(EmbeddedEngine engine) {
        for (int id = 0; id < BATCHES * SIZE; id++) {
            byte[] noise = new byte[id < 2 * SIZE ? 500_000 >> (id / SIZE) : 10];
            new Random(id).nextBytes(noise);
            String text = Base64.getEncoder().encodeToString(noise);
            engine.append("a", List.of("{\"id\":" + id + ",\"t\":\"" + text + "\"}"));
        }
    }

    /// The files of a running engine at a moment when nothing in it writes: what a kill leaves.
    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(each -> Files.isDirectory(each) || Files.isRegularFile(each))
                    .toList()) {
                Files.copy(file, to.resolve(from.relativize(file)));
            }
        }
    }

    @Test
    void batches_without_a_note_of_their_attempts_are_delivered_side_by_side_after_a_kill() throws Exception {
        Path first = directory.resolve("first");
        Path killed = directory.resolve("killed");
        CountDownLatch asked = new CountDownLatch(BATCHES);
        CountDownLatch isOver = new CountDownLatch(1);
        Carrier slow = (manifest, _, _) -> {
            asked.countDown();
            if (manifest.number().number() < BATCHES) {
                isOver.await();
            }
            return new Outcome.Done();
        };
        try (EmbeddedEngine engine = open(first)) {
            fill(engine);
            engine.checkpointNow();
            engine.deliver(slow);
            asked.await();
            // The end of the last batch is durable, and nothing else was noted.
            while (engine.batches().summary().done() < 1 || !isEnded(first)) {
                Thread.onSpinWait();
            }
            copy(first, killed);
            isOver.countDown();
        }
        SortedMap<Long, String> hashes = new ConcurrentSkipListMap<>();
        SortedMap<Long, String> previous = new ConcurrentSkipListMap<>();
        try (EmbeddedEngine engine = open(killed)) {
            engine.deliver((manifest, _, content) -> take(manifest, content, hashes, previous));
            while (hashes.size() < BATCHES - 1) {
                engine.append("a", List.of()); // Throws when the engine has stopped.
                Thread.onSpinWait();
            }
        }
        assertThat(hashes).containsOnlyKeys(1L, 2L, 3L);
        assertThat(previous).containsEntry(2L, hashes.get(1L)).containsEntry(3L, hashes.get(2L));
    }

    private static boolean isEnded(Path data) throws IOException {
        try (Stream<Path> files = Files.walk(data)) {
            return files.noneMatch(file -> file.endsWith("content-00000" + BATCHES + ".gz"));
        }
    }

    private static Outcome take(
            Manifest manifest,
            Carrier.Content content,
            SortedMap<Long, String> hashes,
            SortedMap<Long, String> previous)
            throws InterruptedException {
        try (InputStream in = new GZIPInputStream(content.open())) {
            long number = manifest.number().number();
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8).lines())
                    .hasSize(SIZE)
                    .zipSatisfy(
                            IntStream.range(0, SIZE).boxed().toList(),
                            (line, i) -> assertThat(line).startsWith("{\"id\":" + ((number - 1) * SIZE + i) + ","));
            previous.put(number, manifest.previous());
            hashes.put(number, manifest.sha256());
            return new Outcome.Done();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
