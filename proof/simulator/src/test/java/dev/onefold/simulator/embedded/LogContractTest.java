package dev.onefold.simulator.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.Engine;
import dev.onefold.core.EngineException;
import dev.onefold.core.LetterContract;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.LogBatch;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The engine keeps its contract when the records come from a log in partitions.
class LogContractTest implements LetterContract {
    private static final int PARTITIONS = 3;
    private static final int EACH_MAX = 100;

    @TempDir
    Path directory;

    private final Map<Engine, String> data = new HashMap<>();
    private final Map<String, MemoryLog> logs = new HashMap<>();
    private final Map<String, Integer> fed = new HashMap<>();

    @Override
    public Engine open(String name, Pipeline pipeline) {
        Engine engine = EmbeddedEngine.open(
                directory.resolve(name),
                pipeline,
                Settings.defaults().withShards(3).withThreads(0));
        data.put(engine, name);
        return engine;
    }

    /// Each record goes to the next partition, and the first ones are delivered each with those before it; in each
    /// partition a control record comes first.
    @Override
    public void feed(Engine engine, String source, List<String> records) {
        String name = data.get(engine) + " " + source;
        MemoryLog log = logs.computeIfAbsent(name, _ -> {
            MemoryLog made = new MemoryLog(source, PARTITIONS);
            for (int partition = 0; partition < PARTITIONS; partition++) {
                made.appendControl(partition);
            }
            return made;
        });
        for (int i = 0; i < records.size(); i++) {
            int partition = fed.merge(name, 1, Integer::sum) % PARTITIONS;
            log.append(partition, records.get(i));
            if (i < EACH_MAX || i >= records.size() - PARTITIONS) {
                long next = ((EmbeddedEngine) engine).offsets(source).getOrDefault(partition, 0L);
                ((EmbeddedEngine) engine).fold(log.read(partition, Math.max(0, next - 2), Integer.MAX_VALUE));
            }
        }
    }

    @Override
    public long line(Place place) {
        int partition = place.source().charAt(place.source().length() - 1) - '0';
        return (place.offset() - 1) * PARTITIONS + (partition == 0 ? PARTITIONS : partition);
    }

    /// A record of a partition has no arrival to compare its time with.
    @Override
    @Test
    public void a_time_beyond_the_horizon_before_its_arrival_is_too_old_whatever_came_before() {
        Pipeline horizon = PipelineBuilder.named("horizon")
                .json()
                .id("id")
                .horizon(Duration.ofDays(1))
                .time("at")
                .rollup(rollup -> rollup.count("records"))
                .build();
        try (Engine engine = open("horizon", horizon)) {
            assertThatThrownBy(() -> feed(engine, "log", List.of("{\"id\":1,\"at\":1}")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("a record of a log's partition has no arrival");
        }
    }

    private static final Pipeline COUNT = PipelineBuilder.named("count")
            .rollup(rollup -> rollup.count("records").sum("sum", "n", 18, 0))
            .build();

    private static LogBatch batch(long from, long next, String... records) {
        return new LogBatch(
                "log",
                7,
                from,
                next,
                IntStream.range(0, records.length)
                        .mapToObj(i -> new LogBatch.Entry(from + i, records[i].getBytes(StandardCharsets.UTF_8)))
                        .toList());
    }

    @Test
    void a_record_with_line_ends_is_one_record_and_so_is_its_dead_letter_and_the_edit_of_it() {
        try (EmbeddedEngine engine = (EmbeddedEngine) open("lines", COUNT)) {
            engine.fold(batch(3, 5, "{\n\"n\":\n1}\r\n", "poison\n\r"));
            assertThat(engine.counts().accepted()).isEqualTo(1);
            assertThat(engine.deadLetters().list(0, 9)).singleElement().satisfies(letter -> {
                assertThat(letter.place()).isEqualTo(new Place("log/7", 0, 4));
                assertThat(engine.deadLetters().record(letter.id())).asString().isEqualTo("poison\n\r");
            });
            engine.deadLetters().redrive(1, "{\n\"n\":2}".getBytes(StandardCharsets.UTF_8));
            assertThat(engine.counts().accepted()).isEqualTo(2);
        }
    }

    @Test
    void a_gap_in_a_partition_is_refused_and_names_the_offset_to_go_on_from() {
        try (EmbeddedEngine engine = (EmbeddedEngine) open("gap", COUNT)) {
            engine.fold(batch(3, 5, "{\"n\":1}"));
            assertThatThrownBy(() -> engine.fold(batch(6, 7, "{\"n\":1}")))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("all below offset 5 are folded");
            engine.fold(batch(5, 9));
            assertThat(engine.offsets("log")).isEqualTo(Map.of(7, 9L));
        }
    }

    @Test
    void batches_that_begin_below_the_first_one_are_refused_and_not_passed_over() {
        try (EmbeddedEngine engine = (EmbeddedEngine) open("order", COUNT)) {
            engine.fold(batch(2, 4, "{\"n\":1}", "{\"n\":1}"));
            assertThatThrownBy(() -> engine.fold(batch(0, 2, "{\"n\":1}", "{\"n\":1}")))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("The first batch of log/7 began at offset 2");
            engine.checkpointNow();
        }
        try (EmbeddedEngine engine = (EmbeddedEngine) open("order", COUNT)) {
            assertThatThrownBy(() -> engine.fold(batch(1, 4, "{\"n\":1}", "{\"n\":1}")))
                    .hasMessageContaining("began at offset 2");
            engine.fold(batch(2, 5, "{\"n\":1}", "{\"n\":1}", "{\"n\":1}"));
            assertThat(engine.counts().accepted()).isEqualTo(3);
        }
    }

    @Test
    void a_record_over_the_limit_is_kept_by_its_hash_and_the_others_go_on() {
        byte[] large = new byte[33 << 20];
        Arrays.fill(large, (byte) 'x');
        LogBatch.Entry before = new LogBatch.Entry(0, "{\"n\":1}".getBytes(StandardCharsets.UTF_8));
        LogBatch.Entry behind = new LogBatch.Entry(2, "{\"n\":1}".getBytes(StandardCharsets.UTF_8));
        try (EmbeddedEngine engine = (EmbeddedEngine) open("large", COUNT)) {
            engine.fold(new LogBatch("log", 7, 0, 3, List.of(before, new LogBatch.Entry(1, large), behind)));
            engine.checkpointNow();
        }
        try (EmbeddedEngine engine = (EmbeddedEngine) open("large", COUNT)) {
            assertThat(engine.counts()).isEqualTo(new Counts(2, 0, 0, 0, 1));
            assertThat(engine.deadLetters().list(0, 9)).singleElement().satisfies(letter -> {
                assertThat(letter.reason()).isEqualTo(Reason.TOO_LARGE);
                assertThat(letter.place()).isEqualTo(new Place("log/7", 0, 1));
                assertThat(letter.bytes()).isEqualTo(large.length);
            });
            assertThat(engine.offsets("log")).isEqualTo(Map.of(7, 3L));
        }
    }

    @Test
    void a_record_without_a_value_is_refused_with_its_offset() {
        assertThatThrownBy(() -> new LogBatch.Entry(5, null))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("offset 5");
    }

    @Test
    void only_what_a_forced_checkpoint_covers_is_to_be_committed_to_the_log() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(
                directory.resolve("durable"), COUNT, Settings.defaults().withCheckpointInterval(Duration.ofDays(1)))) {
            engine.fold(batch(0, 2, "{\"n\":1}"));
            assertThat(engine.offsets("log")).isEqualTo(Map.of(7, 2L));
            assertThat(engine.durableOffsets("log")).isEmpty();
            engine.checkpointNow();
            assertThat(engine.durableOffsets("log")).isEqualTo(Map.of(7, 2L));
        }
    }

    @Test
    void the_name_of_a_partition_is_not_for_lines_or_files() {
        try (EmbeddedEngine engine = (EmbeddedEngine) open("kinds", COUNT)) {
            engine.fold(batch(0, 2, "{\"n\":1}"));
            assertThatThrownBy(() -> engine.append("log/7", List.of("{\"n\":1}")))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("is a partition of a log");
            assertThatThrownBy(() -> Trades.fold(engine, Trades.file("log/7", "{\"n\":1}")))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("is a partition of a log");
            assertThat(engine.counts().records()).isEqualTo(1);
        }
    }
}
