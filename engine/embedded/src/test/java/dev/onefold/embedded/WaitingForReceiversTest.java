package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.api.RemoteEngine;
import dev.onefold.core.EngineException;
import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.delivery.Carrier;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.SpaceListener;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A receiver that does not take batches: at a bound intake waits, says so, and continues by itself.
@Timeout(60)
class WaitingForReceiversTest {
    private static final long BYTES_MAX = 400;

    @TempDir
    Path directory;

    private final CountDownLatch waits = new CountDownLatch(1);
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private volatile Outcome answer = new Outcome.NotNow("closed", Duration.ofMillis(1));

    private static Pipeline pipeline(int size) {
        return pipeline(size, "");
    }

    private static Pipeline pipeline(int size, String more) {
        String text = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":" + size
                + ",\"deliver\":{\"http\":\"http://h/\"},\"receiver\":\"idempotent\"" + more + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private EmbeddedEngine open() {
        EmbeddedEngine engine = EmbeddedEngine.open(
                directory,
                pipeline(10),
                Settings.defaults()
                        .withCheckpointInterval(Duration.ofMillis(20))
                        .withUndeliveredBytesMax(BYTES_MAX)
                        .withPause(Thread::onSpinWait)
                        .withSpaceListener(new SpaceListener() {
                            @Override
                            public void waiting(Instant since, Path file) {}

                            @Override
                            public void ended(Instant since) {}

                            @Override
                            public void waitingForReceiver(Instant since, long bytes, long bytesMax) {
                                assertThat(bytes).isGreaterThan(bytesMax);
                                waits.countDown();
                            }

                            @Override
                            public void endedForReceiver(Instant since) {
                                goesOn.countDown();
                            }
                        }));
        engine.deliver((_, _, _) -> answer);
        return engine;
    }

    private static List<String> records(int from, int to) {
        return IntStream.range(from, to).mapToObj(id -> "{\"id\":" + id + "}").toList();
    }

    @Test
    void senders_wait_at_the_bound_and_go_on_by_themselves_when_the_receiver_works_again() throws Exception {
        try (ExecutorService sender = Executors.newSingleThreadExecutor();
                EmbeddedEngine engine = open()) {
            Future<?> sending = sender.submit(() ->
                    IntStream.range(0, 30).forEach(i -> engine.append("a", records(10 * i, 10 * i + 10))));
            waits.await();
            while (engine.batches().summary().undeliveredSince() == null) {
                Thread.onSpinWait(); // Until the first of them is durable.
            }
            Summary summary = engine.status().batches().orElseThrow();
            assertThat(summary.intakeWaitsSince()).isNotNull();
            assertThat(summary.bytes()).isBetween(BYTES_MAX, 2 * BYTES_MAX);
            assertThat(summary.sealed()).isLessThan(30);
            assertThat(summary.undeliveredSince()).isNotNull();
            assertThat(sending.isDone()).isFalse();
            assertThat(RemoteEngine.connect(directory)
                            .orElseThrow()
                            .status()
                            .batches()
                            .orElseThrow()
                            .intakeWaitsSince())
                    .as("another process sees it, too")
                    .isEqualTo(summary.intakeWaitsSince());
            answer = new Outcome.Done();
            sending.get();
            goesOn.await();
            while (!engine.batches().summary().isQuiet()) {
                Thread.onSpinWait();
            }
            Summary after = engine.batches().summary();
            assertThat(after.intakeWaitsSince()).isNull();
            assertThat(after.sealed()).isEqualTo(30);
            assertThat(after.done()).isEqualTo(30);
            assertThat(engine.counts().accepted()).isEqualTo(300);
        }
    }

    @Test
    void a_file_waits_until_a_person_discards_and_people_do_not_wait() throws Exception {
        answer = new Outcome.Conflict("other content");
        String lines = records(0, 120).stream().collect(Collectors.joining("\n", "", "\n"));
        try (ExecutorService sender = Executors.newSingleThreadExecutor();
                EmbeddedEngine engine = open()) {
            engine.append("a", List.of("nonsense"));
            engine.append("a", records(0, 100));
            Future<?> folding = sender.submit(() -> engine.fold(
                    new FileSource("f", () -> new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)), false),
                    FoldListener.silent()));
            waits.await();
            assertThat(engine.deadLetters().purge(List.of(1L))).isEqualTo(1);
            for (int number = 1; number <= 10; number++) {
                BatchNumber each = BatchNumber.of(number);
                while (engine.batches()
                        .find(each)
                        .filter(line -> line.state().equals("put aside"))
                        .isEmpty()) {
                    Thread.onSpinWait();
                }
                engine.batches().settle(each, Delivery.How.DISCARDED);
            }
            folding.get();
            assertThat(engine.counts().accepted()).isEqualTo(120);
        }
    }

    @Test
    void an_engine_that_is_closed_lets_nobody_wait() throws Exception {
        EmbeddedEngine engine = open();
        try (ExecutorService sender = Executors.newSingleThreadExecutor()) {
            Future<?> sending = sender.submit(() -> assertThatThrownBy(() ->
                            IntStream.range(0, 30).forEach(i -> engine.append("a", records(10 * i, 10 * i + 10))))
                    .isInstanceOfSatisfying(
                            EngineException.class,
                            stopped -> assertThat(stopped.kind()).isEqualTo(EngineException.Kind.STOPPED)));
            waits.await();
            engine.close();
            sending.get();
        }
    }

    @Test
    @Tag("campaign")
    void a_batch_that_waits_for_a_person_keeps_its_own_records_on_disk_and_not_those_of_later_ones() throws Exception {
        String text = "x".repeat(100_000);
        List<String> first = List.of("{\"id\":0}", "{\"id\":-1}");
        Pipeline pairs = pipeline(2);
        Path bodies = directory.resolve("view-1/bodies-1");
        List<String> got = new CopyOnWriteArrayList<>();
        Settings settings = Settings.defaults().withCheckpointInterval(Duration.ofMillis(20));
        Carrier refusing = (manifest, _, _) ->
                manifest.number().number() == 1 ? new Outcome.Refused("not this one") : new Outcome.Done();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pairs, settings)) {
            engine.deliver(refusing);
            engine.append("a", first);
            for (int from = 1; from < 1_400; from += 50) {
                engine.append(
                        "a",
                        IntStream.range(from, from + 50)
                                .mapToObj(id -> "{\"id\":" + id + ",\"text\":\"" + text + "\"}")
                                .toList());
            }
            while (Files.exists(bodies)) {
                engine.checkpointNow();
            }
            assertThat(engine.batches().summary().bytes()).isLessThan(100_000_000);
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pairs, settings)) {
            engine.batches().export(BatchNumber.of(1), bytes -> got.add(new String(bytes, StandardCharsets.UTF_8)));
            assertThat(String.join("", got).lines()).containsExactlyElementsOf(first);
            got.clear();
            engine.batches().release(BatchNumber.of(1));
            engine.deliver((manifest, _, content) ->
                    manifest.number().number() == 1 ? take(content, got) : new Outcome.Done());
            while (!engine.batches().summary().isQuiet()) {
                Thread.onSpinWait();
            }
            assertThat(got).isEqualTo(first);
        }
        assertThat(directory.resolve("view-1").toFile().list()).noneMatch(name -> name.startsWith("content-"));
    }

    @Test
    void records_that_were_copied_for_a_batch_that_waits_serve_its_parts_also_after_a_restart() throws Exception {
        Pipeline halving = pipeline(10, ",\"bisect\":true");
        Path copy = directory.resolve("view-1/held-000001");
        List<String> got = new CopyOnWriteArrayList<>();
        AtomicBoolean isClosed = new AtomicBoolean(true);
        Settings settings = Settings.defaults()
                .withCheckpointInterval(Duration.ofMillis(20))
                .withUndeliveredBytesMax(BYTES_MAX);
        Carrier carrier = (manifest, _, content) -> {
            if (manifest.number().number() > 1) {
                return new Outcome.Done();
            }
            if (isClosed.get()) {
                return new Outcome.NotNow("closed", Duration.ofMillis(1));
            }
            List<String> lines = new ArrayList<>();
            Outcome outcome = take(content, lines);
            if (lines.contains("{\"id\":3}")) {
                return new Outcome.Refused("poison");
            }
            got.addAll(lines);
            return outcome;
        };
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, halving, settings)) {
            engine.deliver(carrier);
            engine.append("a", records(0, 100));
            while (Files.notExists(copy)) {
                engine.checkpointNow();
            }
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, halving, settings)) {
            isClosed.set(false);
            engine.deliver(carrier);
            while (engine.batches().summary().aside() == 0 || got.size() < 9) {
                Thread.onSpinWait();
            }
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, halving, settings)) {
            BatchNumber poison = engine.batches().list(BatchNumber.of(1), 10, true).stream()
                    .filter(line -> line.state().equals("put aside"))
                    .findFirst()
                    .orElseThrow()
                    .number();
            List<String> exported = new ArrayList<>();
            engine.batches().export(poison, bytes -> exported.add(new String(bytes, StandardCharsets.UTF_8)));
            assertThat(exported).containsExactly("{\"id\":3}\n");
            engine.batches().settle(poison, Delivery.How.DISCARDED);
        }
        assertThat(got).hasSize(9).doesNotHaveDuplicates();
        EmbeddedEngine.open(directory, halving, settings).close();
        assertThat(copy).doesNotExist();
    }

    private static Outcome take(Carrier.Content content, List<String> got) {
        try (InputStream in = content.open()) {
            new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().forEach(got::add);
            return new Outcome.Done();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
