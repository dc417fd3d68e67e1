package dev.onefold.benchmark;

import dev.onefold.broker.Broker;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.kafka.KafkaClients;
import dev.onefold.kafka.KafkaIntake;
import dev.onefold.load.TradeRiskLoad;
import dev.onefold.load.TradeRiskMix;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/// A topic of Kafka: it is read by a plain consumer, which is the floor, and into an engine.
final class KafkaRun {
    private static final String TOPIC = "trades";
    private static final int KEY_AT = 12; // {"TradeID":"
    private static final int KEY_BYTES = 36;
    private static final long SEED = 42;
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration LOOK_EVERY = Duration.ofMillis(20); // An answer waits for the round that is folded.

    private KafkaRun() {}

    /// Writes messages, each with its trade as the key. Returns the right totals, as a run prints them.
    static Set<String> write(Broker broker, int partitions, long messages)
            throws IOException, InterruptedException, ExecutionException {
        try (Admin admin = broker.admin()) {
            admin.createTopics(List.of(new NewTopic(TOPIC, partitions, (short) 1)))
                    .all()
                    .get();
        }
        AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
        TradeRiskLoad load = new TradeRiskLoad(TradeRiskMix.BENCHMARK, messages, SEED);
        Map<String, Object> properties = Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                broker.servers(),
                ProducerConfig.BATCH_SIZE_CONFIG,
                1 << 18,
                ProducerConfig.LINGER_MS_CONFIG,
                5);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            while (load.write(out, 1) > 0) {
                byte[] line = out.toByteArray();
                out.reset();
                byte[] key = Arrays.copyOfRange(line, KEY_AT, KEY_AT + KEY_BYTES);
                byte[] message = Arrays.copyOf(line, line.length - 1);
                var _ = producer.send(
                        new ProducerRecord<>(TOPIC, key, message), (_, e) -> failure.compareAndSet(null, e));
            }
        }
        if (failure.get() != null) {
            throw new IOException("The messages cannot be written", failure.get());
        }
        Set<String> totals = new TreeSet<>();
        load.totals().groups().stream()
                .filter(group -> group.path().size() == 3)
                .forEach(group -> totals.add(
                        "total\t" + String.join(":", group.path()) + "\t" + group.cents() + "\t" + group.trades()));
        return totals;
    }

    /// Reads the topic with a plain consumer and the settings that it has by itself, and counts.
    static Meter.Run floor(String servers, long messages) {
        Meter meter = new Meter();
        Map<String, Object> properties = Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                servers,
                ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                "read_committed");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(TOPIC).stream()
                    .map(partition -> new TopicPartition(TOPIC, partition.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long records = 0;
            long bytes = 0;
            while (records < messages) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    records++;
                    bytes += record.value().length;
                }
            }
            return meter.stop("floor, " + (bytes >> 20) + " MB", records);
        }
    }

    /// Folds the topic into a new directory, until all of it is durable.
    static Meter.Run fold(String servers, long messages, Path directory) {
        Pipeline pipeline = pipeline(servers);
        Origin.Kafka origin = (Origin.Kafka) Objects.requireNonNull(pipeline.origin());
        Meter meter = new Meter();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline, Settings.defaults())) {
            KafkaClients clients = new KafkaClients(origin, directory, _ -> null);
            AtomicBoolean isAllRead = new AtomicBoolean();
            Thread.ofPlatform().daemon().start(() -> {
                while (engine.counts().records() < messages) {
                    LockSupport.parkNanos(LOOK_EVERY.toNanos());
                }
                isAllRead.set(true);
            });
            new KafkaIntake(clients, origin, engine, List.of(), System.err::println).run(isAllRead::get);
            engine.checkpointNow();
            Meter.Run run = meter.stop("engine", engine.counts().records());
            EngineRun.printTotals(engine);
            return run;
        }
    }

    private static Pipeline pipeline(String servers) {
        String from =
                "\"input\": {\"from\": {\"kafka\": {\"topic\": \"" + TOPIC + "\", \"servers\": \"" + servers + "\"}}, ";
        String text = TradeRiskLoad.PIPELINE.replace("\"input\": {", from);
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }
}
