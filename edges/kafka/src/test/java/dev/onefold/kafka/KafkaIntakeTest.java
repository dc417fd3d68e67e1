package dev.onefold.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.broker.Broker;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.EngineException;
import dev.onefold.core.Status;
import dev.onefold.core.Truth;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.LogSource;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Records of a real broker in a real engine. It is one idea: all share the broker.
@Tag("campaign")
@Timeout(180)
class KafkaIntakeTest {
    @TempDir
    static Path folder;

    private static final int SENDS_MAX = 3;

    private static Broker broker;
    private static Admin admin;
    private static Map<String, String> settings = Map.of();
    private static final String KEYS = "hush-7-keys";
    private static final List<String> LISTENERS = List.of("SECURE", "MUTUAL", "TOKEN");
    private static final List<Integer> PORTS = new ArrayList<>(); // Of these.
    private static int topics;

    @TempDir
    Path directory;

    private final List<String> notes = new CopyOnWriteArrayList<>();
    private final List<ProducerRecord<byte[], byte[]>> unsent = new CopyOnWriteArrayList<>();
    private String topic = "";
    private KafkaProducer<byte[], byte[]> producer;

    @BeforeAll
    static void open() throws Exception {
        for (int i = 0; i < LISTENERS.size(); i++) {
            try (ServerSocket free = new ServerSocket(0)) {
                PORTS.add(free.getLocalPort());
            }
        }
        Path keys = folder.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-alias",
                        "broker",
                        "-ext",
                        "san=dns:localhost",
                        "-storepass",
                        KEYS,
                        "-keystore",
                        keys.toString())
                .start();
        assertThat(keytool.waitFor()).isZero();
        String listeners = IntStream.range(0, LISTENERS.size())
                .mapToObj(i -> LISTENERS.get(i) + "://localhost:" + PORTS.get(i))
                .collect(Collectors.joining(","));
        settings = Map.ofEntries(
                Map.entry("log.retention.check.interval.ms", "500"),
                Map.entry("listeners", listeners),
                Map.entry("advertised.listeners", listeners),
                Map.entry(
                        "listener.security.protocol.map",
                        "SECURE:SASL_SSL,MUTUAL:SSL,TOKEN:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"),
                Map.entry("listener.name.secure.sasl.enabled.mechanisms", "SCRAM-SHA-512"),
                Map.entry(
                        "listener.name.secure.scram-sha-512.sasl.jaas.config",
                        "org.apache.kafka.common.security.scram.ScramLoginModule required;"),
                Map.entry("listener.name.token.sasl.enabled.mechanisms", "OAUTHBEARER"),
                Map.entry(
                        "listener.name.token.oauthbearer.sasl.jaas.config",
                        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
                                + " unsecuredLoginStringClaim_sub=\"broker\";"),
                Map.entry("listener.name.mutual.ssl.client.auth", "required"),
                Map.entry("ssl.keystore.location", keys.toString()),
                Map.entry("ssl.keystore.password", KEYS),
                Map.entry("ssl.keystore.type", "PKCS12"),
                Map.entry("ssl.truststore.location", keys.toString()),
                Map.entry("ssl.truststore.password", KEYS),
                Map.entry("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
                Map.entry("super.users", "User:ANONYMOUS"),
                Map.entry("allow.everyone.if.no.acl.found", "true"));
        start(0);
        admin = broker.admin();
    }

    @AfterAll
    static void close() {
        admin.close();
        broker.close();
    }

    @BeforeEach
    void begin() {
        topic = "trades-" + ++topics;
        producer = producer(Map.of());
    }

    @AfterEach
    void end() {
        producer.close(Duration.ZERO);
    }

    private static KafkaProducer<byte[], byte[]> producer(Map<String, Object> more) {
        Map<String, Object> settings = new TreeMap<>(more);
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.servers());
        settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 15_000);
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 20_000);
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private void create(int partitions) throws Exception {
        admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1)))
                .all()
                .get();
    }

    private void recreate(int partitions) throws Exception {
        admin.deleteTopics(List.of(topic)).all().get();
        while (true) {
            try {
                create(partitions);
                return;
            } catch (ExecutionException e) { // It is still being deleted.
                assertThat(e.getCause()).isInstanceOf(org.apache.kafka.common.errors.TopicExistsException.class);
            }
        }
    }

    private void send(int partition, String key, String value) {
        send(new ProducerRecord<>(topic, partition, bytes(key), value == null ? null : bytes(value)));
    }

    private void send(ProducerRecord<byte[], byte[]> record) {
        var _ = producer.send(record, (_, e) -> {
            if (e != null) {
                unsent.add(record);
            }
        });
    }

    /// On a machine with much to do, the first records to a new topic may time out.
    private void flush() {
        producer.flush();
        for (int i = 1; i < SENDS_MAX && !unsent.isEmpty(); i++) {
            List<ProducerRecord<byte[], byte[]>> again = List.copyOf(unsent);
            unsent.clear();
            again.forEach(this::send);
            producer.flush();
        }
        assertThat(unsent).isEmpty();
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    private void trades(int partition, int from, int to) {
        for (int i = from; i < to; i++) {
            send(partition, "T" + i, trade(i));
        }
        flush();
    }

    private static String trade(int i) {
        return "{\"TradeID\":\"T" + i + "\",\"Version\":1,\"Book\":\"" + (i % 3) + "\",\"Value\":" + i + "}";
    }

    private static final String TRADES = "\"key\":\"TradeID\",\"version\":\"Version\"";

    private Pipeline pipeline(String identity, String more) {
        return read(
                "{\"pipeline\":\"p\",\"input\":{\"from\":{\"kafka\":{\"topic\":\"" + topic + "\",\"servers\":\""
                        + broker.servers() + "\"" + more + "}}," + identity
                        + "},\"rollup\":{\"levels\":[\"Book\"],\"measures\":{\"value\":\"sum(Value) decimal(18,0)\",\"trades\":\"count()\"}}}");
    }

    private static Pipeline read(String text) {
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private EmbeddedEngine engine(Pipeline pipeline) {
        return EmbeddedEngine.open(directory, pipeline, Settings.defaults());
    }

    private KafkaIntake intake(EmbeddedEngine engine, KafkaIntake.Gap... gaps) {
        Origin.Kafka origin =
                (Origin.Kafka) Objects.requireNonNull(engine.pipeline().origin());
        return new KafkaIntake(
                new KafkaClients(origin, directory, Map.of("PASSWORD", "hush-7")::get),
                origin,
                engine,
                List.of(gaps),
                notes::add);
    }

    /// The offsets behind all that is in the topic.
    private SortedMap<Integer, Long> ends() throws Exception {
        SortedMap<Integer, Long> ends = new TreeMap<>();
        int partitions = admin.describeTopics(List.of(topic))
                .allTopicNames()
                .get()
                .get(topic)
                .partitions()
                .size();
        for (int i = 0; i < partitions; i++) {
            TopicPartition partition = new TopicPartition(topic, i);
            ends.put(
                    i,
                    admin.listOffsets(Map.of(partition, org.apache.kafka.clients.admin.OffsetSpec.latest()))
                            .partitionResult(partition)
                            .get()
                            .offset());
        }
        return ends;
    }

    private void foldAll(EmbeddedEngine engine) throws Exception {
        SortedMap<Integer, Long> ends = ends();
        intake(engine).run(() -> engine.offsets(topic).equals(ends));
    }

    private static BigDecimal total(EmbeddedEngine engine, int figure) {
        return Objects.requireNonNull(
                engine.query(Query.all("main")).lines().getFirst().values().get(figure));
    }

    private static long sum(int from, int to) {
        return (long) (to - from) * (from + to - 1) / 2;
    }

    @Test
    void records_of_all_partitions_count_once_and_a_later_run_goes_on() throws Exception {
        create(3);
        trades(0, 0, 1000);
        trades(1, 1000, 1500);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            foldAll(engine);
            assertThat(total(engine, 0))
                    .as(engine.counts() + " " + engine.offsets(topic))
                    .isEqualByComparingTo(BigDecimal.valueOf(sum(0, 1500)));
        }
        trades(2, 1500, 1700);
        trades(0, 0, 10); // Sent once more: duplicates.
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            foldAll(engine);
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(sum(0, 1700)));
            assertThat(engine.counts().duplicate()).isEqualTo(10);
            assertThat(engine.counts().accepted()).isEqualTo(1700);
        }
    }

    @Test
    void hazard_95_a_topic_that_was_recreated_while_it_was_read_is_not_read_on() throws Exception {
        create(1);
        trades(0, 0, 100);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            boolean[] done = {false};
            BooleanSupplier recreating = () -> {
                if (engine.offsets(topic).equals(new TreeMap<>(Map.of(0, 100L))) && !done[0]) {
                    done[0] = true;
                    try {
                        recreate(1);
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                    trades(0, 1000, 1200);
                }
                return false;
            };
            assertThatThrownBy(() -> intake(engine).run(recreating))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("was deleted and recreated");
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(sum(0, 100)));
        }
    }

    @Test
    void hazard_95_a_topic_that_was_recreated_between_two_runs_is_refused_unless_it_has_a_name() throws Exception {
        create(1);
        trades(0, 0, 100);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            foldAll(engine);
        }
        recreate(1);
        trades(0, 1000, 1200);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            assertThatThrownBy(() -> intake(engine).run(() -> false)).hasMessageContaining("was deleted and recreated");
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(sum(0, 100)));
        }
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ",\"name\":\"second\""))) {
            SortedMap<Integer, Long> ends = ends();
            intake(engine).run(() -> engine.offsets("second").equals(ends));
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(sum(0, 100) + sum(1000, 1200)));
        }
    }

    @Test
    void hazard_96_a_topic_of_another_cluster_is_refused_and_a_partition_whose_last_record_is_another_stops_alone()
            throws Exception {
        create(2);
        trades(0, 0, 10);
        trades(1, 10, 15);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            foldAll(engine);
        }
        String mark;
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            mark = engine.partitions(topic).get(0).mark();
        }
        String[] words = mark.split(" ", -1);
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(directory.resolve("other"), pipeline(TRADES, ""), Settings.defaults())) {
            engine.begin(topic, new TreeMap<>(Map.of(0, 10L)), mark.replace(words[0], "another-cluster"));
            assertThatThrownBy(() -> intake(engine).run(() -> false))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("Nothing of it was folded");
            assertThat(engine.counts().records()).isZero();
        }
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(directory.resolve("cut"), pipeline(TRADES, ""), Settings.defaults())) {
            String other = mark.replace(words[3], "0".repeat(words[3].length()));
            engine.begin(topic, new TreeMap<>(Map.of(0, 10L)), other);
            engine.begin(topic, new TreeMap<>(Map.of(1, 0L)), words[0] + " " + words[1] + " - - - -");
            trades(0, 20, 30);
            KafkaIntake intake = intake(engine);
            intake.run(() -> engine.offsets(topic).getOrDefault(1, 0L) == 5);
            assertThat(intake.stopped()).singleElement().asString().contains(topic + "/0", "truncated or restored");
            assertThat(engine.counts().records()).isEqualTo(5);
        }
    }

    @Test
    void hazard_96_a_broker_whose_disk_was_restored_while_the_engine_runs_is_not_read_on() throws Exception {
        create(1);
        trades(0, 0, 100);
        Path kept = folder.resolve("kept");
        int port = broker.port();
        broker.close();
        copy(folder.resolve("data"), kept);
        start(port);
        trades(0, 100, 300);
        boolean[] done = {false};
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            BooleanSupplier restoring = () -> { // While the reader asks it reads nothing: it may find 400 records.
                if (!Thread.currentThread().getName().equals("kafka-fold")
                        && engine.offsets(topic).getOrDefault(0, 0L) == 300
                        && !done[0]) {
                    done[0] = true;
                    try {
                        broker.close();
                        delete(folder.resolve("data"));
                        copy(kept, folder.resolve("data"));
                        start(port);
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                    trades(0, 1000, 1300);
                }
                return false;
            };
            assertThatThrownBy(() -> intake(engine).run(restoring))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("truncated or restored");
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(sum(0, 300)));
            assertThat(engine.status().logs())
                    .allSatisfy(log -> assertThat(log.stopped()).isNotEmpty());
        }
    }

    private static void start(int port) throws IOException {
        broker = Broker.start(folder, port, settings);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Files.copy(each, to.resolve(from.relativize(each)));
            }
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : all.toList().reversed()) {
                Files.delete(each);
            }
        }
    }

    @Test
    void hazard_100_what_a_group_has_committed_is_told_and_never_read() throws Exception {
        create(1);
        trades(0, 0, 10);
        Files.writeString(directory.resolve("group.properties"), "group.id=totals-" + topic + "\n");
        Pipeline pipeline = pipeline(TRADES, ",\"properties\":\"group.properties\"");
        TopicPartition partition = new TopicPartition(topic, 0);
        admin.alterConsumerGroupOffsets(
                        "totals-" + topic,
                        Map.of(partition, new org.apache.kafka.clients.consumer.OffsetAndMetadata(7)))
                .all()
                .get();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory.resolve("d"), pipeline, Settings.defaults())) {
            foldAll(engine);
            assertThat(engine.counts().accepted()).isEqualTo(10);
        }
    }

    @Test
    void hazard_97_a_partition_whose_next_record_is_gone_stops_alone_until_a_person_accepts_it() throws Exception {
        create(2);
        trades(0, 0, 30);
        trades(1, 100, 130);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            foldAll(engine);
        }
        trades(0, 30, 100);
        trades(1, 130, 140);
        admin.deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(60)))
                .all()
                .get();
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            KafkaIntake intake = intake(engine);
            intake.run(
                    () -> !intake.stopped().isEmpty() && engine.offsets(topic).get(1) == 40);
            assertThat(intake.stopped())
                    .singleElement()
                    .asString()
                    .contains("all below offset 30 are folded", "begins at offset 60", "at most 30 records");
            for (KafkaIntake.Gap wrong : List.of(
                    new KafkaIntake.Gap(0, 30, 65), new KafkaIntake.Gap(0, 20, 60), new KafkaIntake.Gap(3, 1, 2))) {
                assertThatThrownBy(() -> intake(engine, wrong).run(() -> false))
                        .as(wrong.toString())
                        .isInstanceOf(IllegalArgumentException.class);
            }
            assertThatThrownBy(() -> engine.skip(topic, 3, 0, 2)).isInstanceOf(IllegalArgumentException.class);
            assertThat(engine.partitions(topic)).containsOnlyKeys(0, 1);
            SortedMap<Integer, Long> ends = ends();
            intake(engine, new KafkaIntake.Gap(0, 30, 60))
                    .run(() -> engine.offsets(topic).equals(ends));
            intake(engine, new KafkaIntake.Gap(0, 30, 60)) // As a unit file says it at each start.
                    .run(() -> engine.offsets(topic).equals(ends));
            assertThat(total(engine, 0))
                    .isEqualByComparingTo(BigDecimal.valueOf(sum(0, 30) + sum(60, 100) + sum(100, 140)));
        }
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            assertThat(engine.partitions(topic).get(0).gaps()).singleElement().satisfies(gap -> {
                assertThat(gap.from()).isEqualTo(30);
                assertThat(gap.to()).isEqualTo(60);
            });
        }
    }

    @Test
    void hazard_98_an_aborted_transaction_counts_nothing_and_the_position_is_behind_it() throws Exception {
        create(1);
        try (KafkaProducer<byte[], byte[]> transactional =
                producer(Map.of(ProducerConfig.TRANSACTIONAL_ID_CONFIG, topic))) {
            transactional.initTransactions();
            for (int i = 0; i < 4; i++) {
                transactional.beginTransaction();
                var _ = transactional.send(new ProducerRecord<>(topic, 0, bytes("T" + i), bytes(trade(i))));
                transactional.flush(); // Otherwise nothing of it is sent before it is aborted.
                if (i % 2 == 0) {
                    transactional.commitTransaction();
                } else {
                    transactional.abortTransaction();
                }
            }
        }
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            intake(engine).run(() -> engine.offsets(topic).getOrDefault(0, 0L) == 8); // Each ends with a marker.
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(2));
            assertThat(engine.offsets(topic)).containsEntry(0, 8L);
        }
    }

    @Test
    void hazard_98_what_waits_behind_an_open_transaction_is_lag_with_its_producer_and_what_is_left_of_its_time()
            throws Exception {
        create(1);
        try (KafkaProducer<byte[], byte[]> transactional =
                        producer(Map.of(ProducerConfig.TRANSACTIONAL_ID_CONFIG, topic));
                EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            trades(0, 0, 3);
            transactional.initTransactions();
            transactional.beginTransaction();
            transactional
                    .send(new ProducerRecord<>(topic, 0, bytes("T3"), bytes(trade(3))))
                    .get();
            trades(0, 4, 10);
            BooleanSupplier isSaid = () ->
                    engine.status().logs().stream().anyMatch(log -> log.waits().contains("producer "));
            intake(engine).run(isSaid);
            intake(engine).run(isSaid); // One that begins behind it sees it, too.
            Status.OfPartition waiting = engine.status().logs().getFirst();
            assertThat(waiting.next()).isEqualTo(3);
            assertThat(waiting.waits()).isEmpty(); // Nobody reads it now.
            transactional.commitTransaction();
            List<Status.OfPartition> seen = new CopyOnWriteArrayList<>();
            intake(engine).run(() -> {
                seen.addAll(engine.status().logs());
                return seen.getLast().behind() == 0;
            });
            assertThat(seen).anySatisfy(log -> {
                assertThat(log.behindMs()).isZero();
                assertThat(log.retentionLeftMs())
                        .isBetween(1L, Duration.ofDays(7).toMillis());
            });
            assertThat(total(engine, 1)).isEqualByComparingTo("10");
        }
    }

    @Test
    void hazard_99_a_partition_that_is_added_is_read_from_its_beginning() throws Exception {
        create(1);
        trades(0, 0, 10);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ",\"start\":\"end\""))) {
            boolean[] done = {false};
            intake(engine).run(() -> {
                if (!done[0] && engine.offsets(topic).size() == 1) {
                    done[0] = true;
                    try {
                        admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(2)))
                                .all()
                                .get();
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                    trades(1, 10, 20);
                }
                return engine.offsets(topic).getOrDefault(1, 0L) == 10;
            });
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(sum(10, 20)));
        }
    }

    @Test
    void hazard_99_partitions_that_are_added_are_known_also_when_they_have_records_after_a_restart() throws Exception {
        create(1);
        trades(0, 0, 10);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            foldAll(engine);
            admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(4)))
                    .all()
                    .get();
            trades(2, 10, 20);
            intake(engine).run(() -> engine.offsets(topic).getOrDefault(2, 0L) == 10);
        }
        trades(1, 20, 30);
        trades(3, 30, 60);
        admin.deleteRecords(Map.of(new TopicPartition(topic, 3), RecordsToDelete.beforeOffset(20)))
                .all()
                .get();
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            KafkaIntake intake = intake(engine);
            intake.run(() -> !intake.stopped().isEmpty() && engine.counts().accepted() == 30);
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(sum(0, 30)));
            assertThat(intake.stopped())
                    .singleElement()
                    .asString()
                    .contains(topic + "/3 are gone", "below offset 0", "begins at offset 20");
        }
    }

    @Test
    void a_position_behind_the_marker_of_a_later_leader_is_no_truncation() throws Exception {
        create(1);
        try (KafkaProducer<byte[], byte[]> transactional =
                producer(Map.of(ProducerConfig.TRANSACTIONAL_ID_CONFIG, topic))) {
            transactional.initTransactions();
            transactional.beginTransaction();
            for (int i = 0; i < 5; i++) {
                var _ = transactional.send(new ProducerRecord<>(topic, 0, bytes("T" + i), bytes(trade(i))));
            }
            transactional.flush();
            int port = broker.port();
            broker.close();
            start(port);
            commit(transactional);
        }
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            intake(engine).run(() -> engine.offsets(topic).getOrDefault(0, 0L) == 6);
            assertThat(engine.counts().accepted()).isEqualTo(5);
        }
        trades(0, 5, 10);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            foldAll(engine);
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(sum(0, 10)));
        }
    }

    private static void commit(KafkaProducer<byte[], byte[]> transactional) {
        while (true) {
            try {
                transactional.commitTransaction();
                return;
            } catch (org.apache.kafka.common.errors.TimeoutException e) {
                // The broker is starting.
            }
        }
    }

    @Test
    void a_key_that_is_no_text_is_a_dead_letter_and_never_another_row() throws Exception {
        create(1);
        for (int i = 0; i < 256; i++) {
            byte[] key = java.nio.ByteBuffer.allocate(Long.BYTES).putLong(i).array();
            send(new ProducerRecord<>(topic, 0, key, bytes("{\"Version\":1,\"Book\":\"x\",\"Value\":1}")));
        }
        flush();
        try (EmbeddedEngine engine = engine(pipeline("\"key\":\"@key\",\"version\":\"Version\"", ""))) {
            foldAll(engine);
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(128)); // Bytes of ASCII.
            assertThat(engine.counts().rejected()).isEqualTo(128);
        }
    }

    @Test
    void with_offsets_as_versions_another_partition_or_topic_is_refused() throws Exception {
        create(1);
        String identity = "\"key\":\"@key\",\"version\":\"@offset\"";
        send(0, "A", "{\"Book\":\"x\",\"Value\":5}");
        flush();
        try (EmbeddedEngine engine = engine(pipeline(identity, ""))) {
            foldAll(engine);
            admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(2)))
                    .all()
                    .get();
            send(1, "A", "{\"Book\":\"x\",\"Value\":7}");
            flush();
            assertThatThrownBy(() -> intake(engine).run(() -> false))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("The version is @offset");
        }
        try (EmbeddedEngine engine = engine(pipeline(identity, ",\"name\":\"beside\""))) {
            assertThatThrownBy(() -> intake(engine).run(() -> false))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("offsets of another topic");
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(5));
        }
    }

    @Test
    void key_offset_and_headers_are_fields_and_a_record_without_a_value_deletes() throws Exception {
        create(1);
        String identity = "\"key\":\"@key\",\"version\":\"@offset\",\"delete\":\"@tombstone = true\"";
        send(0, "A", "{\"Book\":\"x\",\"Value\":5}");
        send(0, "B", "{ }");
        send(0, "A", "{\"Book\":\"x\",\"Value\":7}");
        send(0, "C", "{\"Book\":\"x\",\"Value\":1}");
        send(0, "C", null);
        send(0, "D", "{\"@key\":\"A\",\"Book\":\"x\",\"Value\":100}"); // Data never takes the place of the key.
        producer.flush();
        try (EmbeddedEngine engine = engine(pipeline(identity, ""))) {
            foldAll(engine);
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(7));
            assertThat(total(engine, 1)).isEqualByComparingTo(BigDecimal.ONE);
            assertThat(engine.counts().rejected()).isEqualTo(2); // No book; two keys.
        }
    }

    @Test
    void hazard_101_poison_is_a_dead_letter_with_its_key_and_headers() throws Exception {
        create(1);
        var _ = producer.send(new ProducerRecord<>(
                topic,
                0,
                bytes("K"),
                bytes("\"TradeID\":\"T0\",\"Version\":1,\"Book\":\"1\",\"Value\":9"),
                List.of(new org.apache.kafka.common.header.internals.RecordHeader("from", bytes("desk")))));
        send(0, "K2", "{\"@key\":\"other\",\"TradeID\":\"T1\",\"Version\":1,\"Book\":\"1\",\"Value\":9}");
        send(0, "K3", trade(3));
        send(0, "K4", null);
        producer.flush();
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            foldAll(engine);
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(3 + 9));
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(letter -> new String(engine.deadLetters().record(letter.id()), StandardCharsets.UTF_8))
                    .satisfiesExactly(
                            first -> assertThat(first).contains("\"@key\":\"K\"", "\"from\":\"desk\"", "\"T0\""),
                            second -> assertThat(second).contains("\"@key\":\"K4\"", "\"@tombstone\":true"));
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(DeadLetter::place)
                    .containsExactly(
                            new DeadLetter.Place(topic + "/0", 0, 0), new DeadLetter.Place(topic + "/0", 0, 3));
        }
    }

    private static final String SCRAM = """
            security.protocol=SASL_SSL
            sasl.mechanism=SCRAM-SHA-512
            sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="reader" \
                password="${PASSWORD}";
            """;

    @Test
    void a_topic_behind_tls_and_a_password_is_read_and_no_message_has_the_password() throws Exception {
        user("reader");
        String right = trusted() + SCRAM;
        isReadBehind(
                "SECURE",
                right,
                Map.of(
                        right.replace("SASL_SSL", "SASL_PLAINTEXT"), "security.protocol",
                        right.replaceAll("ssl.truststore.*\n", ""), "SSL handshake failed: ",
                        right.replace("\"${PASSWORD}\"", "\"hush-8\""), "invalid credentials"));
    }

    @Test
    void a_topic_behind_certificates_of_both_sides_is_read() throws Exception {
        String right = trusted() + "ssl.keystore.location=" + folder.resolve("keys.p12")
                + "\nssl.keystore.password=${PASSWORD}-keys\n";
        isReadBehind("MUTUAL", right, Map.of(trusted(), "SSL handshake failed|certificate_required"));
        Files.writeString(directory.resolve("kafka.properties"), right.replace("${PASSWORD}-keys", "hush-8"));
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(directory.resolve("d"), behind("MUTUAL"), Settings.defaults())) {
            assertThatThrownBy(() -> intake(engine).run(() -> false))
                    .isInstanceOf(IllegalArgumentException.class)
                    .message()
                    .contains("keys.p12")
                    .doesNotContain("hush");
        }
    }

    @Test
    void a_topic_behind_tokens_is_read() throws Exception {
        String right = """
                security.protocol=SASL_PLAINTEXT
                sasl.mechanism=OAUTHBEARER
                sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required \
                    unsecuredLoginStringClaim_sub="reader" unsecuredLoginStringClaim_secret="${PASSWORD}";
                """;
        String early = right.replace(";", " unsecuredLoginLifetimeSeconds=\"-9\";");
        isReadBehind("TOKEN", right, Map.of(early, "invalid_token"));
    }

    private void isReadBehind(String listener, String right, Map<String, String> wrong) throws Exception {
        create(1);
        trades(0, 0, 10);
        for (Map.Entry<String, String> properties : wrong.entrySet()) {
            notes.clear();
            Files.writeString(
                    directory.resolve("kafka.properties"),
                    properties.getKey() + "request.timeout.ms=3000\ndefault.api.timeout.ms=5000\n");
            try (EmbeddedEngine engine =
                    EmbeddedEngine.open(directory.resolve("d"), behind(listener), Settings.defaults())) {
                intake(engine).run(() -> !notes.isEmpty());
            }
            assertThat(notes)
                    .singleElement()
                    .asString()
                    .containsPattern(properties.getValue())
                    .doesNotContain("hush");
        }
        Files.writeString(directory.resolve("kafka.properties"), right);
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(directory.resolve("d"), behind(listener), Settings.defaults())) {
            foldAll(engine);
            assertThat(total(engine, 1)).isEqualByComparingTo("10");
            assertThat(String.join(" ", notes) + engine.status()).doesNotContain("hush");
        }
    }

    private static String trusted() {
        return """
                security.protocol=SSL
                ssl.truststore.location=%s
                ssl.truststore.password=${PASSWORD}-keys
                """.formatted(folder.resolve("keys.p12"));
    }

    private static void user(String name) throws Exception {
        admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
                        name, new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), "hush-7")))
                .all()
                .get();
    }

    private Pipeline behind(String listener) {
        return read(PipelineText.write(pipeline(TRADES, ",\"properties\":\"kafka.properties\""))
                .replace(broker.servers(), "localhost:" + PORTS.get(LISTENERS.indexOf(listener))));
    }

    private void allow(AclOperation operation) {
        ResourcePattern resource = new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL);
        AccessControlEntry entry = new AccessControlEntry("User:reader", "*", operation, AclPermissionType.ALLOW);
        try {
            admin.createAcls(List.of(new AclBinding(resource, entry))).all().get();
        } catch (ExecutionException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void a_right_that_the_client_lacks_is_named_and_reading_begins_when_it_has_it() throws Exception {
        create(1);
        trades(0, 0, 10);
        user("reader");
        allow(AclOperation.ALTER_CONFIGS);
        Files.writeString(directory.resolve("kafka.properties"), trusted() + SCRAM);
        String lacking = "lacks the right READ. Allow it: kafka-acls.sh --add --allow-principal User:NAME"
                + " --operation Read --topic " + topic;
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(directory.resolve("d"), behind("SECURE"), Settings.defaults())) {
            BooleanSupplier isNamed = () -> notes.stream().anyMatch(note -> note.contains(lacking));
            intake(engine).run(isNamed);
            notes.clear();
            allow(AclOperation.DESCRIBE);
            AtomicBoolean isAllowed = new AtomicBoolean();
            intake(engine).run(() -> {
                if (isNamed.getAsBoolean() && isAllowed.compareAndSet(false, true)) {
                    allow(AclOperation.READ);
                }
                return engine.offsets(topic).getOrDefault(0, 0L) == 10;
            });
            assertThat(isAllowed).isTrue();
        }
    }

    @Test
    void properties_that_would_move_positions_are_refused() throws Exception {
        Files.writeString(directory.resolve("k.properties"), "auto.offset.reset=latest\n");
        Origin.Kafka origin = new Origin.Kafka(
                "t", Optional.empty(), "localhost:1", Origin.Start.BEGINNING, Optional.of("k.properties"));
        assertThatThrownBy(() -> new KafkaClients(origin, directory, _ -> null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("auto.offset.reset")
                .hasMessageContaining("none");
    }

    /// With a level that is beside the record: batches that were read for the old definition have none.
    private Pipeline byPartition() {
        return read(
                "{\"pipeline\":\"p\",\"input\":{\"from\":{\"kafka\":{\"topic\":\"" + topic + "\",\"servers\":\""
                        + broker.servers() + "\"}}," + TRADES
                        + "},\"rollup\":{\"levels\":[\"@partition\"],\"measures\":{\"value\":\"sum(Value) decimal(18,0)\",\"trades\":\"count()\"}}}");
    }

    private void lend(EmbeddedEngine engine) {
        Origin.Kafka origin =
                (Origin.Kafka) Objects.requireNonNull(engine.pipeline().origin());
        engine.rereads(TopicAgain.of(new KafkaClients(origin, directory, _ -> null), origin, engine.directory()));
    }

    @Test
    void a_changed_pipeline_is_made_of_the_topic_read_again_while_the_old_one_goes_on() throws Exception {
        create(2);
        trades(0, 0, 1000);
        trades(1, 1000, 1500);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            foldAll(engine);
        }
        try (EmbeddedEngine engine = engine(byPartition())) {
            lend(engine);
            AtomicBoolean isChanged = new AtomicBoolean();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread changing = Thread.ofPlatform().start(() -> {
                try {
                    trades(0, 1500, 2000);
                    engine.fillView(_ -> null, false);
                    trades(1, 2000, 2200);
                    assertThat(engine.verify(new Truth.Sources()).differences()).isEmpty();
                    trades(0, 2200, 2300);
                    assertThat(engine.rebuild(new Truth.Sources()).differences())
                            .isEmpty();
                } catch (RuntimeException | Error e) {
                    failure.set(e);
                } finally {
                    isChanged.set(true);
                }
            });
            intake(engine)
                    .run(() -> isChanged.get()
                            && (failure.get() != null
                                    || engine.offsets(topic).values().stream()
                                                    .mapToLong(next -> next)
                                                    .sum()
                                            == 2300));
            changing.join();
            assertThat(failure.get()).isNull();
            assertThat(engine.wanted()).isEmpty();
            assertThat(engine.query(Query.all("main")).lines())
                    .extracting(line -> line.group() + " " + line.values())
                    .containsExactly(
                            "[] [" + sum(0, 2300) + ", 2300]",
                            "[0] [" + (sum(0, 1000) + sum(1500, 2000) + sum(2200, 2300)) + ", 1600]",
                            "[1] [" + (sum(1000, 1500) + sum(2000, 2200)) + ", 700]");
            assertThat(engine.deadLetters().size()).isZero();
        }
    }

    @Test
    void offsets_that_the_topic_has_lost_are_named_and_the_old_definition_goes_on() throws Exception {
        create(2);
        trades(0, 0, 30);
        trades(1, 30, 60);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            foldAll(engine);
            lend(engine);
            assertThat(engine.verify(new Truth.Sources()).isEqual()).isTrue();
            admin.deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(10)))
                    .all()
                    .get();
            assertThatThrownBy(() -> engine.verify(new Truth.Sources()))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("does not have these offsets any more: 0 to 9 of " + topic + "/0.")
                    .hasMessageContaining("From the rows they can be");
            assertThat(engine.verify().isEqual()).isTrue();
        }
        trades(1, 60, 70);
        try (EmbeddedEngine engine = engine(byPartition())) {
            lend(engine);
            assertThatThrownBy(() -> engine.fillView(_ -> null, false)).hasMessageContaining("0 to 9 of " + topic);
            foldAll(engine);
            assertThat(engine.wanted()).isPresent();
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(sum(0, 70)));
        }
    }

    @Test
    void a_topic_that_was_recreated_is_not_read_again_as_if_it_were_the_old_one() throws Exception {
        create(1);
        trades(0, 0, 20);
        try (EmbeddedEngine engine = engine(pipeline(TRADES, ""))) {
            foldAll(engine);
            lend(engine);
            recreate(1);
            trades(0, 100, 120);
            assertThatThrownBy(() -> engine.rebuild(new Truth.Sources()))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("and the records that were folded are of");
            assertThat(total(engine, 0)).isEqualByComparingTo(BigDecimal.valueOf(sum(0, 20)));
        }
    }

    @Test
    void a_topic_is_read_again_in_as_many_passes_as_its_intake_needs() throws Exception {
        create(2);
        Pipeline pipeline = pipeline(TRADES, "");
        Origin.Kafka origin = (Origin.Kafka) Objects.requireNonNull(pipeline.origin());
        LogSource log = TopicAgain.of(new KafkaClients(origin, directory, _ -> null), origin, directory);
        try (LogSource.Again again = log.opener().open(pipeline, () -> false)) {
            for (int from : List.of(0, 10, 20)) {
                trades(0, from, from + 10);
                trades(1, from, from + 10);
                LogSource.Range range = new LogSource.Range(from, from + 10, "");
                again.begin(new TreeMap<>(Map.of(0, range, 1, range)));
                int records = 0;
                for (LogBatch batch = again.next(); batch != null; batch = again.next()) {
                    records += batch.records().size();
                }
                assertThat(records).isEqualTo(20);
            }
        }
    }

    @Test
    void the_last_record_of_a_partition_that_waits_is_compared() throws Exception {
        create(1);
        trades(0, 0, 10);
        Origin.Kafka origin =
                (Origin.Kafka) Objects.requireNonNull(pipeline(TRADES, "").origin());
        TopicPartition partition = new TopicPartition(topic, 0);
        try (var consumer = new KafkaClients(origin, directory, _ -> null).consumer()) {
            consumer.assign(List.of(partition));
            consumer.pause(List.of(partition));
            TopicLook look = new TopicLook(admin, topic, Duration.ofSeconds(10), () -> false);
            assertThat(new LastRecords(topic, consumer, look)
                            .with(Map.of(0, TopicMark.read("c t 9 another - -").orElseThrow()))
                            .differing())
                    .containsOnlyKeys(0);
        }
    }
}
