package dev.onefold.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.broker.Broker;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.receivers.Context;
import dev.onefold.receivers.Handover;
import dev.onefold.receivers.Receiver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Batches in a topic of a real broker.
@Tag("campaign")
@Timeout(300)
class KafkaReceiverTest {
    private static final Instant SEALED = Instant.now();

    @TempDir
    static Path folder;

    private static Broker broker;
    private static Admin admin;
    private static KafkaClients clients;
    private static int topics;

    private String topic = "";

    @BeforeAll
    static void open() throws IOException {
        broker = Broker.start(folder, 0, Map.of());
        admin = broker.admin();
        clients = new KafkaClients(broker.servers(), Optional.empty(), Optional.empty(), folder, _ -> null);
    }

    @AfterAll
    static void close() {
        admin.close();
        broker.close();
    }

    @BeforeEach
    void create() throws Exception {
        topic = "batches-" + ++topics;
        admin.createTopics(List.of(new NewTopic(topic, 2, (short) 1))).all().get();
    }

    private static Handover batch(int number, int attempt, String content) {
        return batch(number, attempt, content, SEALED);
    }

    private static Handover batch(int number, int attempt, String content, Instant sealed) {
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        String sha256 = HexFormat.of().formatHex(Sha256.digest().digest(bytes));
        BatchNumber of = BatchNumber.of(number);
        return new Handover(
                new Manifest(Manifest.id("p", of), of, "", 2, bytes.length, sha256, "", "", sealed, sealed, sealed),
                attempt,
                () -> new ByteArrayInputStream(bytes));
    }

    private Receiver receiver() {
        String text = "{\"pipeline\":\"p\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":2,\"order\":\"strict\","
                + "\"deliver\":{\"kafka\":{\"topic\":\"" + topic + "\",\"servers\":\"" + broker.servers() + "\"}}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) ->
                KafkaReceiver.open((Batching) pipeline.fold(), Context.of(folder, folder, new Format.Json()));
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private List<String> lines() {
        List<String> lines = new ArrayList<>();
        TopicLook look = new TopicLook(admin, topic, Duration.ofSeconds(20), () -> false);
        try (TopicReading reading = new TopicReading(look, Map.of(0, 0L, 1, 0L), clients.consumer())) {
            reading.read(look.ends(List.of(0, 1)), record -> {
                String text = new String(record.value(), StandardCharsets.UTF_8);
                return lines.add(
                        record.key() == null
                                ? text
                                : Manifest.read(text).orElseThrow().id());
            });
        }
        return lines;
    }

    @Test
    void whatever_is_lost_or_wakes_up_a_batch_is_in_the_topic_once() throws Exception {
        try (Receiver first = receiver();
                Receiver second = receiver()) {
            Producer<byte[], byte[]> killed = clients.producer("onefold-batches-" + topic); // Halfway in a batch.
            killed.initTransactions();
            killed.beginTransaction();
            var _ = killed.send(new ProducerRecord<>(topic, 1, null, "a".getBytes(StandardCharsets.UTF_8)));
            killed.flush();
            assertThat(first.deliver(batch(1, 1, "a\nb\n"))).isEqualTo(new Outcome.Done());
            assertThat(first.deliver(batch(1, 2, "a\nb\n"))).isEqualTo(new Outcome.Done());
            assertThat(second.deliver(batch(1, 1, "a\nb\n"))).isEqualTo(new Outcome.Done());
            assertThat(first.deliver(batch(2, 1, "c\nd\n"))).isInstanceOf(Outcome.NotNow.class); // It is shut out.
            assertThat(first.deliver(batch(2, 2, "c\nd\n"))).isEqualTo(new Outcome.Done());
            assertThat(second.deliver(batch(2, 1, "c\nd\n"))).isEqualTo(new Outcome.Done());
            assertThat(second.deliver(batch(3, 1, "e\nf\n"))).isInstanceOf(Outcome.NotNow.class);
            assertThat(second.deliver(batch(1, 3, "x\ny\n"))).isInstanceOf(Outcome.Conflict.class);
            assertThat(second.deliver(batch(3, 2, "e\nf\n"))).isEqualTo(new Outcome.Done());
            assertThat(second.deliver(batch(4, 1, "g\nh\n"))).isEqualTo(new Outcome.Done());
            assertThat(lines())
                    .containsExactlyInAnyOrder(
                            "a", "b", "p-000001", "c", "d", "p-000002", "e", "f", "p-000003", "g", "h", "p-000004")
                    .containsSubsequence("a", "b", "p-000001")
                    .containsSubsequence("c", "d", "p-000002")
                    .containsSubsequence("e", "f", "p-000003");
            killed.close(Duration.ZERO);
        }
    }

    @Test
    void a_manifest_behind_the_open_transaction_of_another_producer_is_not_passed_over() throws Exception {
        try (Receiver first = receiver();
                Receiver second = receiver();
                Producer<byte[], byte[]> other = clients.producer("other")) {
            other.initTransactions();
            assertThat(first.deliver(batch(1, 1, "a\nb\n"))).isEqualTo(new Outcome.Done());
            other.beginTransaction();
            other.send(new ProducerRecord<>(topic, 0, null, "o".getBytes(StandardCharsets.UTF_8)))
                    .get();
            assertThat(first.deliver(batch(2, 1, "c\nd\n"))).isEqualTo(new Outcome.Done());
            assertThat(second.deliver(batch(2, 1, "c\nd\n"))) // The first was killed before it noted the answer.
                    .asString()
                    .contains("partition 0 has an open transaction from offset 0");
            other.abortTransaction();
            assertThat(second.deliver(batch(2, 2, "c\nd\n"))).isEqualTo(new Outcome.Done());
            assertThat(lines()).containsExactlyInAnyOrder("a", "b", "p-000001", "c", "d", "p-000002");
        }
    }

    @Test
    void a_restored_copy_finds_what_was_delivered_long_before_it_sealed() throws Exception {
        Instant later = Instant.now().plus(Duration.ofHours(2));
        try (Receiver original = receiver();
                Receiver copy = receiver()) {
            assertThat(original.deliver(batch(6, 1, "a\nb\n"))).isEqualTo(new Outcome.Done());
            assertThat(copy.deliver(batch(6, 1, "x\ny\n", later))).isInstanceOf(Outcome.Conflict.class);
            assertThat(copy.deliver(batch(5, 1, "x\ny\n", later))) // The topic keeps its records for a time only.
                    .asString()
                    .contains("has batch p-000006");
            assertThat(copy.deliver(batch(8, 1, "x\ny\n", later))).isEqualTo(new Outcome.Done());
            assertThat(original.deliver(batch(6, 2, "a\nb\n"))).isEqualTo(new Outcome.Done());
        }
    }
}
