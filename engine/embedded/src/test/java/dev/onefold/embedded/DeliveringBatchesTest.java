package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.api.RemoteEngine;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.delivery.Carrier;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Deliveries on threads of their own, and a person in another process.
@Timeout(60)
class DeliveringBatchesTest {
    private static final int SENDERS = 4;

    @TempDir
    Path directory;

    private final SortedMap<BatchNumber, List<String>> got = new ConcurrentSkipListMap<>();
    private final SortedMap<BatchNumber, Manifest> manifests = new ConcurrentSkipListMap<>();

    private static Pipeline pipeline(String more) {
        String text =
                "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":10,\"wait\":\"1s\"," + more + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private EmbeddedEngine open(Pipeline pipeline) {
        return EmbeddedEngine.open(
                directory, pipeline, Settings.defaults().withCheckpointInterval(Duration.ofMillis(20)));
    }

    private Outcome take(Manifest manifest, Carrier.Content content) {
        try (InputStream in = content.open()) {
            List<String> lines = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            assertThat(got.put(manifest.number(), lines)).isNull();
            manifests.put(manifest.number(), manifest);
            return new Outcome.Done();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void many_senders_on_one_source_and_the_clock_make_batches_that_are_delivered_side_by_side() {
        try (EmbeddedEngine engine =
                open(pipeline("\"deliver\":{\"http\":\"http://h/\"},\"receiver\":\"idempotent\""))) {
            engine.deliver((manifest, _, content) -> take(manifest, content));
            try (ExecutorService senders = Executors.newFixedThreadPool(SENDERS)) {
                for (int sender = 0; sender < SENDERS; sender++) {
                    senders.execute(() -> IntStream.range(0, 200)
                            .forEach(id -> engine.append("one", List.of("{\"id\":" + id + "}"))));
                }
            }
            await(() -> engine.batches().summary().isQuiet());
        }
        assertThat(got.values().stream().flatMap(List::stream))
                .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 200)
                        .mapToObj(id -> "{\"id\":" + id + "}")
                        .toList());
        String previous = "";
        for (Manifest manifest : manifests.values()) {
            assertThat(manifest.previous()).isEqualTo(previous);
            previous = manifest.sha256();
        }
        assertThat(got.lastKey().number()).isEqualTo(got.size());
    }

    @Test
    void hazard_76_a_slow_receiver_holds_up_neither_intake_nor_answers() throws InterruptedException {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch answers = new CountDownLatch(1);
        try (EmbeddedEngine engine =
                open(pipeline("\"deliver\":{\"http\":\"http://h/\"},\"receiver\":\"once\",\"order\":\"strict\""))) {
            engine.deliver((manifest, _, content) -> {
                called.countDown();
                answers.await();
                return take(manifest, content);
            });
            engine.append("a", records(0, 10));
            called.await();
            engine.append("a", records(10, 40));
            engine.checkpointNow();
            SealedBatches.Summary summary = engine.batches().summary();
            assertThat(summary.sealed()).isEqualTo(4);
            assertThat(summary.undelivered()).isEqualTo(4);
            assertThat(engine.batches()
                            .list(BatchNumber.of(1), 1, true)
                            .getFirst()
                            .state())
                    .isEqualTo("delivering");
            answers.countDown();
            await(() -> engine.batches().summary().isQuiet());
        }
        assertThat(got).hasSize(4);
    }

    private static List<String> records(int from, int to) {
        return IntStream.range(from, to).mapToObj(id -> "{\"id\":" + id + "}").toList();
    }

    /// Requires that batches that a person has ended stay listed and counted.
    private static void assertDecided(SealedBatches batches) {
        assertThat(batches.summary().decided()).isEqualTo(new SealedBatches.Decided(1, 1, 10));
        List<Line> lines = batches.list(BatchNumber.of(1), 100, false);
        assertThat(lines).extracting(Line::state).startsWith("discarded", "done");
        assertThat(lines.getFirst().reason()).startsWith("A person discarded it at 2");
        assertThat(lines.get(1).reason()).startsWith("A person said at 2").endsWith(" that the receiver has it");
        assertThat(batches.find(BatchNumber.of(1))).contains(lines.getFirst());
        assertThat(batches.list(BatchNumber.of(1), 100, true)).isEmpty();
        assertThatThrownBy(() -> batches.export(BatchNumber.of(1), _ -> {})).hasMessageContaining("is discarded");
        assertThatThrownBy(() -> batches.release(BatchNumber.of(1))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_person_in_another_process_sees_and_decides() {
        Pipeline pipeline = pipeline("\"deliver\":{\"http\":\"http://h/\"},\"receiver\":\"idempotent\"");
        try (EmbeddedEngine engine = open(pipeline)) {
            engine.deliver((manifest, _, content) ->
                    manifest.number().number() < 3 ? new Outcome.Conflict("another content") : take(manifest, content));
            engine.append("a", records(0, 35));
            SealedBatches batches =
                    RemoteEngine.connect(directory).orElseThrow().batches();
            assertThat(batches.seal()).isTrue();
            await(() -> engine.batches().summary().isQuiet());
            assertThat(batches.summary()).isEqualTo(engine.batches().summary());
            assertThat(batches.list(BatchNumber.of(1), 100, true))
                    .isEqualTo(engine.batches().list(BatchNumber.of(1), 100, true))
                    .extracting(Line::state)
                    .containsExactly("put aside", "put aside");
            assertThat(batches.find(BatchNumber.of(2)).orElseThrow().reason()).isEqualTo("another content");
            assertThat(batches.find(BatchNumber.of(99))).isEmpty();
            StringBuilder exported = new StringBuilder();
            batches.export(BatchNumber.of(2), bytes -> exported.append(new String(bytes, StandardCharsets.UTF_8)));
            assertThat(exported.toString().lines()).isEqualTo(records(10, 20));
            assertThat(batches.settle(BatchNumber.of(1), Delivery.How.DISCARDED).state())
                    .isEqualTo("discarded");
            batches.release(BatchNumber.of(2));
            await(() -> engine.batches().summary().isQuiet());
            assertThat(batches.settle(BatchNumber.of(2), Delivery.How.SAID).state())
                    .isEqualTo("done");
            assertThatThrownBy(() -> batches.release(BatchNumber.of(2))).isInstanceOf(IllegalArgumentException.class);
            assertThat(batches.summary().undelivered()).isZero();
            assertDecided(batches);
        }
        assertThat(got.keySet()).hasToString("[000003, 000004]");
        try (EmbeddedEngine engine = open(pipeline)) {
            assertDecided(engine.batches());
        }
    }
}
