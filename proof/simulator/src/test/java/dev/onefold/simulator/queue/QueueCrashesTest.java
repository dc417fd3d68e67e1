package dev.onefold.simulator.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters.Keys;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.QueueBatch;
import dev.onefold.embedded.source.QueueBatch.Message;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import dev.onefold.simulator.embedded.Trades;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Messages of a queue count once: the queue gives them in any order, gives them again, and the power goes at any
/// change of the disk, between the reception, the force and the deletion.
class QueueCrashesTest {
    private static final String QUEUE = "sqs:000000000000/orders";
    private static final int MESSAGES = 60;
    private static final long SENT_MS = 1_790_000_000_000L;

    private static Pipeline pipeline(String input, String fold) {
        return switch (PipelineText.read("{\"pipeline\":\"q\",\"input\":{" + input + "}," + fold + "}")) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private static Pipeline sum(String id) {
        return pipeline(
                "\"id\":" + id,
                "\"rollup\":{\"levels\":[],\"measures\":{\"records\":\"count()\",\"sum\":\"sum(n) decimal(18,0)\"}}");
    }

    private static Message message(int number, String body) {
        return new Message("m-" + number, SENT_MS + number, body.getBytes(StandardCharsets.UTF_8));
    }

    /// A queue that may give a message again while it is not deleted, and sometimes afterwards.
    private static final class MemoryQueue {
        private final List<Message> messages = new ArrayList<>();
        private final Map<String, Long> right = new TreeMap<>(); // By id, what it adds to the sum.
        private int bad;

        MemoryQueue(RandomGenerator random, boolean byMessage) {
            for (int i = 0; i < MESSAGES; i++) {
                int id = random.nextInt(MESSAGES / 2);
                long n = 1L << id % 40;
                if (random.nextInt(8) == 0) {
                    messages.add(message(i, "poison\n" + id));
                    bad++;
                } else {
                    String end = random.nextBoolean() ? "\n" : "";
                    messages.add(message(i, "{\n \"id\": \"i" + id + "\", \"n\":" + n + "}" + end));
                    right.put(byMessage ? "m" + i : "i" + id, n);
                }
            }
        }

        QueueBatch receive(RandomGenerator random) {
            Collections.shuffle(messages, new Random(random.nextLong()));
            return new QueueBatch(QUEUE, messages.subList(0, Math.min(messages.size(), random.nextInt(1, 20))));
        }

        void delete(QueueBatch batch, RandomGenerator random) {
            messages.removeIf(message -> batch.messages().contains(message) && random.nextInt(5) > 0);
        }
    }

    private static void take(EmbeddedEngine engine, MemoryQueue queue, RandomGenerator random) {
        while (!queue.messages.isEmpty()) {
            QueueBatch batch = queue.receive(random);
            engine.append(batch);
            if (random.nextInt(4) > 0) {
                queue.delete(batch, random);
            }
        }
    }

    private static SimulatedDisk takeThroughCrashes(Pipeline pipeline, MemoryQueue queue, RandomGenerator random) {
        SimulatedDisk disk = SimulatedDisk.empty();
        boolean done = false;
        while (!done) {
            disk.inject(Faults.none().withCrashAtChange(random.nextInt(1, 300)));
            Settings settings = Trades.settings(random.nextInt(1, 4))
                    .withKeepJournal(true)
                    .withCheckpointInterval(random.nextBoolean() ? Duration.ZERO : Duration.ofHours(1));
            try (EmbeddedEngine engine = EmbeddedEngine.open(Trades.directory(disk), pipeline, settings)) {
                take(engine, queue, random);
                done = true;
            } catch (SimulatedCrash powerGone) {
                assertThat(disk.isOpen()).isFalse();
            }
            disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
        }
        return disk;
    }

    private static void assertRight(EmbeddedEngine engine, int records, long sum) {
        var values = engine.query(Query.all("main")).lines().getFirst().values();
        assertThat(values.get(0).intValueExact()).isEqualTo(records);
        assertThat(values.get(1).longValueExact()).isEqualTo(sum);
    }

    private static void countOnce(RandomGenerator random, boolean byMessage) {
        Pipeline pipeline = sum(byMessage ? "\"message\"" : "\"id\"");
        MemoryQueue queue = new MemoryQueue(random, byMessage);
        SimulatedDisk disk = takeThroughCrashes(pipeline, queue, random);
        long sum = queue.right.values().stream().mapToLong(Long::longValue).sum();
        int records = queue.right.size();
        try (EmbeddedEngine engine = EmbeddedEngine.open(Trades.directory(disk), pipeline, Trades.settings(2))) {
            assertRight(engine, records, sum);
            List<DeadLetter> letters = engine.deadLetters().list(0, 1_000);
            assertThat(letters).hasSize(queue.bad).allMatch(letter -> letter.reason() == Reason.MALFORMED);
            int redriven = 0;
            for (DeadLetter letter : letters) {
                if (random.nextBoolean()) {
                    byte[] edit = "{\"id\":\"new%d\",\n\"n\":1}"
                            .formatted(letter.id())
                            .getBytes(StandardCharsets.UTF_8);
                    assertThat(engine.deadLetters().redrive(letter.id(), edit, Keys.ANY))
                            .isEqualTo(Redriven.ACCEPTED);
                    redriven++;
                } else if (random.nextBoolean()) {
                    engine.deadLetters().purge(List.of(letter.id()));
                }
            }
            long left = engine.deadLetters().size();
            assertRight(engine, records + redriven, sum + redriven);
            assertThat(engine.verify(_ -> null).isEqual()).isTrue();
            engine.rebuild(_ -> null);
            assertRight(engine, records + redriven, sum + redriven);
            assertThat(engine.deadLetters().size()).isEqualTo(left);
        }
    }

    private static void collectOnce(RandomGenerator random) {
        Pipeline pipeline = pipeline(
                "\"id\":\"message\"", "\"batch\":{\"size\":7,\"wait\":\"1m\",\"deliver\":{\"file\":\"{number}\"}}");
        MemoryQueue queue = new MemoryQueue(random, true);
        SimulatedDisk disk = takeThroughCrashes(pipeline, queue, random);
        try (EmbeddedEngine engine = EmbeddedEngine.open(Trades.directory(disk), pipeline, Trades.settings(2))) {
            engine.batches().seal();
            engine.checkpointNow();
            long members = engine.batches().summary().sealed();
            assertThat(members).isEqualTo((queue.right.size() + 6) / 7);
            assertThat(engine.deadLetters().size()).isEqualTo(queue.bad);
        }
    }

    @Test
    void each_message_counts_once_by_its_own_id_wherever_the_power_goes() {
        Seeds.forAllSeeds(12, random -> countOnce(random, true));
    }

    @Test
    void each_id_in_a_body_counts_once_wherever_the_power_goes() {
        Seeds.forAllSeeds(12, random -> countOnce(random, false));
    }

    @Test
    void each_message_is_in_one_batch_wherever_the_power_goes() {
        Seeds.forAllSeeds(12, QueueCrashesTest::collectOnce);
    }

    @Test
    @Tag("campaign")
    void of_many_queues_each_message_counts_once() {
        Seeds.forAllSeeds(1_000, random -> {
            countOnce(random, random.nextBoolean());
            collectOnce(random);
        });
    }

    @Test
    void a_body_of_several_lines_is_one_line_of_its_batch_and_two_equal_bodies_are_two_records() {
        Pipeline pipeline = pipeline(
                "\"id\":\"message\"", "\"batch\":{\"size\":2,\"wait\":\"1m\",\"deliver\":{\"file\":\"{number}\"}}");
        String body = "{\r\n  \"a\": 1\n}\n";
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(Trades.directory(SimulatedDisk.empty()), pipeline, Trades.settings(1))) {
            engine.append(new QueueBatch(QUEUE, List.of(message(1, body), message(2, body), message(1, body))));
            engine.checkpointNow();
            assertThat(engine.counts().accepted()).isEqualTo(2);
            assertThat(engine.counts().duplicate()).isEqualTo(1);
            StringBuilder content = new StringBuilder();
            engine.batches()
                    .export(BatchNumber.of(1), bytes -> content.append(new String(bytes, StandardCharsets.UTF_8)));
            assertThat(content).hasToString("{    \"a\": 1 }\n{    \"a\": 1 }\n");
        }
    }

    @Test
    void the_letter_of_a_message_names_it_and_keeps_it_whole() {
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(Trades.directory(SimulatedDisk.empty()), sum("\"id\""), Trades.settings(1))) {
            engine.append(new QueueBatch(QUEUE, List.of(message(1, "{\n"), message(1, "{\n"), message(2, "{\n"))));
            assertThat(engine.deadLetters().list(0, 10))
                    .extracting(letter -> letter.place().source())
                    .containsExactly(QUEUE + "#m-1", QUEUE + "#m-2");
            assertThat(engine.deadLetters().record(1))
                    .asString(StandardCharsets.UTF_8)
                    .isEqualTo("{");
        }
    }

    @Test
    void the_arrival_of_a_message_is_when_it_was_sent_however_late_it_comes() {
        Pipeline pipeline = pipeline(
                "\"id\":\"id\",\"horizon\":\"1d\",\"time\":{\"field\":\"t\",\"type\":\"epoch-millis\"}",
                "\"rollup\":{\"levels\":[],\"measures\":{\"records\":\"count()\"}}");
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(Trades.directory(SimulatedDisk.empty()), pipeline, Trades.settings(1))) {
            long day = Duration.ofDays(1).toMillis();
            engine.append(new QueueBatch(
                    QUEUE,
                    List.of(
                            message(0, "{\"id\":1,\"t\":" + (SENT_MS - day) + "}"),
                            message(0, "{\"id\":2,\"t\":" + (SENT_MS - day - 1) + "}"))));
            assertThat(engine.counts().accepted()).isEqualTo(1);
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(DeadLetter::reason)
                    .containsExactly(Reason.TOO_OLD);
        }
    }

    @Test
    void lines_have_no_message_and_messages_no_place() {
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(Trades.directory(SimulatedDisk.empty()), sum("\"message\""), Trades.settings(1))) {
            assertThatThrownBy(() -> engine.append("me", List.of("{\"n\":1}")))
                    .hasMessageContaining("(id: message), and a line of source me has no message");
            assertThatThrownBy(() -> Trades.fold(engine, Trades.file("a", List.of("{\"n\":1}"))))
                    .hasMessageContaining("a line of the file a has no message");
            assertThat(engine.counts().records()).isZero();
        }
        Pipeline byPlace = pipeline("", "\"rollup\":{\"levels\":[],\"measures\":{\"records\":\"count()\"}}");
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(Trades.directory(SimulatedDisk.empty()), byPlace, Trades.settings(1))) {
            assertThatThrownBy(() -> engine.append(new QueueBatch(QUEUE, List.of(message(1, "{}")))))
                    .hasMessageContaining("a queue gives a message again at another place");
        }
    }
}
