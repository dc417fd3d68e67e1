package dev.onefold.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.delivery.Carrier;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.QueueBatch;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Ids that may come again after delivery, or after a time.
class ForgettingIdsTest {
    private static final int BATCH = 50_000;
    private static final int MANY = 6 * BATCH; // Their claims are several segments.

    @TempDir
    Path directory;

    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final List<String> got = new ArrayList<>();
    private Function<Manifest, Outcome> answer = _ -> new Outcome.Done();

    private static Pipeline pipeline(int size, String forget) {
        String text = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\",\"filter\":\"n < 9\"},\"batch\":{\"size\":" + size
                + ",\"deliver\":{\"http\":\"http://h/\"},\"receiver\":\"once\",\"forget\":\"" + forget + "\"}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private EmbeddedEngine open(Pipeline pipeline) {
        EmbeddedEngine engine = EmbeddedEngine.open(
                directory,
                pipeline,
                Settings.defaults()
                        .withThreads(0)
                        .withShards(1)
                        .withCheckpointInterval(Duration.ofDays(1))
                        .withClock(() -> now));
        engine.deliver(this::take);
        return engine;
    }

    private Outcome take(Manifest manifest, int attempt, Carrier.Content content) {
        Outcome outcome = answer.apply(manifest);
        if (outcome instanceof Outcome.Done) {
            try (InputStream in = content.open()) {
                new String(in.readAllBytes(), UTF_8).lines().forEach(got::add);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
        return outcome;
    }

    private static String record(int id, int n) {
        return "{\"id\":" + id + ",\"n\":" + n + "}";
    }

    private static void deliver(EmbeddedEngine engine) {
        engine.checkpointNow();
        engine.deliverDue();
    }

    @Test
    void after_its_delivery_an_id_is_collected_again_as_soon_as_a_checkpoint_says_so() {
        try (EmbeddedEngine engine = open(pipeline(1, "after-delivery"))) {
            engine.append("a", List.of(record(1, 1)));
            deliver(engine);
            engine.append("a", List.of(record(1, 1)));
            assertThat(engine.counts().duplicate()).isEqualTo(1);
            engine.checkpointNow();
            engine.append("a", List.of(record(1, 1), record(1, 1)));
            assertThat(engine.counts().accepted()).isEqualTo(2);
            assertThat(engine.counts().duplicate()).isEqualTo(2);
            deliver(engine);
        }
        assertThat(got).containsExactly(record(1, 1), record(1, 1));
    }

    @Test
    void until_its_delivery_has_ended_a_second_content_of_an_id_is_a_conflict() {
        answer = _ -> new Outcome.Unknown("no answer");
        try (EmbeddedEngine engine = open(pipeline(1, "after-delivery"))) {
            engine.append("a", List.of(record(1, 1), record(2, 1)));
            deliver(engine);
            engine.checkpointNow();
            engine.append("a", List.of(record(1, 2)));
            assertThat(engine.deadLetters().list(0, 10))
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.reason()).isEqualTo(Reason.CONFLICT));
            engine.batches().settle(BatchNumber.of(1), Delivery.How.SAID);
            engine.checkpointNow();
            engine.append("a", List.of(record(1, 3), record(2, 3)));
            assertThat(engine.counts().conflicting()).isEqualTo(2);
            answer = _ -> new Outcome.Done();
            engine.deadLetters()
                    .redrive(engine.deadLetters().list(0, 1).getFirst().id(), null);
            deliver(engine);
        }
        assertThat(got).containsExactly(record(1, 3));
    }

    @Test
    void hazard_92_what_a_source_gives_again_is_in_one_batch_though_its_id_is_forgotten() {
        byte[] lines = (record(1, 1) + "\n" + record(2, 1) + "\n").getBytes(UTF_8);
        byte[] more = (record(1, 1) + "\n" + record(2, 1) + "\n" + record(1, 2) + "\n").getBytes(UTF_8);
        for (int life = 0; life < 3; life++) {
            try (EmbeddedEngine engine = open(pipeline(1, "after-delivery"))) {
                engine.fold(new FileSource("f", () -> new ByteArrayInputStream(lines), false), FoldListener.silent());
                engine.fold(log(0, 3, 3));
                engine.fold(log(1, 4, 4));
                engine.append("numbered", 1, lines, lines.length);
                deliver(engine);
                engine.checkpointNow();
            }
        }
        assertThat(got).as("three sources, and the ids were not yet delivered").hasSize(3);
        try (EmbeddedEngine engine = open(pipeline(1, "after-delivery"))) {
            engine.fold(new FileSource("f", () -> new ByteArrayInputStream(more), false), FoldListener.silent());
            engine.fold(log(0, 5, 5));
            deliver(engine);
        }
        assertThat(got).hasSize(5).endsWith(record(1, 2), record(3, 5));
    }

    @Test
    void hazard_92_a_queue_is_refused_if_an_id_is_forgotten_while_it_may_give_the_message_again() {
        QueueBatch message = new QueueBatch(
                "orders",
                List.of(new QueueBatch.Message(
                        "m1", now.toEpochMilli(), record(1, 1).getBytes(UTF_8))));
        for (String forget : List.of("after-delivery", "14d")) {
            directory = directory.resolve(forget);
            try (EmbeddedEngine engine = open(pipeline(1, forget))) {
                assertThatThrownBy(() -> engine.append(message))
                        .hasMessageContaining("a queue may give a message again");
            }
        }
        directory = directory.resolve("15d");
        try (EmbeddedEngine engine = open(pipeline(1, "15d"))) {
            engine.append(message);
            engine.append(message);
            assertThat(engine.counts().accepted()).isEqualTo(1);
        }
    }

    @Test
    void hazard_92_a_renamed_file_that_has_grown_is_refused_if_ids_are_forgotten() {
        byte[] lines = (record(1, 1) + "\n" + record(2, 1) + "\n").getBytes(UTF_8);
        byte[] more = (record(1, 1) + "\n" + record(2, 1) + "\n" + record(3, 1) + "\n").getBytes(UTF_8);
        for (String forget : List.of("after-delivery", "30d")) {
            directory = directory.resolve(forget);
            got.clear();
            try (EmbeddedEngine engine = open(pipeline(1, forget))) {
                engine.fold(new FileSource("/a", () -> new ByteArrayInputStream(lines), false), FoldListener.silent());
                deliver(engine);
                engine.checkpointNow();
                now = now.plus(Duration.ofDays(31));
                FileSource renamed = new FileSource("/b", () -> new ByteArrayInputStream(more), false);
                assertThatThrownBy(() -> engine.fold(renamed, FoldListener.silent()))
                        .hasMessageContainingAll(
                                "begins with all that was folded as /a", "forgets the ids", "--separate");
                engine.fold(new FileSource("/a", () -> new ByteArrayInputStream(more), false), FoldListener.silent());
                deliver(engine);
            }
            assertThat(got).containsExactly(record(1, 1), record(2, 1), record(3, 1));
        }
    }

    @Test
    void where_no_id_is_forgotten_a_renamed_file_that_has_grown_is_folded_whole() {
        byte[] lines = (record(1, 1) + "\n").getBytes(UTF_8);
        byte[] more = (record(1, 1) + "\n" + record(2, 1) + "\n").getBytes(UTF_8);
        try (EmbeddedEngine engine = open(pipeline(1, "never"))) {
            engine.fold(new FileSource("/a", () -> new ByteArrayInputStream(lines), false), FoldListener.silent());
            deliver(engine);
            engine.checkpointNow();
            engine.fold(new FileSource("/b", () -> new ByteArrayInputStream(more), false), FoldListener.silent());
            deliver(engine);
        }
        assertThat(got).containsExactly(record(1, 1), record(2, 1));
    }

    private static LogBatch log(int from, int next, int n) {
        List<LogBatch.Entry> entries = IntStream.range(from, next)
                .mapToObj(offset -> new LogBatch.Entry(
                        offset, record(3, offset == 4 ? n : 3).getBytes(UTF_8)))
                .toList();
        return new LogBatch("log", 0, from, next, entries);
    }

    @Test
    void after_its_time_an_id_is_collected_again_though_nothing_was_delivered() {
        answer = _ -> new Outcome.NotNow("busy", null);
        try (EmbeddedEngine engine = open(pipeline(1, "1d"))) {
            engine.append("a", List.of(record(1, 1)));
            now = now.plus(Duration.ofDays(1));
            engine.append("a", List.of(record(1, 1)));
            assertThat(engine.counts().duplicate()).isEqualTo(1);
            now = now.plusMillis(1);
        }
        try (EmbeddedEngine engine = open(pipeline(1, "1d"))) {
            engine.append("a", List.of(record(1, 1)));
            assertThat(engine.counts().accepted()).isEqualTo(2);
            now = now.minus(Duration.ofHours(5)); // The clock is set back: nothing is forgotten that was not.
            engine.append("a", List.of(record(1, 1)));
            assertThat(engine.counts().duplicate()).isEqualTo(2);
        }
    }

    @Test
    void a_record_that_the_filter_drops_holds_its_id_no_longer_than_others() {
        String dropped = record(1, 9);
        try (EmbeddedEngine engine = open(pipeline(1, "after-delivery"))) {
            engine.append("a", List.of(dropped, record(1, 1)));
            assertThat(engine.counts().conflicting()).isEqualTo(1);
            engine.append("a", List.of(record(2, 1)));
            deliver(engine);
            engine.checkpointNow();
            engine.append("a", List.of(record(1, 2)));
            deliver(engine);
        }
        assertThat(got).containsExactly(record(2, 1), record(1, 2));
    }

    @Tag("campaign")
    @Test
    void what_is_forgotten_frees_memory_and_disk() {
        for (String forget : List.of("after-delivery", "1d")) {
            directory = directory.resolve(forget);
            try (EmbeddedEngine engine = open(pipeline(BATCH, forget))) {
                for (int from = 0; from < MANY; from += BATCH) {
                    engine.append("a", records(from, from + BATCH));
                }
                engine.checkpointNow();
                long bytes = engine.status().stateBytes();
                long disk = engine.status().diskBytes();
                assertThat(engine.status().rows()).isEqualTo(MANY);
                deliver(engine);
                engine.checkpointNow();
                now = now.plus(Duration.ofDays(2));
                engine.append("b", List.of(record(1, 1)));
                for (int round = 0; round < 5; round++) {
                    deliver(engine);
                }
                assertThat(engine.status().rows()).isLessThan(MANY / 2);
                assertThat(engine.status().stateBytes()).isLessThan(bytes);
                assertThat(engine.status().diskBytes()).isLessThan(disk - 16_000_000);
            }
            try (EmbeddedEngine engine = open(pipeline(BATCH, forget))) {
                assertThat(engine.status().rows()).isLessThan(MANY / 2);
                engine.append("b", records(0, BATCH));
                assertThat(engine.counts().duplicate()).as("after a start, too").isZero();
            }
        }
    }

    private static List<String> records(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(id -> "{\"id\":\"" + "x".repeat(80) + id + "\",\"n\":1}")
                .toList();
    }
}
