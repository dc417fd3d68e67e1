package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Status.OfDelay;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.QueueBatch;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The delay of records is known by the way they came, under a clock that goes on as the test says.
class DelayedRecordsTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .key("k")
            .version("v")
            .rollup(rollup -> rollup.count("n"))
            .build();
    private static final Instant BEGIN = Instant.parse("2026-11-28T10:00:00Z");

    private final AtomicReference<Instant> now = new AtomicReference<>(BEGIN);

    @TempDir
    private Path folder;

    private EmbeddedEngine open() {
        return EmbeddedEngine.open(
                folder.resolve("data"), PIPELINE, Settings.defaults().withClock(now::get));
    }

    private static String record(int key) {
        return "{\"k\":\"%d\",\"v\":1}".formatted(key);
    }

    private static byte[] bytes(int key) {
        return record(key).getBytes(StandardCharsets.UTF_8);
    }

    private static OfDelay alike(String from, long records, long millis) {
        return new OfDelay(from, records, millis * 1_000, millis * 1_000, millis * 1_000, millis * 1_000);
    }

    @Test
    void requests_logs_and_queues_have_their_delays_and_whole_files_have_none() throws Exception {
        try (EmbeddedEngine engine = open()) {
            assertThat(engine.status().delays()).isEmpty();
            byte[] lines = (record(1) + "\n" + record(2) + "\n{\n").getBytes(StandardCharsets.UTF_8);
            engine.append("lines", 1, lines, lines.length);
            engine.append("lines", 1, lines, lines.length); // All lines are passed over: they are no records.
            long ms = BEGIN.toEpochMilli();
            engine.fold(new LogBatch(
                    "log",
                    0,
                    0,
                    3,
                    List.of(
                            new LogBatch.Entry(0, bytes(3), ms - 40),
                            new LogBatch.Entry(1, bytes(4), ms - 40),
                            new LogBatch.Entry(2, bytes(5)))));
            engine.fold(new LogBatch("log", 0, 0, 2, List.of(new LogBatch.Entry(1, bytes(4), ms - 9_000))));
            engine.append(new QueueBatch("queue", List.of(new QueueBatch.Message("m", ms - 7, bytes(6)))));
            Path file = Files.writeString(folder.resolve("f.ndjson"), record(7) + "\n");
            engine.fold(FileSource.of(file), FoldListener.silent());
            assertThat(engine.counts().accepted()).isEqualTo(7);
            assertThat(engine.status().delays())
                    .containsExactly(alike("requests", 3, 0), alike("logs", 2, 40), alike("queues", 1, 7));
        }
        try (EmbeddedEngine again = open()) {
            assertThat(again.status().delays()).isEmpty();
        }
    }

    @Test
    void a_growing_file_is_late_by_the_time_since_it_was_opened_for_its_growth() throws Exception {
        Path file = folder.resolve("f.ndjson");
        FileSource growing = new FileSource(
                "f",
                () -> {
                    now.updateAndGet(before -> before.plusMillis(20));
                    return Files.newInputStream(file);
                },
                true);
        try (EmbeddedEngine engine = open()) {
            Files.writeString(file, record(1) + "\n" + record(2) + "\n");
            engine.fold(growing, FoldListener.silent());
            List<OfDelay> first = engine.status().delays();
            assertThat(first).extracting(OfDelay::from).containsExactly("files");
            assertThat(first.getFirst().records()).isEqualTo(2);
            assertThat(first.getFirst().longestMicros()).isGreaterThanOrEqualTo(20_000);
            engine.fold(growing, FoldListener.silent());
            assertThat(engine.status().delays()).isEqualTo(first);
        }
    }
}
