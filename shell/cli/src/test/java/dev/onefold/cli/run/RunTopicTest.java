package dev.onefold.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.broker.Broker;
import dev.onefold.cli.Cli;
import dev.onefold.cli.OnefoldProcess;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A topic of a real broker, read by real processes that are really killed.
@Tag("campaign")
@Timeout(300)
class RunTopicTest {
    private static final String TOPIC = "trades";
    private static final int RECORDS = 60_000;

    @TempDir
    private Path folder;

    private long value;

    private void create(Admin admin) throws Exception {
        while (true) {
            try {
                admin.createTopics(List.of(new NewTopic(TOPIC, 2, (short) 1)))
                        .all()
                        .get();
                return;
            } catch (ExecutionException e) { // The old one is still being deleted.
                assertThat(e.getCause()).isInstanceOf(TopicExistsException.class);
            }
        }
    }

    /// Each trade has two versions, and each record comes twice.
    private void produce(Broker broker, int from, int to) {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.servers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            for (int i = from; i < to; i++) {
                for (int copy = 0; copy < 2; copy++) {
                    for (int version = 2; version > 0; version--) {
                        String json = "{\"id\":%d,\"v\":%d,\"book\":\"b%d\",\"value\":%d}"
                                .formatted(i, version, i % 5, i * version);
                        var _ = producer.send(new ProducerRecord<>(
                                TOPIC, (i + copy) % 2, null, json.getBytes(StandardCharsets.UTF_8)));
                    }
                }
                value += 2L * i;
            }
        }
    }

    /// The first example of the documents deletes by records without a value.
    @Test
    void the_example_of_the_documents_folds_replaces_and_deletes_by_offset() throws Exception {
        Cli cli = Cli.in(folder);
        try (Broker broker = Broker.start(Files.createDirectory(folder.resolve("broker")), 0, Map.of());
                Admin admin = broker.admin();
                KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                        Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.servers()),
                        new ByteArraySerializer(),
                        new ByteArraySerializer())) {
            create(admin);
            String page = Files.readString(Path.of("../../docs/kafka.md"));
            int begin = page.indexOf("```yaml") + "```yaml".length();
            cli.write(
                    "risk.yaml",
                    page.substring(begin, page.indexOf("```", begin)).replace("localhost:9092", broker.servers()));
            for (String record : List.of("a FX 1.50", "b FX 2", "c Bonds 3", "a FX 4.25", "b", "c Bonds 3", "d FX x")) {
                String[] words = record.split(" ", -1);
                byte[] value = words.length == 1
                        ? null
                        : "{\"Book\":\"%s\",\"Value\":\"%s\"}"
                                .formatted(words[1], words[2])
                                .getBytes(StandardCharsets.UTF_8);
                producer.send(new ProducerRecord<>(TOPIC, words[0].getBytes(StandardCharsets.UTF_8), value))
                        .get();
            }
            Cli.Result checked = cli.run("check", "risk.yaml", "--connect");
            assertThat(checked.exitCode()).isEqualTo(1);
            assertThat(checked.out()).contains("All 7 records of topic trades", "not a number");
            try (OnefoldProcess run = OnefoldProcess.start(folder, "run", "risk.yaml")) {
                OnefoldProcess.await(
                        "all is read",
                        () -> run.err().contains("Reading topic")
                                && cli.run("query", "risk.yaml", "--format", "json")
                                        .out()
                                        .contains("4.25"));
                assertThat(cli.run("query", "risk.yaml", "--format", "json").out())
                        .contains("\"value\":4.25,\"trades\":1", "\"value\":3.00,\"trades\":1");
            }
        }
    }

    private String line(Cli cli, String word) throws Exception {
        return cli.run("status", "trades.yaml")
                .out()
                .lines()
                .filter(line -> line.startsWith(word))
                .findFirst()
                .orElse("");
    }

    @Test
    void hazard_95_a_topic_counts_once_under_kills_and_one_that_was_made_anew_is_refused() throws Exception {
        Cli cli = Cli.in(folder);
        try (Broker broker = Broker.start(Files.createDirectory(folder.resolve("broker")), 0, Map.of());
                Admin admin = broker.admin()) {
            create(admin);
            cli.write("trades.yaml", """
                    pipeline: trades
                    input:
                      from: {kafka: {topic: trades, servers: "%s"}}
                      key: id
                      version: v
                    rollup: {levels: [book], measures: {value: "sum(value) decimal(18,0)", trades: "count()"}}
                    """.formatted(broker.servers()));
            produce(broker, 0, RECORDS / 2);
            assertThat(cli.run("check", "trades.yaml", "--connect").out())
                    .contains(
                            "Partition 1 has the offsets from 0 up to its end, 60000.", "It keeps its records for 168")
                    .contains("of topic trades, as this pipeline reads them", "Nothing was stored.");
            SplittableRandom random = new SplittableRandom(7);
            for (int kill = 0; kill < 4; kill++) {
                try (OnefoldProcess run = OnefoldProcess.start(folder, "run", "trades.yaml")) {
                    OnefoldProcess.await(
                            "it reads",
                            () -> run.err().contains("Reading topic")
                                    || !run.process().isAlive());
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(2_000)));
                    run.kill();
                }
            }
            try (OnefoldProcess run = OnefoldProcess.start(folder, "run", "trades.yaml")) {
                produce(broker, RECORDS / 2, RECORDS);
                OnefoldProcess.await("all is read", () -> {
                    try {
                        return line(cli, "log trades").contains("2 partitions, 0 offsets behind")
                                && line(cli, "records").endsWith("240,000");
                    } catch (Exception e) {
                        throw new AssertionError(run.err(), e);
                    }
                });
                assertThat(cli.run("query", "trades.yaml", "--format", "json").out())
                        .contains("\"value\":" + value, "\"trades\":" + RECORDS);
                assertThat(cli.run("verify", "trades.yaml").exitCode()).isZero();
                admin.deleteTopics(List.of(TOPIC)).all().get();
                create(admin);
                produce(broker, 0, 10);
                assertThat(run.exitCode()).isNotZero();
                assertThat(run.err()).contains("was deleted and made anew", "Nothing of it was folded");
            }
            try (OnefoldProcess run = OnefoldProcess.start(folder, "run", "trades.yaml")) {
                assertThat(run.exitCode()).isNotZero();
                assertThat(run.err()).contains("was deleted and made anew");
            }
            assertThat(line(cli, "records")).endsWith("240,000");
        }
    }
}
