package dev.onefold.simulator.horizon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Causes;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.Truth;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.LogSource;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import dev.onefold.oracle.Oracle;
import dev.onefold.simulator.embedded.PipelineYaml;
import dev.onefold.simulator.judge.Judge;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// With `keep`, groups and rows end: what is shown is exact, memory and disk are freed, and nothing comes back.
/// It is one idea: the schedules of decision 026, and lives in which all of them happen.
class KeepTest {
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
    private static final int SHARE = 1;
    private static final int SEEDS = 6;
    private static final int CUTS = 4;
    private static final String YAML = """
            pipeline: trades
            input: {key: k, version: v, time: {field: at, type: epoch-millis}, delete: 'op = "delete"', filter: 'op != "test"'}
            rollups:
              by-hour: {levels: ["bucket(at, 1h, epoch-millis)", g], measures: {n: count(), s: "sum(x) decimal(9,0)"}, keep: 1d}
              by-day:
                levels: ["bucket(at, 1d, epoch-millis, Europe/Madrid)"]
                measures: {n: count(), top: "max(x) decimal(9,0)", gs: distinct(g)}
                keep: 3d
            """;

    private Instant now = BEGINNING;
    private SimulatedDisk disk = SimulatedDisk.empty();

    private EmbeddedEngine open(String yaml, int shards, boolean checkpointsAlways) {
        Pipeline pipeline = PipelineYaml.read(yaml);
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
                pipeline,
                checkpointsAlways ? settings.withCheckpointInterval(Duration.ZERO) : settings);
    }

    private EmbeddedEngine open() {
        return open(YAML, 2, false);
    }

    private static String event(String key, int version, Instant at, String group, int value) {
        return "{\"k\":\"" + key + "\",\"v\":" + version + ",\"at\":" + at.toEpochMilli() + ",\"g\":\"" + group
                + "\",\"x\":" + value + ",\"op\":\"put\"}";
    }

    private static String delete(String key, int version) {
        return "{\"k\":\"" + key + "\",\"v\":" + version + ",\"op\":\"delete\"}";
    }

    private static List<String> lines(EmbeddedEngine engine, String rollup) {
        return engine.query(Query.all(rollup)).lines().stream()
                .map(line ->
                        String.join("/", line.group()) + "=" + line.values().getFirst())
                .toList();
    }

    private static Instant day(int day) {
        return BEGINNING.plus(Duration.ofDays(day));
    }

    /// At a time of the clock.
    private void send(EmbeddedEngine engine, Instant at, String... records) {
        now = at;
        engine.append("s", List.of(records));
    }

    private long bytes(String kind) {
        try (Stream<Path> files = Files.walk(disk.getPath("/data"))) {
            return files.filter(file -> String.valueOf(file.getFileName()).startsWith(kind))
                    .filter(Files::isRegularFile)
                    .mapToLong(file -> {
                        try {
                            return Files.size(file);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    })
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void of_an_old_time_bucket_no_answer_shows_anything_and_the_total_is_that_of_the_others() {
        try (EmbeddedEngine engine = open()) {
            send(engine, day(0), event("a", 1, day(0), "g", 1));
            send(engine, day(2), event("b", 1, day(2), "g", 2));
            assertThat(lines(engine, "by-hour"))
                    .containsExactly("=1", "2026-01-03T00:00:00Z=1", "2026-01-03T00:00:00Z/g=1");
            assertThat(lines(engine, "by-day")).containsExactly("=2", "2026-01-01=1", "2026-01-03=1");
            Answer ended = engine.query(new Query("by-hour", List.of("2026-01-01T00:00:00Z"), 9, null));
            assertThat(ended.lines()).isEmpty();
            assertThat(engine.query(new Query("by-hour", List.of(), 2, new Query.Top(9, "n")))
                            .lines())
                    .hasSize(1);
        }
    }

    @Test
    void the_bucket_that_holds_the_border_is_shown_from_its_first_millisecond_on() {
        Instant border = day(3).minus(Duration.ofDays(1)); // Of by-hour, to the millisecond.
        for (long late : new long[] {0, 1}) {
            disk = SimulatedDisk.empty();
            try (EmbeddedEngine engine = open()) {
                send(engine, day(3), event("x", 1, day(3), "g", 1), event("a", 1, border.minusMillis(late), "g", 1));
                assertThat(lines(engine, "by-hour")).first().isEqualTo(late == 0 ? "=2" : "=1");
                send(engine, day(4), event("y", 1, day(3).plusMillis(3_599_999), "g", 1)); // It moves no border.
                assertThat(lines(engine, "by-hour")).first().isEqualTo(late == 0 ? "=3" : "=2");
                send(engine, day(4), event("z", 1, day(3).plusMillis(3_600_000), "g", 1));
                assertThat(lines(engine, "by-hour")).first().isEqualTo("=3");
            }
        }
    }

    @Test
    void a_clock_that_goes_back_ends_nothing_and_brings_nothing_back_also_where_the_journal_is_read_again() {
        for (boolean isKilled : new boolean[] {false, true}) {
            disk = SimulatedDisk.empty();
            SimulatedDisk killed;
            try (EmbeddedEngine engine = open()) {
                send(engine, day(1), event("a", 1, day(1), "g", 1));
                send(engine, day(9), event("g", 1, day(10), "g", 1), event("h", 1, day(9), "g", 1));
                assertThat(lines(engine, "by-day")).first().isEqualTo("=2");
                send(engine, day(2), event("b", 1, day(2), "g", 1), event("c", 1, day(9), "g", 1));
                assertThat(engine.counts().rejected()).isEqualTo(1);
                send(engine, day(8), event("c", 1, day(9), "g", 1));
                assertThat(lines(engine, "by-day")).first().isEqualTo("=3");
                killed = disk.copy();
            }
            disk = isKilled ? killed : disk;
            now = day(3);
            try (EmbeddedEngine engine = open()) {
                assertThat(lines(engine, "by-day")).first().isEqualTo("=3");
                send(engine, day(3), event("d", 1, day(3), "g", 1));
                assertThat(lines(engine, "by-day")).first().isEqualTo("=3");
                assertThat(engine.verify().isEqual()).isTrue();
            }
        }
    }

    @Test
    void a_late_record_is_counted_as_one_and_a_correction_into_an_ended_bucket_leaves_its_old_one() {
        try (EmbeddedEngine engine = open()) {
            send(engine, day(9), event("a", 1, day(9), "g", 1), event("b", 1, day(9), "g", 2));
            send(engine, day(9), event("late", 1, day(2), "g", 1), event("late", 1, day(2), "g", 1));
            assertThat(engine.counts().silent()).isEqualTo(1);
            assertThat(engine.counts().duplicate()).isEqualTo(1);
            assertThat(engine.causes().counts()).containsEntry(Causes.BEYOND_KEEP, 1L);
            send(engine, day(9), event("a", 3, day(2), "g", 1));
            assertThat(lines(engine, "by-day")).containsExactly("=1", "2026-01-10=1");
            send(engine, day(9), event("a", 2, day(9), "g", 1));
            assertThat(engine.counts().stale()).isEqualTo(1);
            send(engine, day(9), event("a", 4, day(9), "g", 1));
            assertThat(lines(engine, "by-day")).containsExactly("=2", "2026-01-10=2");
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    void hazard_14_a_row_moves_between_an_ended_bucket_and_a_kept_one_and_counts_once_whether_it_is_freed_or_not() {
        for (int later : new int[] {2, 4, 30}) {
            disk = SimulatedDisk.empty();
            try (EmbeddedEngine engine = open()) {
                send(engine, day(0), event("a", 1, day(0), "g", 1), event("c", 1, day(0), "g", 1));
                send(engine, day(later), event("b", 1, day(later), "g", 1));
                assertThat(lines(engine, "by-hour")).first().isEqualTo("=1");
                send(engine, day(later), event("a", 2, day(later), "g", 1));
                assertThat(lines(engine, "by-hour")).containsExactly("=2", day(later) + "=2", day(later) + "/g=2");
                send(engine, day(later), event("a", 3, day(0), "g", 1), delete("c", 2));
                assertThat(lines(engine, "by-hour")).containsExactly("=1", day(later) + "=1", day(later) + "/g=1");
                send(engine, day(later), event("a", 2, day(later), "g", 1), event("c", 1, day(later), "g", 1));
                assertThat(engine.counts().stale()).isEqualTo(2);
                send(engine, day(later), event("a", 4, day(later), "h", 1), event("c", 3, day(later), "h", 1));
                assertThat(lines(engine, "by-hour"))
                        .containsExactly("=3", day(later) + "=3", day(later) + "/g=1", day(later) + "/h=2");
                assertThat(engine.verify().isEqual()).isTrue();
            }
        }
    }

    @Test
    void hazard_10_a_late_id_that_is_unknown_takes_no_row_and_one_that_is_known_counts_once() {
        String byId =
                YAML.replaceFirst("key: k, version: v", "id: k").replaceFirst(", delete: [^,]*, filter", ", filter");
        try (EmbeddedEngine engine = open(byId, 2, false)) {
            send(engine, day(9), event("a", 1, day(9), "g", 1), event("b", 1, day(6), "g", 1));
            send(engine, day(9), event("late", 1, day(0), "g", 1), event("late", 1, day(0), "g", 1));
            assertThat(engine.status().rows()).isEqualTo(2);
            assertThat(engine.causes().counts()).containsEntry(Causes.BEYOND_KEEP, 2L);
            send(engine, day(9), event("a", 1, day(9), "g", 1), event("b", 1, day(6), "g", 1));
            assertThat(engine.counts().duplicate()).isEqualTo(2);
            assertThat(lines(engine, "by-day")).first().isEqualTo("=2");
            send(engine, day(14), event("c", 1, day(14), "g", 1)); // The row of b is freed.
            send(engine, day(14), event("b", 1, day(6), "g", 1));
            assertThat(lines(engine, "by-day")).containsExactly("=1", "2026-01-15=1");
            assertThat(engine.causes().counts()).containsEntry(Causes.BEYOND_KEEP, 3L);
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    void hazard_11_what_was_deleted_or_moved_does_not_come_back_with_an_older_version_while_that_could_be_shown() {
        try (EmbeddedEngine engine = open()) {
            send(engine, day(9), event("gone", 1, day(9), "g", 1), event("moved", 1, day(9), "g", 1));
            send(engine, day(9), delete("gone", 2), event("moved", 2, day(0), "g", 1), event("x", 1, day(9), "g", 1));
            for (int day = 9; day < 16; day++) {
                send(engine, day(day), event("x", day, day(day), "g", 1));
                engine.checkpointNow();
                send(engine, day(day), event("gone", 1, day(9), "g", 1), event("moved", 1, day(9), "g", 1));
                assertThat(lines(engine, "by-day")).first().isEqualTo("=1");
            }
        }
    }

    @Test
    void hazard_11_deletes_that_come_before_any_time_was_seen_are_not_the_oldest_of_all() {
        try (EmbeddedEngine engine = open()) {
            for (String key : List.of("a", "c", "d", "e", "f")) {
                send(engine, day(0), delete(key, 9));
            }
            send(engine, day(0), event("b", 1, day(0), "g", 2));
            send(engine, day(0), event("b", 2, day(0), "g", 2));
            send(engine, day(0), event("a", 1, day(0), "g", 1));
            assertThat(lines(engine, "by-day")).containsExactly("=1", "2026-01-01=1");
            assertThat(engine.counts().stale()).isEqualTo(1);
        }
    }

    @Test
    void hazard_51_a_time_that_is_too_far_in_the_future_ends_nothing_and_waits_as_a_dead_letter() {
        try (EmbeddedEngine engine = open()) {
            send(engine, day(1), event("a", 1, day(1), "g", 1), event("f", 1, day(30_000), "g", 1));
            send(engine, day(1), event("b", 1, day(2), "g", 1), event("c", 1, day(2).plusMillis(1), "g", 1));
            assertThat(lines(engine, "by-hour")).first().isEqualTo("=2");
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(DeadLetter::reason)
                    .containsExactly(Reason.TOO_NEW, Reason.TOO_NEW);
            assertThat(engine.deadLetters().list(0, 1).getFirst().message())
                    .endsWith("and so is wrong; with 'keep' at most 24 hours is accepted");
            now = day(40);
            long letter = engine.deadLetters().list(0, 9).getLast().id();
            assertThat(engine.deadLetters().redrive(letter, null)).isEqualTo(DeadLetters.Redriven.REJECTED);
            assertThat(engine.deadLetters()
                            .redrive(letter, event("c", 1, day(2), "g", 1).getBytes(StandardCharsets.UTF_8)))
                    .isEqualTo(DeadLetters.Redriven.ACCEPTED);
            assertThat(lines(engine, "by-hour")).first().isEqualTo("=3");
            assertThat(engine.verify().isEqual()).isTrue();
        }
        try (EmbeddedEngine engine = open(YAML.replace("keep: 1d", "keep: 90s"), 2, false)) {
            engine.fillView(_ -> null, false);
            send(engine, day(40), event("d", 1, day(40).plusSeconds(91), "g", 1));
            assertThat(engine.deadLetters().list(0, 9).getLast().message()).endsWith("at most 90 s is accepted");
        }
    }

    private void fill(EmbeddedEngine engine, int day, int records) {
        for (int from = 0; from < records; from += 100) {
            Instant at = day(day).plus(Duration.ofDays(1).multipliedBy(from).dividedBy(records));
            List<String> lines = new ArrayList<>();
            for (int i = from; i < from + 100; i++) {
                lines.add(event("d" + day + "-" + i, 1, i == 50 ? at.plusSeconds(80_000) : at, "g" + i % 4, i % 50));
            }
            now = at;
            engine.append("s", lines);
            engine.checkpointNow();
        }
    }

    /// The logs of groups grow and are shortened again, so their greatest size counts.
    private long bytesMax(EmbeddedEngine engine, int from, int to, int records) {
        long most = 0;
        for (int day = from; day < to; day++) {
            fill(engine, day, records);
            most = Math.max(most, bytes(""));
        }
        return most;
    }

    @Test
    void over_ten_windows_rows_groups_memory_and_disk_stay_as_they_are() {
        int records = 2_000;
        long rows;
        long disks;
        long memory;
        List<List<String>> shown;
        try (EmbeddedEngine engine = open()) {
            for (int day = 0; day < 12; day++) {
                fill(engine, day, records);
            }
            rows = engine.status().rows();
            memory = engine.status().stateBytes();
            disks = bytesMax(engine, 12, 24, records);
            bytesMax(engine, 24, 36, records);
            long later = bytesMax(engine, 36, 48, records);
            assertThat(engine.status().rows()).isBetween(4L * records, rows + rows / 5);
            assertThat(engine.status().stateBytes()).isLessThanOrEqualTo(memory + memory / 5);
            assertThat(later).isLessThanOrEqualTo(disks + disks / 4);
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(engine.rebuild().isEqual()).isTrue();
            shown = List.of(lines(engine, "by-hour"), lines(engine, "by-day"));
        }
        long files = bytes("rows-");
        disk = disk.kill();
        try (EmbeddedEngine engine = open(YAML, 3, false)) {
            assertThat(List.of(lines(engine, "by-hour"), lines(engine, "by-day")))
                    .isEqualTo(shown);
            assertThat(engine.verify().isEqual()).isTrue();
            disks = bytesMax(engine, 48, 64, records);
            long later = bytesMax(engine, 64, 76, records);
            assertThat(later).isLessThanOrEqualTo(disks + disks / 4);
            assertThat(bytes("rows-")).isLessThanOrEqualTo(files + files / 5); // None is left of the shards before ...
            assertThat(engine.status().stateBytes()).isLessThanOrEqualTo(memory + memory / 2); // ... nor is memory.
            assertThat(engine.verify().isEqual()).isTrue();
            shown = List.of(lines(engine, "by-hour"), lines(engine, "by-day"));
        }
        disk = disk.kill();
        try (EmbeddedEngine engine = open(YAML, 3, false)) { // Names that were given again have their own rows alone.
            assertThat(List.of(lines(engine, "by-hour"), lines(engine, "by-day")))
                    .isEqualTo(shown);
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    void a_shorter_keep_is_taken_from_the_rows_and_a_longer_one_is_refused() {
        try (EmbeddedEngine engine = open()) {
            send(engine, day(0), event("a", 1, day(0), "g", 1));
            send(engine, day(2), event("b", 1, day(2), "g", 1));
            assertThat(engine.change(PipelineYaml.read(YAML.replace("keep: 3d", "keep: 4d")))
                            .toString())
                    .contains("'keep' has ended groups that would be kept now");
            assertThat(engine.change(PipelineYaml.read(YAML.replaceAll(",? *keep: \\dd", ""))))
                    .isInstanceOf(DefinitionChange.Impossible.class);
        }
        String shorter = YAML.replace("keep: 3d", "keep: 1d");
        try (EmbeddedEngine engine = open(shorter, 2, false)) {
            engine.fillView(_ -> null, false);
            assertThat(lines(engine, "by-day")).containsExactly("=1", "2026-01-03=1");
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    private FileSource file(int days) {
        StringBuilder lines = new StringBuilder(event("future", 1, day(9_000), "g", 1)).append('\n');
        for (int day = 0; day < days; day++) {
            for (int i = 0; i < 20; i++) {
                lines.append(event("f" + day + "-" + i, 1, day(day), "g" + i % 3, i))
                        .append('\n');
                lines.append(event("same" + i, day, day(day), "g", i)).append('\n');
            }
        }
        byte[] content = lines.toString().getBytes(StandardCharsets.UTF_8);
        return new FileSource("f", () -> new ByteArrayInputStream(content), true);
    }

    @Test
    void a_file_can_be_read_again_so_it_is_compared_with_the_totals_and_a_longer_keep_is_filled_from_it() {
        FileSource file = file(12);
        now = day(12);
        try (EmbeddedEngine engine = open()) {
            engine.fold(file, FoldListener.silent());
            assertThat(lines(engine, "by-day")).first().isEqualTo("=100"); // Of 4 days, and 20 that were corrected.
            assertThat(engine.verify(_ -> file).differences()).isEmpty();
            assertThat(engine.rebuild(_ -> file).differences()).isEmpty();
            assertThatThrownBy(engine::rangeSums)
                    .hasMessageContaining("has 'keep', so the rows of groups that have ended");
        }
        for (String longer :
                new String[] {YAML.replace("keep: 3d", "keep: 9d"), YAML.replaceAll(",? *keep: \\dd", "")}) {
            SimulatedDisk before = disk.copy();
            try (EmbeddedEngine engine = open(longer, 2, false)) {
                assertThat(lines(engine, "by-day")).first().isEqualTo("=100");
                engine.fillView(_ -> file, false);
                assertThat(lines(engine, "by-day")).first().isEqualTo(longer.contains("9d") ? "=220" : "=261");
                assertThat(engine.verify(_ -> file).differences()).isEmpty();
            }
            disk = before;
        }
    }

    @Test
    void a_source_that_is_read_again_at_any_clock_comes_to_the_same_and_what_was_too_new_waits() {
        FileSource file = file(400);
        now = day(397); // Days 399 and 400 are too new.
        try (EmbeddedEngine engine = open()) {
            engine.fold(file, FoldListener.silent());
            List<String> right = lines(engine, "by-day");
            assertThat(right).first().isEqualTo("=100");
            assertThat(engine.deadLetters().size()).isEqualTo(41);
            long edited = engine.deadLetters().list(0, 9).getLast().id();
            engine.deadLetters().redrive(edited, "no".getBytes(StandardCharsets.UTF_8));
            for (int day : new int[] {397, 402, 10_000, 390}) {
                now = day(day);
                assertThat(engine.verify(_ -> file).differences()).isEmpty();
                assertThat(engine.rebuild(_ -> file).differences()).isEmpty();
                assertThat(lines(engine, "by-day")).isEqualTo(right);
                assertThat(engine.deadLetters().size()).isEqualTo(41);
            }
        }
    }

    /// Each record of a log is of the next day. It is given again at once; beside the first ones more are folded.
    private record Again(SortedMap<Integer, LogSource.Range> open, Runnable beside) implements LogSource.Again {
        static LogBatch batch(long from, long to) {
            return new LogBatch(
                    "log",
                    0,
                    from,
                    to,
                    LongStream.range(from, to)
                            .mapToObj(i -> new LogBatch.Entry(
                                    i, event("l" + i, 1, day((int) i), "g", 1).getBytes(StandardCharsets.UTF_8)))
                            .toList());
        }

        @Override
        public void begin(SortedMap<Integer, LogSource.Range> ranges) {
            open.putAll(ranges);
        }

        @Override
        public @Nullable LogBatch next() {
            LogSource.Range range = open.remove(0);
            if (range == null) {
                return null;
            }
            if (range.from() == 0) {
                beside.run();
            }
            return batch(range.from(), range.to());
        }

        @Override
        public void close() {}
    }

    @Test
    void a_log_that_is_read_again_beside_its_intake_has_the_same_records_that_were_too_new() {
        try (EmbeddedEngine engine = open()) {
            Runnable more = () -> {
                Instant later = now;
                now = day(7);
                long next = engine.offsets("log").getOrDefault(0, 0L);
                engine.fold(Again.batch(next, Math.max(next, Math.min(next + 5, 30))));
                now = later;
            };
            more.run();
            more.run();
            assertThat(lines(engine, "by-day")).first().isEqualTo("=4"); // Of days 5 to 8.
            assertThat(engine.deadLetters().size()).isEqualTo(1);
            engine.rereads(new LogSource("log", (_, _) -> new Again(new TreeMap<>(), more)));
            now = day(100);
            assertThat(engine.verify(new Truth.Sources()).differences()).isEmpty();
            assertThat(engine.deadLetters().size()).isGreaterThan(1);
            assertThat(engine.rebuild(new Truth.Sources()).differences()).isEmpty();
            assertThat(lines(engine, "by-day")).first().isEqualTo("=4");
        }
    }

    /// Decision 026 has the case: an older version that comes when the newer one is freed.
    @Test
    void however_an_input_is_cut_and_whatever_happens_between_it_comes_to_the_same() {
        Seeds.forEachSeed(0, CUTS, seed -> new KeepTest().cut(new SplittableRandom(seed)));
    }

    private void cut(SplittableRandom random) {
        now = day(400);
        List<String> all = new ArrayList<>();
        for (int i = 0, day = 300; i < 600; i++) {
            day += random.nextInt(60) == 0 ? 1 + random.nextInt(9) : 0;
            Instant at = day(Math.min(day, 390) - (random.nextInt(3) == 0 ? random.nextInt(30) : 0));
            String key = "k" + random.nextInt(60);
            int version = random.nextInt(9);
            all.add(random.nextInt(6) == 0 ? delete(key, version) : event(key, version, at, "g", i));
        }
        List<String> right = null;
        for (int way = 0; way < 5; way++) {
            disk = SimulatedDisk.empty();
            for (int from = 0; from < all.size(); ) {
                SimulatedDisk killed = disk;
                try (EmbeddedEngine engine = open(YAML, 1 + random.nextInt(4), random.nextBoolean())) {
                    int end = Math.min(all.size(), from + 1 + random.nextInt(400));
                    while (from < end) {
                        int to = way == 0 ? from + 1 : way == 1 ? end : Math.min(end, from + 1 + random.nextInt(90));
                        take(engine, way, from, all.subList(from, to));
                        from = to;
                    }
                    assertThat(engine.verify().differences()).isEmpty();
                    killed = disk.copy();
                }
                disk = way > 2 ? killed : disk; // A file would have to be given again.
            }
            try (EmbeddedEngine engine = open()) {
                List<String> shown = new ArrayList<>(lines(engine, "by-hour"));
                shown.addAll(lines(engine, "by-day"));
                shown.add(engine.counts() + " " + engine.causes());
                right = right == null ? shown : right;
                assertThat(shown).as("way %d", way).isEqualTo(right);
            }
        }
    }

    private static void take(EmbeddedEngine engine, int way, int from, List<String> records) {
        if (way == 2) {
            byte[] content = (String.join("\n", records) + "\n").getBytes(StandardCharsets.UTF_8);
            engine.fold(
                    new FileSource("f" + from, () -> new ByteArrayInputStream(content), true), FoldListener.silent());
        } else {
            engine.append("s", records);
        }
    }

    @Test
    void a_directory_that_was_restored_from_a_backup_comes_to_the_same_when_all_is_sent_again() {
        SimulatedDisk backup = disk;
        List<List<String>> right = new ArrayList<>();
        for (boolean isRestored : new boolean[] {false, true}) {
            try (EmbeddedEngine engine = open()) {
                for (int day = isRestored ? 4 : 0; day < 14; day++) {
                    send(engine, day(day), event("a", day, day(day), "g", 1), event("d" + day, 1, day(day), "g", 1));
                    engine.checkpointNow();
                    backup = day == 6 && !isRestored ? disk.copy() : backup;
                }
                right.add(lines(engine, "by-hour"));
                right.add(lines(engine, "by-day"));
                assertThat(engine.verify().isEqual()).isTrue();
            }
            disk = backup;
        }
        assertThat(right.subList(2, 4)).isEqualTo(right.subList(0, 2));
    }

    @Test
    void an_old_pipeline_gets_a_keep_and_ends_its_groups_with_the_next_record() {
        String without = YAML.replaceAll(",? *keep: \\dd", "");
        try (EmbeddedEngine engine = open(without, 2, false)) {
            send(engine, day(0), event("a", 1, day(0), "g", 1), event("f", 2, day(30_000), "g", 1));
            send(engine, day(5), event("b", 1, day(5), "g", 1));
        }
        try (EmbeddedEngine engine = open(YAML, 2, false)) {
            engine.fillView(_ -> null, false);
            assertThat(lines(engine, "by-day")).first().isEqualTo("=3");
            for (int day = 6; day < 12; day++) {
                send(engine, day(day), event("c", day, day(day), "g", 1));
            }
            assertThat(lines(engine, "by-day")).first().isEqualTo("=2");
            send(engine, day(11), event("f", 1, day(11), "g", 1));
            assertThat(engine.counts().stale()).isEqualTo(1); // The row of the newer version is there.
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    void a_row_that_one_definition_refuses_comes_back_with_a_mark_that_is_not_below_its_groups() {
        try (EmbeddedEngine engine = open(YAML.replaceAll(",? *keep: \\dd", ""), 2, false)) {
            send(engine, day(1), event("f", 2, day(30_000), "g", 500), event("a", 1, day(1), "g", 1));
        }
        for (String sum : new String[] {"decimal(2,0)", "decimal(9,0)"}) {
            try (EmbeddedEngine engine = open(YAML.replace("decimal(9,0)", sum), 2, false)) {
                engine.fillView(_ -> null, false);
                assertThat(lines(engine, "by-day")).first().isEqualTo(sum.contains("2") ? "=1" : "=2");
            }
        }
        try (EmbeddedEngine engine = open()) {
            send(engine, day(20), event("b", 1, day(20), "g", 1));
            send(engine, day(20), event("f", 1, day(20), "g", 1));
            assertThat(engine.counts().stale()).isEqualTo(1);
            assertThat(lines(engine, "by-day")).first().isEqualTo("=2");
        }
    }

    @Test
    @Tag("campaign")
    void whatever_comes_late_or_again_what_is_kept_is_right() {
        Seeds.forEachSeed(0, SEEDS, seed -> new KeepTest().life(new SplittableRandom(seed)));
    }

    @Test
    void in_a_few_lives_whatever_comes_late_or_again_what_is_kept_is_right() {
        Seeds.forEachSeed(0, SHARE, seed -> new KeepTest().life(new SplittableRandom(seed)));
    }

    private void life(SplittableRandom random) {
        String yaml = random.nextBoolean()
                ? YAML
                : YAML.replaceFirst("key: k, version: v", "id: k").replaceFirst(", delete: [^,]*, filter", ", filter");
        Oracle oracle = Oracle.of(yaml);
        List<String> sent = new ArrayList<>();
        int[] versions = new int[400];
        long line = 0;
        for (int lives = 0; lives < 6; lives++) {
            SimulatedDisk left;
            try (EmbeddedEngine engine = open(yaml, 1 + random.nextInt(4), random.nextBoolean())) {
                for (int round = 0; round < 60; round++) {
                    now = now.plusSeconds(random.nextInt(16_000) - 2_000L);
                    List<String> lines = new ArrayList<>();
                    for (int i = 0; i < 40; i++) {
                        String record = random.nextInt(3) == 0 && !sent.isEmpty()
                                ? sent.get(random.nextInt(sent.size()))
                                : fresh(random, versions);
                        lines.add(record);
                        sent.add(record);
                        oracle.accept("s", ++line, record.getBytes(StandardCharsets.UTF_8), now.toEpochMilli());
                    }
                    engine.append("s", lines);
                    if (random.nextInt(8) == 0) {
                        engine.checkpointNow();
                    }
                    if (random.nextInt(8) == 0) {
                        assertThat(Judge.wrongTotals(engine, oracle)).isEmpty();
                    }
                }
                assertThat(Judge.wrongTotals(engine, oracle)).isEmpty();
                assertThat(engine.verify().differences()).isEmpty();
                if (random.nextInt(4) == 0) {
                    assertThat(engine.rebuild().differences()).isEmpty();
                }
                left = disk.copy();
            }
            disk = switch (random.nextInt(3)) {
                case 0 -> left; // Killed, ...
                case 1 -> left.crash(random); // ... without power, ...
                default -> disk; // ... or closed.
            };
        }
    }

    /// Few keys have many versions, of any time up to now; many have one.
    private String fresh(SplittableRandom random, int[] versions) {
        int number = random.nextInt(3 * versions.length);
        String key = number < versions.length ? "k" + number : "once" + random.nextLong();
        int version = number < versions.length ? ++versions[number] : 1;
        Instant at = random.nextInt(4) > 0 ? now : now.minusSeconds(random.nextInt(1_000_000));
        at = key.startsWith("once") && random.nextInt(40) == 0 ? now.plusSeconds(random.nextInt(2_000_000)) : at;
        int kind = random.nextInt(12);
        String record = event(key, version, at, "g" + random.nextInt(20), random.nextInt(50));
        return kind == 0 ? delete(key, version) : kind == 1 ? record.replace("\"put\"", "\"test\"") : record;
    }
}
