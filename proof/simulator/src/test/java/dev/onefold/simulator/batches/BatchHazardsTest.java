package dev.onefold.simulator.batches;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.delivery.Carrier;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The hazards of batches, as far as they can arise in one process.
class BatchHazardsTest {
    private static final int RECORDS = 7; // Batches of three: two are full, the third one is sealed by the clock.

    private SimulatedDisk disk = SimulatedDisk.empty();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final SortedMap<BatchNumber, List<String>> got = new TreeMap<>();
    private final List<Manifest> attempts = new ArrayList<>();
    private Function<Manifest, Outcome> answer = _ -> new Outcome.Done();

    private static Pipeline pipeline(int size, String more) {
        String text = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":" + size
                + ",\"wait\":\"1m\",\"deliver\":{\"http\":\"http://h/\"" + more + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private static Pipeline pipeline() {
        return pipeline(3, "},\"receiver\":\"idempotent\"");
    }

    private EmbeddedEngine open(Pipeline pipeline) {
        EmbeddedEngine engine = EmbeddedEngine.open(
                disk.getPath("/data/q"),
                pipeline,
                new Settings(
                        2,
                        0,
                        Duration.ZERO,
                        1L << 28,
                        Settings.UNDELIVERED_BYTES_MAX,
                        false,
                        new Settings.Machine(() -> now, new SplittableRandom(1), () -> {}, SpaceListener.silent())));
        engine.deliver(this::take);
        return engine;
    }

    private Outcome take(Manifest manifest, int attempt, Carrier.Content content) {
        try (InputStream in = content.open()) {
            List<String> lines = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            List<String> before = got.put(manifest.number(), lines);
            assertThat(before == null ? lines : before)
                    .as("the same at each attempt")
                    .isEqualTo(lines);
            assertThat(lines).hasSize((int) manifest.records()).isNotEmpty();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        attempts.add(manifest);
        return answer.apply(manifest);
    }

    private static List<String> records(int from, int to) {
        return IntStream.range(from, to).mapToObj(id -> "{\"id\":" + id + "}").toList();
    }

    private void work(EmbeddedEngine engine, List<String> records) {
        byte[] lines = (String.join("\n", records) + "\n").getBytes(StandardCharsets.UTF_8);
        engine.append("s", 1, lines, lines.length);
        engine.checkpointNow();
        engine.deliverDue();
        now = now.plus(Duration.ofMinutes(2));
        engine.deliverDue();
        engine.checkpointNow();
        engine.deliverDue();
    }

    /// The power goes at each change of the disk, one after the other; then the producer sends again and all goes on.
    private void dieAtEachChange(IntConsumer check) {
        boolean isWhole = false;
        for (int change = 1; !isWhole; change++) {
            disk = SimulatedDisk.empty();
            got.clear();
            attempts.clear();
            disk.inject(Faults.none().withCrashAtChange(change));
            isWhole = live();
            disk = disk.crash(new SplittableRandom(change));
            try (EmbeddedEngine engine = open(pipeline())) {
                work(engine, records(0, RECORDS));
                assertThat(engine.counts().duplicate()).isZero();
                assertThat(engine.batches().summary().undelivered()).isZero();
            }
            check.accept(change);
        }
    }

    private boolean live() {
        @Nullable EmbeddedEngine engine = null;
        try {
            engine = open(pipeline());
            work(engine, records(0, RECORDS));
            engine.close();
            return true;
        } catch (SimulatedCrash crash) {
            return false;
        } finally {
            if (engine != null) {
                close(engine);
            }
        }
    }

    private static void close(EmbeddedEngine engine) {
        try {
            engine.close(); // Its memory is released; the disk is gone.
        } catch (SimulatedCrash | EngineException ended) {
            assertThat(ended).isNotNull();
        }
    }

    private List<String> all() {
        return got.values().stream().flatMap(List::stream).toList();
    }

    @Test
    void hazard_41_and_42_whenever_the_process_dies_what_was_acknowledged_is_delivered_and_is_no_duplicate_of_itself() {
        dieAtEachChange(
                change -> assertThat(all()).as("died at change " + change).isEqualTo(records(0, RECORDS)));
    }

    @Test
    void hazard_70_and_72_whenever_the_process_dies_no_number_is_missing_or_empty_and_none_has_two_contents() {
        dieAtEachChange(change -> {
            assertThat(got.keySet().stream().map(BatchNumber::number))
                    .as("died at change " + change)
                    .isEqualTo(IntStream.rangeClosed(1, got.size())
                            .mapToObj(Long::valueOf)
                            .toList());
            String previous = "";
            for (BatchNumber number : got.keySet()) {
                List<Manifest> tries = attempts.stream()
                        .filter(manifest -> manifest.number().equals(number))
                        .distinct()
                        .toList();
                assertThat(tries).hasSize(1);
                assertThat(tries.getFirst().previous()).isEqualTo(previous);
                previous = tries.getFirst().sha256();
            }
        });
    }

    @Test
    void hazard_72_other_settings_after_a_restart_leave_a_sealed_batch_as_it_is() {
        answer = _ -> new Outcome.Unknown("no answer");
        try (EmbeddedEngine engine = open(pipeline())) {
            work(engine, records(0, 3));
        }
        answer = _ -> new Outcome.Done();
        now = now.plus(Duration.ofHours(1));
        try (EmbeddedEngine engine = open(pipeline(2, "},\"receiver\":\"idempotent\",\"order\":\"strict\""))) {
            work(engine, records(0, 7));
        }
        assertThat(got.values().stream().map(List::size)).containsExactly(3, 2, 2);
        assertThat(all()).isEqualTo(records(0, 7));
    }

    @Test
    void hazard_44_and_73_the_clock_seals_once_however_often_it_wakes_and_a_late_record_is_in_the_next_batch() {
        try (EmbeddedEngine engine = open(pipeline())) {
            engine.append("a", records(0, 1));
            for (int wake = 0; wake < 5; wake++) {
                now = now.plusSeconds(10);
                engine.deliverDue(); // Too early.
            }
            assertThat(engine.batches().summary().sealed()).isZero();
            now = now.plus(Duration.ofDays(3)); // Many wake-ups were lost.
            engine.deliverDue();
            engine.deliverDue();
            engine.append("a", records(1, 2));
            engine.checkpointNow();
            engine.deliverDue();
            assertThat(engine.batches().summary().sealed()).isEqualTo(1);
            now = now.plus(Duration.ofMinutes(1));
            engine.deliverDue();
            engine.checkpointNow();
            engine.deliverDue();
        }
        assertThat(got.values()).containsExactly(records(0, 1), records(1, 2));
    }

    @Test
    void hazard_45_what_is_done_is_not_delivered_again_though_its_input_comes_again() {
        byte[] lines = (String.join("\n", records(0, 6)) + "\n").getBytes(StandardCharsets.UTF_8);
        for (int life = 0; life < 3; life++) {
            try (EmbeddedEngine engine = open(pipeline())) {
                engine.fold(new FileSource("f", () -> new ByteArrayInputStream(lines), false), FoldListener.silent());
                engine.append("other" + life, records(0, 6));
                engine.checkpointNow();
                engine.deliverDue();
            }
            disk = disk.crash(new SplittableRandom(life));
        }
        assertThat(attempts).hasSize(2);
        assertThat(all()).isEqualTo(records(0, 6));
    }

    @Test
    void hazard_46_a_bad_record_is_a_letter_of_its_own_and_its_neighbours_are_no_duplicates_of_themselves() {
        try (EmbeddedEngine engine = open(pipeline())) {
            engine.append("a", List.of("{\"id\":0}", "nonsense", "{\"id\":1}", "{\"id\":2}"));
            engine.checkpointNow();
            engine.deliverDue();
            assertThat(engine.counts().duplicate()).isZero();
            assertThat(engine.deadLetters().list(0, 10))
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.reason()).isNotEqualTo(Reason.CONFLICT));
        }
        assertThat(all()).isEqualTo(records(0, 3));
    }

    @Test
    void hazard_74_a_lost_answer_is_the_same_batch_again_or_in_doubt_by_what_its_receiver_can_bear() {
        answer = _ -> new Outcome.Unknown("the answer was lost");
        try (EmbeddedEngine engine = open(pipeline())) {
            work(engine, records(0, 3));
            answer = _ -> new Outcome.Done();
            now = now.plus(Duration.ofHours(1));
            engine.deliverDue();
            assertThat(engine.batches().summary().done()).isEqualTo(1);
            assertThat(attempts).hasSizeGreaterThan(1);
            assertThat(attempts.stream().distinct()).hasSize(1);
        }
        disk = SimulatedDisk.empty();
        attempts.clear();
        answer = _ -> new Outcome.Unknown("the answer was lost");
        try (EmbeddedEngine engine = open(pipeline(3, "},\"receiver\":\"once\""))) {
            work(engine, records(0, 3));
            now = now.plus(Duration.ofDays(30));
            engine.deliverDue();
            assertThat(engine.batches().summary().inDoubt()).isEqualTo(1);
        }
        assertThat(attempts).hasSize(1);
    }

    @Test
    void hazard_75_a_receiver_that_may_have_forgotten_the_batch_is_not_tried_again() {
        answer = _ -> new Outcome.Unknown("the answer was lost");
        try (EmbeddedEngine engine =
                open(pipeline(3, ",\"remembers\":\"1h\"},\"receiver\":\"idempotent\",\"retry\":{\"delays\":\"2h\"}"))) {
            work(engine, records(0, 3));
            now = now.plus(Duration.ofHours(3));
            engine.deliverDue();
            assertThat(engine.batches().summary().inDoubt()).isEqualTo(1);
        }
        assertThat(attempts).hasSize(1);
    }
}
