package dev.onefold.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.broker.Broker;
import dev.onefold.core.TotalsTable;
import dev.onefold.core.TotalsTable.Unavailable;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Totals in a topic of a real broker, seen by the reader of the documents. It is one idea: whatever stops, sleeps,
/// wakes or is restored, each table that the reader shows was a cut.
@Tag("campaign")
@Timeout(600)
class KafkaTotalsTest {
    private static final Map<String, String> SETTINGS =
            Map.of("log.cleaner.backoff.ms", "300", "log.retention.check.interval.ms", "500");
    private static final Map<String, String> COMPACTED = Map.of(
            "cleanup.policy", "compact", "segment.ms", "1000", "min.cleanable.dirty.ratio", "0.01");

    @TempDir
    static Path folder;

    private static Broker broker;
    private static Admin admin;
    private static int topics;

    @TempDir
    Path directory;

    private String topic = "";
    private Pipeline pipeline;
    private final List<SortedMap<String, String>> states = new ArrayList<>();
    private final List<Life> lives = new ArrayList<>();
    private int version;

    @BeforeAll
    static void open() throws IOException {
        broker = Broker.start(folder, 0, SETTINGS);
        admin = broker.admin();
    }

    @AfterAll
    static void close() {
        admin.close();
        broker.close();
    }

    @BeforeEach
    void begin() {
        topic = "totals-" + ++topics;
        pipeline = pipeline("p", "");
    }

    private Pipeline pipeline(String name, String more) {
        return switch (PipelineText.read("{\"pipeline\":\"" + name
                + "\",\"input\":{\"key\":\"id\",\"version\":\"v\",\"delete\":\"gone = true\"},\"rollups\":{\"main\":{\"levels\":"
                + "[\"desk\",\"region\"],\"measures\":{\"value\":\"sum(value) decimal(18,2)\",\"trades\":\"count()\"}},"
                + "\"most\":{\"levels\":[\"desk\"],\"measures\":{\"most\":\"max(value) decimal(18,2)\"}}},"
                + "\"publish\":{\"kafka\":{\"topic\":\"" + topic + "\",\"servers\":\"" + broker.servers() + "\"" + more
                + "}}}")) {
            case Reading.Read(Pipeline read) -> read;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private void create(int partitions, Map<String, String> configs) throws Exception {
        admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1).configs(configs)))
                .all()
                .get();
    }

    /// An engine with its copy.
    private record Life(EmbeddedEngine engine, KafkaTotals totals, StoppedTotals copy) implements AutoCloseable {
        boolean publish() {
            return engine.publishNow(() -> true);
        }

        String failure() {
            return engine.status().publication().orElseThrow().failure();
        }

        long cut() {
            return engine.status().publication().orElseThrow().cut();
        }

        @Override
        public void close() {
            engine.close();
            if (!copy.isStopped()) {
                totals.close();
            }
        }
    }

    private Life life(Path data) {
        EmbeddedEngine engine = EmbeddedEngine.open(
                data, pipeline, Settings.defaults().withThreads(0).withShards(2));
        KafkaTotals totals = totals();
        StoppedTotals copy = new StoppedTotals(() -> totals.of(engine.pipeline()).begin());
        engine.publish(_ -> copy, Duration.ofSeconds(1));
        return new Life(engine, totals, copy);
    }

    private KafkaTotals totals() {
        return KafkaTotals.open(
                pipeline.name(),
                (Publishing.Topic) Objects.requireNonNull(pipeline.publishing()),
                directory,
                _ -> null);
    }

    private void trade(Life life, String id, String desk, String region, long value) {
        life.engine.append(
                "live",
                List.of("{\"id\":\"" + id + "\",\"v\":" + ++version + ",\"desk\":\"" + desk + "\",\"region\":\"" + region
                        + "\",\"value\":" + value + "}"));
    }

    private void remove(Life life, String id) {
        life.engine.append("live", List.of("{\"id\":\"" + id + "\",\"v\":" + ++version + ",\"gone\":true}"));
    }

    /// What the topic has to hold, as an answer says it.
    private static SortedMap<String, String> table(EmbeddedEngine engine) {
        SortedMap<String, String> table = new TreeMap<>();
        for (Rollup rollup : Rollups.of(engine.pipeline()).all()) {
            Answer answer = engine.query(new Query(rollup.name(), List.of(), 16, null));
            for (Answer.Line line : answer.lines()) {
                String group = line.group().stream().map(each -> '"' + each + '"').collect(Collectors.joining(","));
                List<String> values = new ArrayList<>();
                for (int i = 0; i < line.values().size(); i++) {
                    var value = line.values().get(i);
                    values.add('"' + answer.measures().get(i) + "\":"
                            + (value == null ? "null" : '"' + value.toPlainString() + '"'));
                }
                table.put(
                        Stream.concat(Stream.of(rollup.name()), line.group().stream())
                                .collect(Collectors.joining("/")),
                        "{\"rollup\":\"" + rollup.name() + "\",\"group\":[" + group + "],\"values\":{"
                                + String.join(",", values) + "}}");
            }
        }
        return table;
    }

    private boolean publish(Life life) {
        states.add(table(life.engine));
        return life.publish();
    }

    /// Each table that was shown is one that was published, and in their order.
    private void requireWhole(DocumentedReader reader) {
        int at = 0;
        for (DocumentedReader.Cut cut : reader.cuts()) {
            int found = states.subList(at, states.size()).indexOf(cut.table());
            assertThat(found).as("cut " + cut + " behind state " + at).isNotNegative();
            at += found;
        }
    }

    @Test
    void whatever_stops_or_is_restored_a_reader_sees_whole_cuts_in_their_order() throws Exception {
        int cuts = Integer.getInteger("cuts", 200);
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        create(3, COMPACTED);
        Path data = directory.resolve("data");
        Path older = directory.resolve("older");
        Map<String, Integer> stops = new HashMap<>();
        try (DocumentedReader reader = new DocumentedReader(broker.servers(), topic)) {
            long done = 0;
            while (done < cuts) {
                Life life = life(data);
                lives.add(life);
                int steps = 10 + random.nextInt(25);
                for (int i = 0; i < steps && !life.copy.isStopped(); i++) {
                    for (int each = random.nextInt(4); each >= 0; each--) {
                        String id = "k" + random.nextInt(30);
                        if (random.nextInt(4) == 0) {
                            remove(life, id);
                        } else {
                            trade(life, id, "D" + random.nextInt(4), "R" + random.nextInt(3), random.nextInt(99));
                        }
                    }
                    if (i == steps - 1 || random.nextInt(20) == 0) {
                        life.copy.stopAt(1 + random.nextInt(30));
                    }
                    if (publish(life)) {
                        done = life.cut();
                    }
                    assertThat(life.copy.isStopped() || life.failure().isEmpty())
                            .as(life.failure())
                            .isTrue();
                    wake(random, life, stops);
                }
                life.close();
                if (Boolean.getBoolean("verbose")) {
                    System.out.println(java.time.LocalTime.now() + " life " + lives.size() + " cut " + done + " " + stops);
                }
                if (random.nextInt(4) == 0) {
                    delete(older);
                    copy(data, older);
                } else if (random.nextInt(4) == 0 && Files.exists(older)) { // Every process of it writes older totals.
                    delete(data);
                    copy(older, data);
                }
            }
            Life last = life(data);
            trade(last, "last", "D", "R", 1);
            assertThat(publish(last)).as(last.failure()).isTrue();
            reader.await(last.cut());
            requireWhole(reader);
            System.out.println("Cuts shown: " + reader.cuts().size() + " of " + last.cut() + ", lives: " + lives.size()
                    + ", " + stops);
            assertThat(reader.cuts().size()).isGreaterThanOrEqualTo(cuts);
            try (DocumentedReader fresh = new DocumentedReader(broker.servers(), topic)) {
                fresh.await(last.cut());
                assertThat(fresh.cuts().getLast().table()).isEqualTo(table(last.engine));
            }
            last.close();
        } finally {
            lives.forEach(each -> each.totals.close());
        }
    }

    /// A writer that slept goes on, when another one has written: nothing of it is committed any more.
    private void wake(Random random, Life writing, Map<String, Integer> stops) {
        Life sleeper = lives.get(random.nextInt(lives.size()));
        if (sleeper == writing || !sleeper.copy.isStopped() || writing.cut() == 0 || random.nextInt(4) > 0) {
            return;
        }
        if (random.nextBoolean() && sleeper.copy.sleeping().isPresent()) {
            TotalsTable.Session session = sleeper.copy.sleeping().get();
            try {
                session.commit();
                stops.merge("committed before", 1, Integer::sum);
            } catch (Unavailable | NullPointerException | IllegalStateException e) {
                stops.merge(e.getClass().getSimpleName(), 1, Integer::sum);
            }
            session.close();
        } else {
            assertThatThrownBy(() -> sleeper.totals.of(pipeline).begin())
                    .isInstanceOf(Unavailable.class)
                    .hasMessageContaining("Another engine publishes to the same topic");
            stops.merge("another engine", 1, Integer::sum);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            files.forEach(file -> {
                try {
                    if (!file.getFileName().toString().endsWith(".socket")) {
                        Files.copy(file, to.resolve(from.relativize(file)));
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    private static void delete(Path data) throws IOException {
        if (Files.exists(data)) {
            try (Stream<Path> files = Files.walk(data)) {
                files.sorted(java.util.Comparator.reverseOrder()).forEach(file -> {
                    try {
                        Files.delete(file);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
            }
        }
    }
}
