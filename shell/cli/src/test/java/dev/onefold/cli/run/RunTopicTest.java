package dev.onefold.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.broker.Broker;
import dev.onefold.cli.Cli;
import dev.onefold.cli.OnefoldProcess;
import dev.onefold.cli.show.Words;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
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
    private static final int LIVES = 3; // Of the topic.
    private static final int LOST = 500;
    private static final Pattern GAP = Pattern.compile("--accept-gap ([^ ']+)'");

    /// `-Dtopic.records=10000000 -Dtopic.partitions=8 -Dtopic.kills=20` is a hard run.
    private static final int RECORDS = Integer.getInteger("topic.records", 30_000) / LIVES;

    private static final int PARTITIONS = Integer.getInteger("topic.partitions", 2);
    private static final int KILLS = Integer.getInteger("topic.kills", 3);

    @TempDir
    private Path folder;

    private final SplittableRandom random = new SplittableRandom(7);
    private final AtomicLong records = new AtomicLong(); // That count.

    private void create(Admin admin) throws Exception {
        while (true) {
            try {
                admin.createTopics(List.of(new NewTopic(TOPIC, PARTITIONS, (short) 1)))
                        .all()
                        .get();
                return;
            } catch (ExecutionException e) { // The old one is still being deleted.
                assertThat(e.getCause()).isInstanceOf(TopicExistsException.class);
            }
        }
    }

    private static KafkaProducer<byte[], byte[]> producer(Broker broker, String transactions) {
        Map<String, Object> settings = new HashMap<>(Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                broker.servers(),
                ProducerConfig.COMPRESSION_TYPE_CONFIG,
                "lz4"));
        if (!transactions.isEmpty()) {
            settings.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, transactions);
            settings.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, 900_000);
        }
        KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        if (!transactions.isEmpty()) {
            producer.initTransactions();
        }
        return producer;
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, int partition, String line) {
        var _ = producer.send(new ProducerRecord<>(TOPIC, partition, null, line.getBytes(StandardCharsets.UTF_8)));
    }

    /// Records that must not count.
    private static void open(KafkaProducer<byte[], byte[]> transactional, String line, int partitions) {
        transactional.beginTransaction();
        for (int i = 0; i < 100; i++) {
            send(transactional, i % partitions, line.replace("\"TradeID\":\"", "\"TradeID\":\"aborted-" + i));
        }
        transactional.flush();
    }

    /// A part of the lines, one in a hundred twice. A transaction hangs half the time, and others are aborted
    /// meanwhile. Then a partition is added.
    private void produce(Broker broker, Admin admin, BufferedReader lines) throws Exception {
        try (KafkaProducer<byte[], byte[]> plain = producer(broker, "");
                KafkaProducer<byte[], byte[]> hanging = producer(broker, "hanging");
                KafkaProducer<byte[], byte[]> aborting = producer(broker, "aborting")) {
            int partitions = PARTITIONS;
            for (int i = 0; i < RECORDS; i++) {
                String line = Objects.requireNonNull(lines.readLine());
                if (i == RECORDS / 4) {
                    open(hanging, line, 1);
                } else if (i == RECORDS / 2 || i == RECORDS * 3 / 4) {
                    open(aborting, line, partitions);
                    aborting.abortTransaction();
                }
                if (i == RECORDS * 3 / 4) {
                    hanging.abortTransaction();
                    admin.createPartitions(Map.of(TOPIC, NewPartitions.increaseTo(++partitions)))
                            .all()
                            .get();
                }
                for (int copies = i % 100 == 0 ? 2 : 1; copies > 0; copies--) {
                    send(plain, (i + copies) % partitions, line);
                    records.incrementAndGet();
                }
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
            assertThat(checked.out())
                    .contains(
                            "It keeps its records for 168",
                            "All 7 records of topic trades, as this pipeline reads them",
                            "not a number",
                            "Nothing was stored.");
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

    private OnefoldProcess run(String... more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("run", "trades.yaml"));
        arguments.addAll(List.of(more));
        OnefoldProcess run = OnefoldProcess.start(folder, arguments.toArray(String[]::new));
        OnefoldProcess.await(
                "it reads",
                () -> run.err().contains("Reading topic") || !run.process().isAlive());
        return run;
    }

    /// Waits until all is read, as long as more is.
    private void awaitAll(Cli cli, OnefoldProcess run) throws Exception {
        String all = " " + Words.count(records.get());
        String[] seen = {""};
        while (!seen[0].endsWith(all)) {
            String before = seen[0];
            OnefoldProcess.await("more is read than " + before + " of" + all, () -> {
                try {
                    seen[0] = line(cli, "records");
                    return !seen[0].equals(before) && !seen[0].isEmpty();
                } catch (Exception e) {
                    throw new AssertionError(run.err(), e);
                }
            });
        }
    }

    /// The topic is filled while its reader is killed.
    private void live(Broker broker, Admin admin, BufferedReader lines, Cli cli) throws Exception {
        FutureTask<Boolean> producing = new FutureTask<>(() -> {
            produce(broker, admin, lines);
            return true;
        });
        Thread.ofPlatform().start(producing);
        for (int kill = 0; kill < KILLS / LIVES; kill++) {
            try (OnefoldProcess run = run()) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(2_000)));
                run.kill();
            }
        }
        try (OnefoldProcess run = run()) {
            assertThat(producing.get()).isTrue();
            awaitAll(cli, run);
            run.signal("TERM");
            assertThat(run.exitCode()).isZero();
        }
    }

    /// Retention deletes records that no reader has had: copies, so that the totals do not lack them.
    private String overrun(Broker broker, Admin admin, String line) throws Exception {
        try (KafkaProducer<byte[], byte[]> plain = producer(broker, "")) {
            for (int i = 0; i < LOST; i++) {
                send(plain, 0, line);
            }
            plain.flush();
            admin.deleteRecords(Map.of(new TopicPartition(TOPIC, 0), RecordsToDelete.beforeOffset(-1)))
                    .all()
                    .get();
            send(plain, 0, line);
            records.incrementAndGet();
        }
        try (OnefoldProcess run = run()) {
            OnefoldProcess.await("it is said", () -> run.err().contains("are gone before they were folded"));
            Matcher gap = GAP.matcher(run.err().replaceAll("\\s+", " "));
            assertThat(gap.find()).as(run.err()).isTrue();
            return gap.group(1);
        }
    }

    @Test
    @Timeout(7_200)
    void hazard_95_a_topic_counts_once_under_kills_and_one_that_was_recreated_is_refused() throws Exception {
        Cli cli = Cli.in(folder);
        String right = folder.resolve("right.json").toString();
        cli.run(
                "generate",
                "trade-risk",
                "--workload",
                "demo",
                "--events",
                Integer.toString(RECORDS * LIVES),
                "--output",
                folder.resolve("trades.ndjson").toString(),
                "--totals",
                right);
        try (Broker broker = Broker.start(Files.createDirectory(folder.resolve("broker")), 0, Map.of());
                Admin admin = broker.admin();
                BufferedReader lines = Files.newBufferedReader(folder.resolve("trades.ndjson"))) {
            create(admin);
            lines.mark(1 << 16);
            String line = lines.readLine();
            lines.reset();
            for (int life = 0; life < LIVES; life++) {
                cli.write("trades.yaml", """
                        pipeline: trade-risk
                        input:
                          from: {kafka: {topic: trades, servers: "%s", name: life-%d}}
                          key: TradeID
                          version: Version
                          delete: Deleted = true
                        rollup:
                          levels: [Hierarchy.RiskType, Hierarchy.TradeDesk, Hierarchy.Region]
                          measures: {value: "sum(Value) decimal(18,2)", trades: "count()"}
                        """.formatted(broker.servers(), life));
                live(broker, admin, lines, cli);
                try (OnefoldProcess run = run("--accept-gap", overrun(broker, admin, line))) {
                    awaitAll(cli, run);
                    admin.deleteTopics(List.of(TOPIC)).all().get();
                    create(admin);
                    assertThat(run.exitCode()).isNotZero();
                    assertThat(run.err()).contains("was deleted and recreated", "Nothing of it was folded");
                }
                try (OnefoldProcess run = run()) {
                    assertThat(run.exitCode()).isNotZero();
                    assertThat(run.err()).contains("was deleted and recreated");
                }
            }
        }
        Cli.Result compared = cli.run("query", "trades.yaml", "--depth", "1", "--equals", right);
        assertThat(compared.exitCode()).as(compared.out() + compared.err()).isZero();
        assertThat(cli.run("verify", "trades.yaml").exitCode()).isZero();
    }
}
