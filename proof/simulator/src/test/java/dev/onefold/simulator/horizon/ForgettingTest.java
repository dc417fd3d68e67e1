package dev.onefold.simulator.horizon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DefinitionChange;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import dev.onefold.oracle.Oracle;
import dev.onefold.simulator.embedded.PipelineYaml;
import dev.onefold.simulator.judge.Judge;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// With a horizon, ids are forgotten: memory and disk are freed, the totals stay, and no record counts twice.
class ForgettingTest {
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
    private static final int SHARE = 6;
    private static final int SEEDS = 40;
    private static final String YAML = """
            pipeline: events
            input: {id: id, time: {field: at, type: epoch-millis}, horizon: 1d}
            rollup: {levels: [g], measures: {n: count(), s: "sum(v) decimal(9,0)"}}
            """;
    private static final Pipeline PIPELINE = PipelineYaml.read(YAML);

    private Instant now = BEGINNING;
    private SimulatedDisk disk = SimulatedDisk.empty();

    private EmbeddedEngine open(int shards, boolean checkpointsAlways) {
        Settings settings = new Settings(
                shards,
                0,
                Duration.ofDays(1),
                1L << 28,
                Settings.UNDELIVERED_BYTES_MAX,
                false,
                new Settings.Machine(() -> now, new SplittableRandom(1), () -> {}, SpaceListener.silent()));
        return EmbeddedEngine.open(
                disk.getPath("/data"),
                PIPELINE,
                checkpointsAlways ? settings.withCheckpointInterval(Duration.ZERO) : settings);
    }

    private static String event(String id, Instant at, int value) {
        return "{\"id\":\"" + id + "\",\"at\":" + at.toEpochMilli() + ",\"g\":\"g" + value % 3 + "\",\"v\":" + value
                + "}";
    }

    private long files() {
        try (Stream<Path> files = Files.walk(disk.getPath("/data"))) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> String.valueOf(file.getFileName()).startsWith("rows-"))
                    .count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void day(EmbeddedEngine engine, int day, int records) {
        for (int from = 0; from < records; from += 100) {
            now = BEGINNING
                    .plus(Duration.ofDays(day))
                    .plus(Duration.ofDays(1).multipliedBy(from).dividedBy(records));
            List<String> lines = new ArrayList<>();
            for (int i = from; i < from + 100; i++) {
                lines.add(event("d" + day + "-" + i, now, i));
            }
            engine.append("s", lines);
        }
        engine.checkpointNow();
    }

    @Test
    void rows_and_files_are_freed_and_the_totals_stay() {
        int records = 4_000;
        try (EmbeddedEngine engine = open(2, false)) {
            for (int day = 0; day < 5; day++) {
                day(engine, day, records);
            }
            long rows = engine.status().rows();
            long bytes = engine.status().stateBytes();
            long files = files();
            assertThat(rows).isLessThan(4L * records);
            for (int day = 5; day < 25; day++) {
                day(engine, day, records);
            }
            assertThat(engine.status().rows()).isBetween(2L * records, rows + records / 4);
            assertThat(engine.status().stateBytes()).isLessThanOrEqualTo(bytes + bytes / 10);
            assertThat(files()).isLessThanOrEqualTo(files + 3);
            assertThat(engine.counts().accepted()).isEqualTo(25L * records);
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(engine.verify().truth()).contains("what forgotten rows came to");
            assertThat(engine.rebuild().isEqual()).isTrue();
        }
        disk = disk.kill();
        try (EmbeddedEngine engine = open(3, false)) {
            assertThat(engine.status().rows()).isLessThan(5L * records);
            assertThat(engine.verify().isEqual()).isTrue();
            engine.append("s", List.of(event("d0-1", BEGINNING, 1)));
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(letter -> letter.reason())
                    .containsExactly(Reason.TOO_OLD);
            DefinitionChange change = engine.change(PipelineYaml.read(YAML.replace("[g]", "[]")));
            assertThat(change).isInstanceOf(DefinitionChange.Impossible.class);
            assertThat(change.toString()).contains("ids are forgotten");
        }
    }

    @Test
    @Tag("campaign")
    void hazard_10_whatever_comes_again_when_ids_are_forgotten_counts_once() {
        Seeds.forEachSeed(0, SEEDS, seed -> new ForgettingTest().life(new SplittableRandom(seed)));
    }

    @Test
    void hazard_10_in_a_few_lives_whatever_comes_again_when_ids_are_forgotten_counts_once() {
        Seeds.forEachSeed(0, SHARE, seed -> new ForgettingTest().life(new SplittableRandom(seed)));
    }

    private void life(SplittableRandom random) {
        Oracle oracle = Oracle.of(YAML);
        List<String> sent = new ArrayList<>();
        long line = 0;
        for (int lives = 0; lives < 6; lives++) {
            try (EmbeddedEngine engine = open(1 + random.nextInt(4), random.nextBoolean())) {
                for (int round = 0; round < 60; round++) {
                    now = now.plusSeconds(random.nextInt(12_000) - 3_000L);
                    List<String> lines = new ArrayList<>();
                    oracle.nextRound();
                    for (int i = 0; i < 40; i++) {
                        String record = random.nextInt(4) == 0 && !sent.isEmpty()
                                ? sent.get(random.nextInt(Math.max(0, sent.size() - 3_000), sent.size()))
                                : fresh(random);
                        lines.add(record);
                        sent.add(record);
                        oracle.accept("s", ++line, record.getBytes(StandardCharsets.UTF_8), now.toEpochMilli());
                    }
                    engine.append("s", lines);
                    if (random.nextInt(8) == 0) {
                        engine.checkpointNow();
                    }
                }
                assertThat(Judge.wrongTotals(engine, oracle)).isEmpty();
                assertThat(engine.verify().differences()).isEmpty();
                assertThat(engine.deadLetters().list(0, 100_000).stream()
                                .filter(letter -> letter.reason() != Reason.CONFLICT))
                        .hasSize(oracle.outOfTime().size());
            }
            disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
        }
    }

    /// A few ids come with several times and contents.
    private String fresh(SplittableRandom random) {
        String id = random.nextInt(20) == 0 ? "often" + random.nextInt(5) : "id" + random.nextInt(1_000_000);
        return event(id, now.plusSeconds(random.nextInt(190_000) - 95_000L), random.nextInt(20));
    }
}
