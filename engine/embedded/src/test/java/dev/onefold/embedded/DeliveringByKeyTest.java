package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.DeadLetters;
import dev.onefold.core.EngineException;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.delivery.Carrier;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Batches in the order of keys. A record is a text such as `a1`: the first record of key a.
@Timeout(60)
class DeliveringByKeyTest {
    @TempDir
    Path directory;

    private final List<List<String>> calls = Collections.synchronizedList(new ArrayList<>());
    private final List<String> in = Collections.synchronizedList(new ArrayList<>());
    private Instant now = Instant.parse("2030-01-01T00:00:00Z");

    private static Pipeline pipeline(String key, String batch) {
        String text = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"" + (key.isEmpty() ? "" : ",\"key\":\"" + key + "\"")
                + "},\"batch\":{\"deliver\":{\"http\":\"http://h/\"}," + batch
                + (batch.contains("retry") ? "" : ",\"retry\":{\"delays\":[\"10s\"],\"for\":\"1m\"}") + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private static Pipeline byKey(int size, String more) {
        return pipeline("k", "\"size\":" + size + ",\"order\":\"key\",\"receiver\":\"idempotent\"" + more);
    }

    private static String record(String name) {
        return "{\"id\":\"" + name + "\",\"k\":\"" + name.charAt(0) + "\"}";
    }

    private static List<String> records(String names) {
        return Stream.of(names.split(" ", -1)).map(DeliveringByKeyTest::record).toList();
    }

    private EmbeddedEngine open(Pipeline pipeline, Function<List<String>, Outcome> receiver) {
        EmbeddedEngine engine = EmbeddedEngine.open(
                directory,
                pipeline,
                Settings.defaults().withThreads(0).withShards(1).withClock(() -> now));
        engine.deliver((_, _, content) -> take(content, receiver));
        return engine;
    }

    private Outcome take(Carrier.Content content, Function<List<String>, Outcome> receiver) {
        try (InputStream stream = content.open()) {
            List<String> names = new String(stream.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .map(line -> line.substring(7, line.indexOf('"', 7)))
                    .toList();
            calls.add(names);
            Outcome outcome = receiver.apply(names);
            if (outcome instanceof Outcome.Done) {
                in.addAll(names);
            }
            return outcome;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static Function<List<String>, Outcome> refusing(String... bad) {
        return names -> Collections.disjoint(names, List.of(bad)) ? new Outcome.Done() : new Outcome.Refused("bad");
    }

    private void feed(EmbeddedEngine engine, String names) {
        engine.append("me", records(names));
        engine.checkpointNow();
        engine.deliverDue();
    }

    @Test
    void a_record_that_fails_holds_up_its_own_key_alone() {
        boolean[] isDown = {true};
        Function<List<String>, Outcome> receiver =
                names -> isDown[0] && names.contains("a1") ? new Outcome.NotNow("down", null) : new Outcome.Done();
        try (EmbeddedEngine engine = open(byKey(1, ""), receiver)) {
            feed(engine, "a1 b1 a2 c1 b2 a3");
            assertThat(calls).hasToString("[[a1], [b1], [c1], [b2]]");
            List<Line> left = engine.batches().list(BatchNumber.of(1), 9, true);
            assertThat(left).extracting(Line::state).containsExactly("waiting", "waiting", "waiting");
            assertThat(left)
                    .extracting(Line::reason)
                    .containsExactly(
                            "down",
                            "It waits for batch 000001, which has a record of the same key",
                            "It waits for batch 000001, which has a record of the same key");
            assertThat(left.get(1).next()).isNull();
            assertThat(engine.batches().summary().isQuiet()).isFalse();
            isDown[0] = false;
            now = now.plusSeconds(10);
            engine.deliverDue();
            assertThat(in).containsExactly("b1", "c1", "b2", "a1", "a2", "a3");
            assertThat(engine.batches().summary().isQuiet()).isTrue();
        }
    }

    @Test
    void a_record_that_is_larger_than_batches_may_be_by_now_holds_its_key() {
        String large = record("a1").replace("}", ",\"more\":\"" + "x".repeat(3_000) + "\"}");
        try (EmbeddedEngine engine = open(byKey(1, ""), refusing("a1"))) {
            engine.append("me", List.of(large));
            engine.checkpointNow();
            engine.deliverDue();
        }
        try (EmbeddedEngine engine = open(byKey(1, ",\"bytes\":1000"), refusing("a1"))) {
            feed(engine, "a2 b1");
            assertThat(in).containsExactly("b1");
        }
    }

    @Test
    void where_the_keys_of_a_batch_that_is_put_aside_cannot_be_read_nothing_is_delivered() throws IOException {
        try (EmbeddedEngine engine = open(byKey(1, ""), refusing("a1"))) {
            feed(engine, "a1 a2 a3");
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                byte[] bytes = Files.readAllBytes(file);
                int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("\"id\":\"a1\"");
                if (at >= 0) {
                    bytes[at + 6] ^= 1;
                    Files.write(file, bytes);
                }
            }
        }
        calls.clear();
        try (EmbeddedEngine engine = EmbeddedEngine.open(
                directory,
                byKey(1, ""),
                Settings.defaults().withThreads(0).withShards(1).withClock(() -> now))) {
            assertThatThrownBy(() -> engine.deliver((_, _, content) -> take(content, refusing())))
                    .isInstanceOf(EngineException.class);
            assertThat(engine.batches().list(BatchNumber.of(1), 9, true)).hasSize(3);
            engine.deliverDue();
            assertThat(calls).isEmpty();
        }
    }

    /// Ten thousand deliveries, or 200,000 records that hold keys.
    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({"any, 1, 10000", "key, 10000, 20"})
    void so_many_that_are_put_aside_that_no_other_one_is_begun_are_said(String order, int size, int most) {
        Pipeline pipeline = pipeline(
                order.equals("key") ? "k" : "",
                "\"size\":" + size + ",\"order\":\"" + order + "\",\"receiver\":\"idempotent\"");
        IntFunction<String> record = i -> "{\"id\":\"x" + i + "\",\"k\":\"k" + i + "\"}";
        try (EmbeddedEngine engine = open(pipeline, _ -> new Outcome.Refused("bad"))) {
            int almost = (most - 1) * size;
            engine.append("me", IntStream.range(0, almost).mapToObj(record).toList());
            engine.checkpointNow();
            engine.deliverDue();
            assertThat(engine.batches().summary().heldUpBy()).isNull();
            engine.append(
                    "me",
                    IntStream.range(almost, almost + 2 * size).mapToObj(record).toList());
            engine.checkpointNow();
            engine.deliverDue();
            assertThat(engine.batches().summary().aside()).isEqualTo(most);
            assertThat(engine.batches().summary().heldUpBy()).isEqualTo(BatchNumber.of(1));
            assertThat(engine.batches().summary().isQuiet()).isTrue();
            engine.batches().settle(BatchNumber.of(1), Delivery.How.DISCARDED);
            engine.deliverDue();
            assertThat(engine.batches().summary().aside()).isEqualTo(most);
            assertThat(engine.batches().summary().undelivered()).isEqualTo(most);
        }
    }

    @Test
    void a_record_that_is_put_aside_holds_its_key_until_a_person_decides() {
        try (EmbeddedEngine engine = open(byKey(1, ""), refusing("a1", "b1"))) {
            feed(engine, "a1 b1 a2 b2 c1");
            SealedBatches batches = engine.batches();
            assertThat(in).containsExactly("c1");
            assertThat(batches.summary().heldUpBy()).isEqualTo(BatchNumber.of(1));
            assertThat(batches.summary().isQuiet()).isTrue();
            assertThatThrownBy(() -> batches.release(BatchNumber.of(3)))
                    .hasMessageContaining("neither for a person nor for a later time");
            batches.release(BatchNumber.of(1)); // It is tried again, in its place.
            engine.deliverDue();
            assertThat(calls.getLast()).containsExactly("a1");
            batches.settle(BatchNumber.of(1), Delivery.How.DISCARDED);
            engine.deliverDue();
            assertThat(in).containsExactly("c1", "a2");
            batches.settle(BatchNumber.of(2), Delivery.How.SAID);
            engine.deliverDue();
            assertThat(in).containsExactly("c1", "a2", "b2");
            assertThat(batches.summary().heldUpBy()).isNull();
        }
    }

    @Test
    void after_a_restart_a_key_is_held_by_what_was_put_aside_and_what_waited_behind_it() {
        try (EmbeddedEngine engine = open(byKey(1, ""), refusing("a1"))) {
            feed(engine, "a1 b1 a2 a3");
        }
        try (EmbeddedEngine engine = open(byKey(1, ""), refusing())) {
            feed(engine, "a4 b2");
            assertThat(in).containsExactly("b1", "b2");
            engine.batches().settle(BatchNumber.of(1), Delivery.How.DISCARDED);
            engine.deliverDue();
            assertThat(in).containsExactly("b1", "b2", "a2", "a3", "a4");
        }
    }

    @Test
    void a_batch_waits_for_an_earlier_one_that_shares_a_key_and_holds_its_other_keys() {
        try (EmbeddedEngine engine = open(byKey(2, ""), refusing("a1"))) {
            feed(engine, "a1 b1 b2 c1 c2 d1 e1 e2");
            assertThat(in).containsExactly("e1", "e2");
            engine.batches().settle(BatchNumber.of(1), Delivery.How.DISCARDED);
            engine.deliverDue();
            assertThat(in).containsExactly("e1", "e2", "b2", "c1", "c2", "d1");
        }
    }

    @Test
    void a_refused_record_of_a_batch_that_is_halved_holds_no_other_key_of_it() {
        try (EmbeddedEngine engine = open(byKey(6, ",\"bisect\":true"), refusing("a2"))) {
            feed(engine, "a1 b1 a2 b2 c1 a3 b3 b4 b5 b6 c2 c3 a4 d1 d2 d3 d4 d5");
            assertThat(in).containsExactlyInAnyOrder("a1", "b1", "b2", "c1", "b3", "b4", "b5", "b6", "c2", "c3");
            assertThat(engine.batches().list(BatchNumber.of(1), 99, true).stream()
                            .filter(line -> line.state().equals("put aside")))
                    .singleElement()
                    .extracting(Line::records)
                    .isEqualTo(1);
            engine.batches().list(BatchNumber.of(1), 99, true).stream()
                    .filter(line -> line.state().equals("put aside"))
                    .forEach(line -> engine.batches().settle(line.number(), Delivery.How.DISCARDED));
            engine.deliverDue();
            assertThat(in.indexOf("a3")).isGreaterThan(in.indexOf("a1")).isLessThan(in.indexOf("a4"));
        }
    }

    @Test
    void after_a_partial_answer_the_keys_of_the_failed_records_are_held_alone() {
        boolean[] isDown = {true};
        Function<List<String>, Outcome> receiver = names -> {
            int failed = names.indexOf("a1");
            return failed < 0 || !isDown[0]
                    ? new Outcome.Done()
                    : names.size() == 1
                            ? new Outcome.NotNow("down", null)
                            : new Outcome.Partial(List.of(new Outcome.Failed(failed, "down")));
        };
        try (EmbeddedEngine engine = open(byKey(2, ""), receiver)) {
            feed(engine, "b1 a1 b2 c1 a2 d1");
            assertThat(calls).hasToString("[[b1, a1], [b2, c1]]");
            isDown[0] = false;
            now = now.plusSeconds(10);
            engine.deliverDue();
            assertThat(in).containsExactly("b2", "c1", "a1", "a2", "d1");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "k", "other"})
    void an_order_that_changes_between_two_runs_keeps_what_it_can_read(String before) {
        Pipeline first = before.isEmpty()
                ? pipeline("", "\"size\":1,\"receiver\":\"idempotent\"")
                : pipeline(before, "\"size\":1,\"order\":\"key\",\"receiver\":\"idempotent\"");
        String more = ",\"other\":\"x\"}";
        try (EmbeddedEngine engine = open(first, refusing("a1", "b1"))) {
            engine.append(
                    "me",
                    records("a1 b1 a2").stream()
                            .map(each -> each.replace("}", more))
                            .toList());
            engine.checkpointNow();
            engine.deliverDue();
            assertThat(in).isEqualTo(before.isEmpty() ? List.of("a2") : List.of());
        }
        try (EmbeddedEngine engine = open(byKey(1, ""), refusing())) {
            feed(engine, "a3 b2 c1");
            assertThat(in).last().isEqualTo("c1");
            assertThat(in).doesNotContain("a3");
            assertThat(in.contains("b2")).isEqualTo(before.equals("other")); // Then b1 was not tried before.
            engine.batches().list(BatchNumber.of(1), 99, true).stream()
                    .filter(line -> line.state().equals("put aside"))
                    .forEach(line -> engine.batches().release(line.number()));
            engine.deliverDue();
            assertThat(in.indexOf("a3")).isGreaterThan(in.indexOf("a1"));
            assertThat(in.indexOf("b2")).isGreaterThan(in.indexOf("b1"));
            assertThat(in).hasSize(6);
        }
        assertThat(in).containsOnlyOnce("a2");
    }

    @Test
    void records_without_the_key_of_today_wait_for_each_other() {
        try (EmbeddedEngine engine = open(byKey(1, ""), refusing("a1"))) {
            feed(engine, "a1 a2 b1");
        }
        assertThat(in).containsExactly("b1");
        Pipeline other = pipeline("new", "\"size\":1,\"order\":\"key\",\"receiver\":\"idempotent\"");
        try (EmbeddedEngine engine = open(other, refusing())) {
            engine.append("me", List.of("{\"id\":\"x1\",\"new\":1}"));
            engine.checkpointNow();
            engine.deliverDue();
            assertThat(in).containsExactly("b1", "x1");
            engine.batches().release(BatchNumber.of(1));
            engine.deliverDue();
            assertThat(in).containsExactly("b1", "x1", "a1", "a2");
        }
    }

    @Test
    void a_record_without_a_key_is_a_letter_and_takes_its_place_in_the_line_when_it_is_redriven() {
        try (EmbeddedEngine engine = open(byKey(1, ""), refusing("a2"))) {
            engine.append("me", List.of(record("a0"), "{\"id\":\"a1\"}", record("a2"), record("b1")));
            engine.checkpointNow();
            engine.deliverDue();
            DeadLetters letters = engine.deadLetters();
            assertThat(letters.list(0, 9))
                    .singleElement()
                    .extracting(Object::toString)
                    .asString()
                    .contains("key");
            assertThat(in).containsExactly("a0", "b1");
            letters.redrive(letters.list(0, 9).getFirst().id(), record("a1").getBytes(StandardCharsets.UTF_8));
            engine.checkpointNow();
            engine.deliverDue();
            assertThat(in).containsExactly("a0", "b1");
            engine.batches().settle(BatchNumber.of(2), Delivery.How.DISCARDED);
            engine.deliverDue();
            assertThat(in).containsExactly("a0", "b1", "a1");
        }
    }

    @Test
    void ten_thousand_batches_may_wait_for_a_key_then_all_wait_until_a_person_decides() {
        try (EmbeddedEngine engine = open(byKey(1, ""), refusing("a1"))) {
            feed(engine, "a1");
            engine.append(
                    "me",
                    IntStream.range(2, 10_001).mapToObj(i -> record("a" + i)).toList());
            feed(engine, "b1 b2");
            assertThat(in).isEmpty();
            assertThat(engine.batches().summary().isQuiet()).isTrue();
            assertThat(engine.batches().summary().waiting()).isEqualTo(10_001);
            engine.batches().settle(BatchNumber.of(1), Delivery.How.DISCARDED);
            engine.deliverDue();
            assertThat(in).hasSize(10_001);
            assertThat(engine.batches().summary().isQuiet()).isTrue();
        }
    }

    /// A receiver on many threads that fails at random, and takes no record before the earlier ones of its key.
    private final class Racing {
        private final SplittableRandom random;
        private final Map<String, Integer> last = new HashMap<>();
        private final Set<String> active = new HashSet<>();
        private int most;

        Racing(long seed) {
            random = new SplittableRandom(seed);
        }

        Outcome deliver(Carrier.Content content) throws InterruptedException {
            List<String> names = new ArrayList<>();
            Outcome took = take(content, found -> {
                names.addAll(found);
                return new Outcome.Unknown("");
            });
            assertThat(took).isInstanceOf(Outcome.Unknown.class);
            boolean isFailing;
            synchronized (this) {
                for (String name : names) {
                    String key = name.substring(0, 1);
                    if (!active.add(key)) {
                        in.add("beside another one: " + name);
                    }
                    int number = Integer.parseInt(name.substring(1));
                    if (last.getOrDefault(key, -1) < number - 1) {
                        in.add("too early: " + name);
                    }
                }
                most = Math.max(most, active.size());
                isFailing = random.nextInt(8) == 0;
            }
            Thread.sleep(1);
            synchronized (this) {
                for (String name : names) {
                    active.remove(name.substring(0, 1));
                    if (!isFailing) {
                        last.merge(name.substring(0, 1), Integer.parseInt(name.substring(1)), Math::max);
                    }
                }
            }
            return isFailing ? new Outcome.NotNow("busy", null) : new Outcome.Done();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void on_many_threads_no_record_is_handed_over_before_an_earlier_one_of_its_key(int size) {
        String retry = ",\"concurrency\":16,\"wait\":\"1s\",\"retry\":{\"delays\":[\"1s\"],\"for\":\"1h\"}";
        Pipeline pipeline =
                pipeline("k", "\"size\":" + size + ",\"order\":\"key\",\"receiver\":\"idempotent\"" + retry);
        Racing receiver = new Racing(size);
        try (EmbeddedEngine engine = EmbeddedEngine.open(
                directory, pipeline, Settings.defaults().withCheckpointInterval(Duration.ofMillis(20)))) {
            engine.deliver((_, _, content) -> receiver.deliver(content));
            engine.append(
                    "me",
                    IntStream.range(0, 60)
                            .boxed()
                            .flatMap(i -> IntStream.range(0, 20).mapToObj(key -> record((char) ('a' + key) + "" + i)))
                            .limit(200)
                            .toList());
            while (engine.batches().summary().done() < 200 / size) {
                Thread.onSpinWait();
            }
        }
        assertThat(in).isEmpty();
        assertThat(receiver.most).isGreaterThan(4);
        assertThat(receiver.last.values()).containsOnly(9);
    }
}
