package dev.onefold.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.test.KafkaClusterTestKit;
import org.apache.kafka.common.test.TestKitNodes;
import org.apache.kafka.server.common.MetadataVersion;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A cluster of three brokers, of which two stop and come back.
@Tag("campaign")
@Timeout(180)
class KafkaBrokersTest {
    private static KafkaClusterTestKit cluster;
    private static String servers;

    @TempDir
    Path directory;

    private final List<String> notes = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void open() throws Exception {
        cluster = new KafkaClusterTestKit.Builder(new TestKitNodes.Builder()
                        .setNumBrokerNodes(3)
                        .setNumControllerNodes(1)
                        .setBootstrapMetadataVersion(MetadataVersion.LATEST_PRODUCTION)
                        .build())
                .build();
        cluster.format();
        cluster.startup();
        cluster.waitForReadyBrokers();
        servers = cluster.bootstrapServers();
    }

    @AfterAll
    static void close() throws Exception {
        cluster.close();
    }

    private static void start(int node) {
        cluster.brokers().get(node).startup();
    }

    private static void stop(int node) {
        cluster.brokers().get(node).shutdown();
    }

    /// @param replicas the nodes of each partition
    private static void create(String topic, Map<Integer, List<Integer>> replicas, String inSync)
            throws ExecutionException, InterruptedException {
        try (Admin admin = Admin.create(Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers))) {
            admin.createTopics(List.of(new NewTopic(topic, replicas).configs(Map.of("min.insync.replicas", inSync))))
                    .all()
                    .get();
        }
    }

    private static void trades(String topic, int partition, int from, int to) {
        List<Exception> failures = new CopyOnWriteArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            for (int i = from; i < to; i++) {
                String json = "{\"id\":%d,\"v\":1,\"value\":%d}".formatted(i, i);
                var _ = producer.send(
                        new ProducerRecord<>(topic, partition, null, json.getBytes(StandardCharsets.UTF_8)),
                        (_, failure) -> {
                            if (failure != null) {
                                failures.add(failure);
                            }
                        });
            }
        }
        assertThat(failures).isEmpty();
    }

    private EmbeddedEngine engine(String topic) {
        Pipeline pipeline = ((Reading.Read) PipelineText.read(
                        "{\"pipeline\":\"p\",\"input\":{\"key\":\"id\",\"version\":\"v\",\"from\":{\"kafka\":{"
                                + "\"topic\":\"" + topic + "\",\"servers\":\"" + servers
                                + "\"}}},\"rollup\":{\"levels\":[],\"measures\":{\"value\":\"sum(value)"
                                + " decimal(18,0)\"}}}"))
                .pipeline();
        return EmbeddedEngine.open(directory, pipeline, Settings.defaults());
    }

    private KafkaIntake intake(EmbeddedEngine engine) {
        Origin.Kafka origin =
                (Origin.Kafka) Objects.requireNonNull(engine.pipeline().origin());
        return new KafkaIntake(new KafkaClients(origin, directory, _ -> null), origin, engine, List.of(), notes::add);
    }

    private static BigDecimal total(EmbeddedEngine engine) {
        return Objects.requireNonNull(
                engine.query(Query.all("main")).lines().getFirst().values().getFirst());
    }

    private static BigDecimal sum(long to) {
        return BigDecimal.valueOf(to * (to - 1) / 2);
    }

    private static BooleanSupplier reached(EmbeddedEngine engine, String topic, Map<Integer, Long> offsets) {
        return () -> engine.offsets(topic).equals(new TreeMap<>(offsets));
    }

    /// Steps that are taken one by one, each as soon as its condition is there.
    private static BooleanSupplier steps(List<Map.Entry<BooleanSupplier, Runnable>> steps) {
        int[] taken = {0};
        return () -> {
            if (taken[0] < steps.size()
                    && Thread.currentThread().getName().equals("kafka-fold")
                    && steps.get(taken[0]).getKey().getAsBoolean()) {
                steps.get(taken[0]++).getValue().run();
            }
            return taken[0] == steps.size();
        };
    }

    @Test
    void a_partition_without_a_leader_waits_and_holds_up_no_other() throws Exception {
        String topic = "single";
        create(topic, Map.of(0, List.of(0), 1, List.of(1), 2, List.of(2)), "1");
        trades(topic, 0, 0, 10);
        trades(topic, 1, 10, 20);
        trades(topic, 2, 20, 30);
        try (EmbeddedEngine engine = engine(topic)) {
            intake(engine).run(reached(engine, topic, Map.of(0, 10L, 1, 10L, 2, 10L)));
        }
        stop(1);
        trades(topic, 0, 30, 40);
        try (EmbeddedEngine engine = engine(topic)) {
            BooleanSupplier isSaid = () -> engine.status().logs().stream()
                    .anyMatch(log ->
                            log.source().equals(topic + "/1") && log.waits().contains("its leader"));
            intake(engine)
                    .run(steps(List.of(
                            Map.entry(reached(engine, topic, Map.of(0, 20L, 1, 10L, 2, 10L)), () -> {}),
                            Map.entry(isSaid, () -> {
                                stop(2); // One that is lost while it is read.
                                trades(topic, 0, 40, 50);
                            }),
                            Map.entry(reached(engine, topic, Map.of(0, 30L, 1, 10L, 2, 10L)), () -> {
                                start(1);
                                trades(topic, 1, 50, 60);
                            }),
                            Map.entry(reached(engine, topic, Map.of(0, 30L, 1, 20L, 2, 10L)), () -> {
                                start(2);
                                trades(topic, 2, 60, 70);
                            }),
                            Map.entry(reached(engine, topic, Map.of(0, 30L, 1, 20L, 2, 20L)), () -> {}))));
            assertThat(total(engine)).isEqualByComparingTo(sum(70));
            assertThat(engine.counts().accepted()).isEqualTo(70);
        }
    }

    /// Leads a partition back to the first of its replicas.
    private static boolean isLedBack(Admin admin, TopicPartition partition) {
        try {
            admin.electLeaders(ElectionType.PREFERRED, Set.of(partition))
                    .partitions()
                    .get();
            TopicPartitionInfo led = admin.describeTopics(Set.of(partition.topic()))
                    .allTopicNames()
                    .get()
                    .get(partition.topic())
                    .partitions()
                    .get(partition.partition());
            return led.leader().id() == led.replicas().getFirst().id();
        } catch (ExecutionException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void leaders_change_while_records_come_and_each_counts_once() throws Exception {
        String topic = "replicated";
        create(topic, Map.of(0, List.of(1, 2, 0), 1, List.of(2, 0, 1)), "2");
        AtomicBoolean isEnough = new AtomicBoolean();
        int[] produced = {0};
        Thread producing = Thread.ofPlatform().start(() -> {
            while (!isEnough.get()) {
                trades(topic, produced[0] / 50 % 2, produced[0], produced[0] + 50);
                produced[0] += 50;
            }
        });
        long[] next = {0};
        try (EmbeddedEngine engine = engine(topic);
                Admin admin = Admin.create(Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers))) {
            BooleanSupplier goesOn = () -> engine.offsets(topic).getOrDefault(0, 0L) >= next[0] + 100;
            Runnable count = () -> next[0] = engine.offsets(topic).getOrDefault(0, 0L);
            intake(engine)
                    .run(steps(List.of(
                            Map.entry(goesOn, () -> {
                                stop(1); // It leads partition 0.
                                count.run();
                            }),
                            Map.entry(goesOn, () -> start(1)),
                            Map.entry(() -> isLedBack(admin, new TopicPartition(topic, 0)), count),
                            Map.entry(goesOn, () -> isEnough.set(true)),
                            Map.entry(
                                    () -> !producing.isAlive()
                                            && engine.counts().accepted() >= produced[0],
                                    () -> {}))));
            assertThat(total(engine)).isEqualByComparingTo(sum(produced[0]));
            assertThat(engine.counts().records()).isEqualTo(produced[0]);
        } finally {
            isEnough.set(true);
            producing.join();
        }
    }
}
