package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.DefinitionChange;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.delivery.Carrier;
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
import java.util.HexFormat;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BatchesTest {
    @TempDir
    Path directory;

    @TempDir
    Path other;

    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    private static Pipeline pipeline(String batch) {
        return switch (PipelineText.read("{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{" + batch + "}}")) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private static Pipeline files(String more) {
        return pipeline("\"size\":10,\"wait\":\"5m\",\"deliver\":{\"file\":\"x-{number}.ndjson\"}" + more);
    }

    private static Pipeline requests(String more) {
        return pipeline("\"size\":10,\"wait\":\"5m\",\"deliver\":{\"http\":\"http://host/\"}," + more);
    }

    private EmbeddedEngine open(Pipeline pipeline) {
        return EmbeddedEngine.open(
                directory,
                pipeline,
                Settings.defaults().withThreads(0).withShards(3).withClock(() -> now));
    }

    private static List<String> records(int from, int to) {
        return IntStream.range(from, to).mapToObj(id -> "{\"id\":" + id + "}").toList();
    }

    /// Notes all that it is given.
    private static final class Receiver implements Carrier {
        final SortedMap<BatchNumber, List<String>> got = new TreeMap<>();
        final List<Manifest> manifests = new ArrayList<>();
        Function<Manifest, Outcome> answer = _ -> new Outcome.Done();
        boolean isCompressed;

        @Override
        public Outcome deliver(Manifest manifest, int attempt, Content content) {
            byte[] bytes = read(content);
            assertThat(HexFormat.of().formatHex(Sha256.of(bytes))).isEqualTo(manifest.sha256());
            assertThat(manifest.bytes()).isEqualTo(bytes.length);
            List<String> lines = lines(bytes);
            assertThat(lines).hasSize((int) manifest.records());
            List<String> before = got.put(manifest.number(), lines);
            assertThat(before == null ? lines : before)
                    .as("the same at each attempt")
                    .isEqualTo(lines);
            manifests.add(manifest);
            return answer.apply(manifest);
        }

        private List<String> lines(byte[] bytes) {
            try (InputStream in = isCompressed
                    ? new GZIPInputStream(new ByteArrayInputStream(bytes))
                    : new ByteArrayInputStream(bytes)) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                        .lines()
                        .toList();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        private static byte[] read(Content content) {
            try (InputStream in = content.open()) {
                return in.readAllBytes();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Test
    void a_batch_counts_as_sealed_when_it_is_listed_which_is_after_the_checkpoint_of_its_seal() {
        try (EmbeddedEngine engine = open(files(""))) {
            engine.append("s", records(0, 10));
            engine.checkpointNow();
            Instant first = now;
            engine.append("s", records(10, 13));
            now = now.plusSeconds(1);
            engine.append("s", records(13, 25));
            SealedBatches.Summary summary = engine.batches().summary();
            assertThat(engine.batches().list(BatchNumber.of(1), 9, false)).hasSize(1);
            assertThat(summary.sealed()).isEqualTo(1);
            assertThat(summary.undelivered()).isEqualTo(1);
            assertThat(summary.openRecords()).isEqualTo(15);
            assertThat(summary.openSince()).isEqualTo(first);
            engine.checkpointNow();
            assertThat(engine.batches().list(BatchNumber.of(1), 9, false)).hasSize(2);
            assertThat(engine.batches().summary().sealed()).isEqualTo(2);
            assertThat(engine.batches().summary().openRecords()).isEqualTo(5);
        }
    }

    @Test
    void each_distinct_record_is_in_exactly_one_batch_in_the_order_of_arrival() {
        Receiver receiver = new Receiver();
        try (EmbeddedEngine engine = open(files(""))) {
            engine.deliver(receiver);
            engine.append("a", records(0, 25));
            engine.append("b", records(5, 32));
            engine.checkpointNow();
            engine.deliverDue();
            assertThat(engine.counts().accepted()).isEqualTo(32);
            assertThat(engine.counts().duplicate()).isEqualTo(20);
            assertThat(receiver.got.keySet()).hasToString("[000001, 000002, 000003]");
            now = now.plus(Duration.ofMinutes(5));
            engine.deliverDue();
            engine.checkpointNow();
            engine.deliverDue();
        }
        assertThat(receiver.got.values().stream().flatMap(List::stream)).isEqualTo(records(0, 32));
        assertThat(receiver.got.get(BatchNumber.of(4))).isEqualTo(records(30, 32));
        assertThat(receiver.manifests.getFirst().previous()).isEmpty();
        for (int i = 1; i < 4; i++) {
            assertThat(receiver.manifests.get(i).previous())
                    .isEqualTo(receiver.manifests.get(i - 1).sha256());
        }
    }

    @Test
    void a_batch_that_was_begun_under_a_clock_ten_years_ahead_waits_no_longer_than_any_other() {
        Receiver receiver = new Receiver();
        Instant right = now;
        try (EmbeddedEngine engine = open(files(""))) {
            now = right.plus(Duration.ofDays(3653));
            engine.append("a", records(0, 2));
        }
        now = right;
        try (EmbeddedEngine engine = open(files(""))) {
            engine.deliver(receiver);
            engine.deliverDue();
            engine.append("a", records(2, 3));
            now = right.plus(Duration.ofMinutes(5));
            engine.deliverDue();
            engine.checkpointNow();
            engine.deliverDue();
        }
        assertThat(receiver.got.values()).containsExactly(records(0, 3));
    }

    @Test
    void a_batch_is_not_delivered_before_its_checkpoint_is_durable() {
        Receiver receiver = new Receiver();
        try (EmbeddedEngine engine = EmbeddedEngine.open(
                directory, files(""), Settings.defaults().withThreads(0).withCheckpointInterval(Duration.ofDays(1)))) {
            engine.deliver(receiver);
            engine.append("a", records(0, 25));
            assertThat(engine.deliverDue()).isZero();
            engine.checkpointNow();
            assertThat(engine.deliverDue()).isEqualTo(2);
        }
    }

    @Test
    void what_was_collected_and_delivered_survives_a_restart() {
        Receiver receiver = new Receiver();
        try (EmbeddedEngine engine = open(files(""))) {
            engine.deliver(receiver);
            engine.append("a", records(0, 15));
            engine.checkpointNow();
            engine.deliverDue();
        }
        try (EmbeddedEngine engine = open(files(""))) {
            engine.deliver(receiver);
            engine.append("a", records(5, 30));
            engine.checkpointNow();
            engine.deliverDue();
            assertThat(engine.batches().summary().sealed()).isEqualTo(3);
            assertThat(engine.batches().summary().undelivered()).isZero();
        }
        assertThat(receiver.manifests).extracting(Manifest::number).hasToString("[000001, 000002, 000003]");
        assertThat(receiver.manifests.get(1).previous())
                .isEqualTo(receiver.manifests.get(0).sha256());
        assertThat(receiver.got.values().stream().flatMap(List::stream)).isEqualTo(records(0, 30));
    }

    @Test
    void a_compressed_content_is_made_once_and_delivered_alike_at_each_attempt() {
        Receiver receiver = new Receiver();
        receiver.isCompressed = true;
        receiver.answer = _ -> new Outcome.Unknown("no answer");
        Pipeline pipeline = pipeline("\"size\":10,\"deliver\":{\"file\":\"x-{number}.ndjson.gz\"}");
        for (int life = 0; life < 3; life++) {
            try (EmbeddedEngine engine = open(pipeline)) {
                engine.deliver(receiver);
                engine.append("a", records(0, 20));
                engine.checkpointNow();
                engine.deliverDue();
                now = now.plus(Duration.ofMinutes(10));
                if (life == 1) {
                    receiver.answer = _ -> new Outcome.Done();
                }
            }
        }
        assertThat(receiver.manifests).hasSize(6);
        assertThat(receiver.got.values().stream().flatMap(List::stream)).isEqualTo(records(0, 20));
        assertThat(directory.resolve("view-1").toFile().list()).noneMatch(name -> name.startsWith("content-"));
    }

    @Test
    void a_second_content_of_an_id_is_a_dead_letter_once_and_the_first_stays() {
        Receiver receiver = new Receiver();
        try (EmbeddedEngine engine = open(files(""))) {
            engine.deliver(receiver);
            engine.append(
                    "a",
                    List.of("{\"id\":1,\"v\":1}", "{\"id\":1,\"v\":2}", "{\"id\":1,\"v\":2}", "{\"id\":1,\"v\":1}"));
            assertThat(engine.counts().conflicting()).isEqualTo(2);
            assertThat(engine.deadLetters().list(0, 10))
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.reason()).isEqualTo(Reason.CONFLICT));
            engine.batches().seal();
            engine.deliverDue();
        }
        assertThat(receiver.got.values()).containsExactly(List.of("{\"id\":1,\"v\":1}"));
    }

    @Test
    void only_compared_fields_tell_two_contents_apart() {
        try (EmbeddedEngine engine = open(files(",\"compare\":[\"v\"]"))) {
            engine.append(
                    "a", List.of("{\"id\":1,\"v\":1,\"t\":1}", "{\"id\":1,\"v\":1,\"t\":2}", "{\"id\":1,\"v\":2}"));
            engine.append("a", List.of("{\"id\":1,\"v\":2,\"t\":3}"));
            assertThat(engine.counts().duplicate()).isEqualTo(1);
            assertThat(engine.counts().conflicting()).isEqualTo(2);
            assertThat(engine.deadLetters().size())
                    .as("one content, one letter")
                    .isEqualTo(1);
        }
    }

    @Test
    void a_bad_record_is_a_dead_letter_and_its_neighbours_go_on() {
        Receiver receiver = new Receiver();
        try (EmbeddedEngine engine = open(files(""))) {
            engine.deliver(receiver);
            engine.append("a", List.of("{\"id\":1}", "nonsense", "{\"id\":2}"));
            engine.batches().seal();
            engine.deliverDue();
            assertThat(engine.deadLetters().list(0, 10)).hasSize(1);
        }
        assertThat(receiver.got.values()).containsExactly(records(1, 3));
    }

    @Test
    void a_batch_that_is_put_aside_holds_up_others_only_if_the_order_is_strict() {
        for (String order : List.of("any", "strict")) {
            directory = directory.resolve(order);
            Receiver receiver = new Receiver();
            receiver.answer = manifest ->
                    manifest.number().number() == 1 ? new Outcome.Conflict("other content") : new Outcome.Done();
            try (EmbeddedEngine engine = open(files(",\"order\":\"" + order + "\""))) {
                engine.deliver(receiver);
                engine.append("a", records(0, 30));
                engine.checkpointNow();
                engine.deliverDue();
                SealedBatches.Summary summary = engine.batches().summary();
                assertThat(summary.aside()).isEqualTo(1);
                assertThat(receiver.manifests).hasSize(order.equals("any") ? 3 : 1);
                assertThat(summary.heldUpBy()).isEqualTo(order.equals("any") ? null : BatchNumber.of(1));
                engine.batches().settle(BatchNumber.of(1), Delivery.How.SAID);
                engine.deliverDue();
                assertThat(receiver.got).hasSize(3);
                assertThat(engine.batches().summary().undelivered()).isZero();
            }
        }
    }

    @Test
    void an_unknown_end_is_in_doubt_for_a_receiver_that_cannot_bear_a_second_try() {
        Receiver receiver = new Receiver();
        receiver.answer = _ -> new Outcome.Unknown("time-out");
        Pipeline pipeline = requests("\"receiver\":\"once\"");
        try (EmbeddedEngine engine = open(pipeline)) {
            engine.deliver(receiver);
            engine.append("a", records(0, 10));
            engine.checkpointNow();
            engine.deliverDue();
            now = now.plus(Duration.ofDays(9));
            assertThat(engine.deliverDue()).isZero();
        }
        try (EmbeddedEngine engine = open(pipeline)) {
            engine.deliver(receiver);
            assertThat(engine.deliverDue()).isZero();
            assertThat(engine.batches().summary().inDoubt()).isEqualTo(1);
            receiver.answer = _ -> new Outcome.Done();
            engine.batches().release(BatchNumber.of(1));
            assertThat(engine.deliverDue()).isEqualTo(1);
            assertThatThrownBy(() -> engine.batches().release(BatchNumber.of(1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static void copy(Path from, Path to) {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Files.copy(each, to.resolve(from.relativize(each).toString()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void a_start_tries_at_once_what_waits_for_a_later_time_but_not_twice_within_a_minute() {
        Receiver receiver = new Receiver();
        receiver.answer = _ -> new Outcome.NotNow("closed", null);
        Pipeline pipeline = requests("\"receiver\":\"idempotent\"");
        try (EmbeddedEngine engine = open(pipeline)) {
            engine.deliver(receiver);
            engine.append("a", records(0, 10));
            engine.checkpointNow();
            assertThat(engine.deliverDue()).isOne();
            now = now.plus(Duration.ofMinutes(1));
            assertThat(engine.deliverDue()).isOne(); // The next try of the schedule is in ten minutes.
        }
        now = now.plusSeconds(10);
        Path image = other.resolve("image");
        try (EmbeddedEngine engine = open(pipeline)) {
            engine.deliver(receiver);
            assertThat(engine.deliverDue())
                    .as("within a minute of the last try")
                    .isZero();
            assertThat(engine.batches().find(BatchNumber.of(1)).orElseThrow().next())
                    .isEqualTo(now.plusSeconds(50));
            now = now.plusSeconds(50);
            receiver.answer = _ -> {
                copy(directory, image); // As a process leaves it that is killed during the try.
                return new Outcome.NotNow("closed", null);
            };
            assertThat(engine.deliverDue()).isOne();
        }
        receiver.answer = _ -> new Outcome.Done();
        directory = image;
        now = now.plusSeconds(59);
        try (EmbeddedEngine engine = open(pipeline)) {
            engine.deliver(receiver);
            assertThat(engine.deliverDue())
                    .as("within a minute of the try that was cut off")
                    .isZero();
            now = now.plusSeconds(1);
            assertThat(engine.deliverDue()).isOne();
        }
    }

    @Test
    void a_poison_record_is_found_by_halving_and_put_aside_alone() {
        Receiver receiver = new Receiver();
        receiver.answer = manifest -> receiver.got.get(manifest.number()).contains("{\"id\":6}")
                ? new Outcome.Refused("poison")
                : new Outcome.Done();
        try (EmbeddedEngine engine = open(requests("\"receiver\":\"idempotent\",\"bisect\":true"))) {
            engine.deliver(receiver);
            engine.append("a", records(0, 20));
            engine.checkpointNow();
            engine.deliverDue();
            assertThat(engine.batches().list(BatchNumber.of(1), 100, true))
                    .filteredOn(line -> line.state().equals("put aside"))
                    .singleElement()
                    .satisfies(line -> {
                        List<byte[]> exported = new ArrayList<>();
                        engine.batches().export(line.number(), exported::add);
                        assertThat(new String(exported.getFirst(), StandardCharsets.UTF_8))
                                .isEqualTo("{\"id\":6}\n");
                        engine.batches().settle(line.number(), Delivery.How.DISCARDED);
                    });
            assertThat(engine.batches().summary().undelivered()).isZero();
        }
        List<String> delivered = new ArrayList<>();
        receiver.manifests.stream()
                .map(manifest -> receiver.got.get(manifest.number()))
                .filter(lines -> !lines.contains("{\"id\":6}"))
                .forEach(delivered::addAll);
        List<String> healthy = new ArrayList<>(records(0, 20));
        healthy.remove("{\"id\":6}");
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(healthy);
    }

    @Test
    void settings_of_batches_may_change_and_the_input_may_not() {
        try (EmbeddedEngine engine = open(files(""))) {
            engine.append("a", records(0, 15));
            assertThat(engine.change(files(",\"order\":\"strict\""))).isInstanceOf(DefinitionChange.None.class);
            assertThat(engine.change(files(",\"compare\":\"none\""))).isInstanceOf(DefinitionChange.Impossible.class);
        }
        Receiver receiver = new Receiver();
        try (EmbeddedEngine engine = open(pipeline("\"size\":7,\"deliver\":{\"file\":\"y-{number}\"}"))) {
            engine.deliver(receiver);
            engine.append("a", records(15, 30));
            engine.checkpointNow();
            engine.deliverDue();
        }
        assertThat(receiver.got.values().stream().map(List::size)).startsWith(10, 7);
    }
}
