package dev.onefold.embedded.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.batch.BatchNumber;
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
import java.time.Instant;
import java.util.ArrayList;
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

/// The consequences of a kill while batches were being delivered.
@Timeout(60)
class KilledDuringDeliveriesTest {
    private static final int BATCHES = 4;
    private static final int SIZE = 10;

    @TempDir
    private Path directory;

    private Instant now = Instant.EPOCH;

    private static Pipeline pipeline() {
        return pipeline("\"size\":" + SIZE + ",\"deliver\":{\"file\":\"/x/{number}.gz\"},\"concurrency\":" + BATCHES);
    }

    private static Pipeline pipeline(String batch) {
        String text = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{" + batch + "}}";
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

    /// The files of a running engine at a moment when nothing in it writes, as after a kill.
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

    @Test
    void a_batch_that_the_receiver_took_before_a_kill_is_not_divided_when_it_is_refused_later() throws Exception {
        Path first = directory.resolve("first");
        Path killed = directory.resolve("killed");
        Pipeline pipeline = pipeline("\"size\":2,\"deliver\":{\"http\":\"http://h/\"},\"receiver\":\"idempotent\","
                + "\"bisect\":true,\"retry\":{\"delays\":[\"1s\"],\"for\":\"1h\"}");
        List<String> taken = new ArrayList<>();
        try (EmbeddedEngine engine = EmbeddedEngine.open(first, pipeline, stepped())) {
            engine.deliver((manifest, _, _) -> {
                taken.add(manifest.id());
                copied(first, killed);
                return new Outcome.Done();
            });
            engine.append("a", List.of("{\"id\":1}", "{\"id\":2}"));
            engine.checkpointNow();
            engine.deliverDue();
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(killed, pipeline, stepped())) {
            engine.deliver((manifest, _, _) -> {
                if (manifest.records() == 2) {
                    return new Outcome.Refused("stricter now");
                }
                taken.add(manifest.id());
                return new Outcome.Done();
            });
            now = now.plusSeconds(1);
            engine.deliverDue();
            assertThat(taken).containsExactly("q-000001");
            assertThat(engine.batches().list(BatchNumber.of(1), 10, true))
                    .singleElement()
                    .satisfies(line -> assertThat(line.state()).isEqualTo("put aside"));
        }
    }

    private Settings stepped() {
        return Settings.defaults().withThreads(0).withShards(1).withClock(() -> now);
    }

    private static void copied(Path from, Path to) {
        try {
            copy(from, to);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
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
