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
import dev.onefold.fixtures.Seeds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;
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
    private static final Map<String, String> COMPACTED =
            Map.of("cleanup.policy", "compact", "segment.ms", "1000", "min.cleanable.dirty.ratio", "0.01");

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
        return pipeline(name, topic, broker.servers(), more);
    }

    private static Pipeline pipeline(String name, String topic, String servers, String more) {
        return read("{\"pipeline\":\"" + name
                + "\",\"input\":{\"key\":\"id\",\"version\":\"v\",\"delete\":\"gone = true\"},\"rollups\":{\"main\":{\"levels\":"
                + "[\"desk\",\"region\"],\"measures\":{\"value\":\"sum(value) decimal(18,2)\",\"trades\":\"count()\"}},"
                + "\"most\":{\"levels\":[\"desk\"],\"measures\":{\"most\":\"max(value) decimal(18,2)\"}}},"
                + "\"publish\":{\"kafka\":{\"topic\":\"" + topic + "\",\"servers\":\"" + servers + "\"" + more
                + "}}}");
    }

    private static Pipeline read(String text) {
        return switch (PipelineText.read(text)) {
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
        StoppedTotals copy =
                new StoppedTotals(() -> totals.of(engine.pipeline()).begin());
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
                List.of("{\"id\":\"" + id + "\",\"v\":" + ++version + ",\"desk\":\"" + desk + "\",\"region\":\""
                        + region + "\",\"value\":" + value + "}"));
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
                String group =
                        line.group().stream().map(each -> '"' + each + '"').collect(Collectors.joining(","));
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
    void hazard_82_whatever_stops_or_is_restored_a_reader_sees_whole_cuts_in_their_order() throws Exception {
        create(3, COMPACTED);
        Seeds.forAllSeeds(1, random -> live(random, Integer.getInteger("cuts", 120)));
    }

    private void live(RandomGenerator random, int cuts) throws Exception {
        Path data = directory.resolve("data");
        Path older = directory.resolve("older");
        try (DocumentedReader reader = new DocumentedReader(broker.servers(), topic)) {
            while (reader.cuts().size() < cuts) {
                Life life = life(data);
                lives.add(life);
                liveOnce(random, life);
                long cut = life.cut();
                life.close();
                if (cut > 0) {
                    reader.await(cut);
                    requireWhole(reader);
                }
                if (random.nextInt(4) == 0) {
                    delete(older);
                    copy(data, older);
                } else if (random.nextInt(4) == 0 && Files.exists(older)) { // From here on it writes older totals.
                    delete(data);
                    copy(older, data);
                }
            }
            try (Life last = life(data);
                    DocumentedReader fresh = new DocumentedReader(broker.servers(), topic)) {
                trade(last, "last", "D", "R", 1);
                publishSurely(last);
                reader.await(last.cut());
                requireWhole(reader);
                fresh.await(last.cut());
                assertThat(fresh.cuts().getLast().table()).isEqualTo(table(last.engine));
            }
        } finally {
            lives.forEach(each -> each.totals.close());
        }
    }

    private void liveOnce(RandomGenerator random, Life life) {
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
            boolean isDone = publish(life);
            assertThat(isDone || life.copy.isStopped() || life.failure().startsWith("Kafka at"))
                    .as(life.failure())
                    .isTrue();
            if (isDone) {
                wake(lives.get(random.nextInt(lives.size())), random.nextInt(4));
            }
        }
    }

    /// A writer that slept goes on, when another one has written: nothing of it is committed any more.
    private void wake(Life sleeper, int way) {
        Optional<TotalsTable.Session> session = sleeper.copy.sleeping();
        if (!sleeper.copy.isStopped() || session.isEmpty()) {
            return;
        }
        if (way == 0) {
            assertThatThrownBy(() -> session.get().commit())
                    .isInstanceOfAny(Unavailable.class, NullPointerException.class, IllegalStateException.class);
            session.get().close();
        } else if (way == 1) {
            assertThatThrownBy(() -> sleeper.totals.of(pipeline).begin())
                    .isInstanceOf(Unavailable.class)
                    .hasMessageContaining("Another engine publishes to the same topic");
        }
    }

    private void publishSurely(Life life) {
        while (!publish(life)) {
            assertThat(life.failure()).startsWith("Kafka at"); // A broker that is slow, or has not heard of a topic.
        }
    }

    /// A trade of a number: always the same.
    private static String trade(long i) {
        return "{\"id\":\"k" + i % 30 + "\",\"v\":" + i + ",\"desk\":\"D" + i % 4 + "\",\"region\":\"R" + i * i % 7
                + "\",\"value\":" + i + (i % 5 == 0 ? ",\"gone\":true}" : "}");
    }

    /// Appends the next trades and publishes each cut, until it is killed: `DATA TOPIC SERVERS MILLISECONDS`.
    public static void main(String[] arguments) {
        KafkaTotalsTest test = new KafkaTotalsTest();
        test.directory = Path.of(arguments[0]).getParent();
        test.topic = arguments[1];
        test.pipeline = pipeline("p", arguments[1], arguments[2], "");
        Life life = test.life(Path.of(arguments[0]));
        long until = System.nanoTime()
                + Duration.ofMillis(Long.parseLong(arguments[3])).toNanos();
        Thread.ofPlatform().daemon().start(() -> {
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            Runtime.getRuntime().halt(9);
        });
        while (true) {
            life.engine.append("live", List.of(trade(life.engine.acknowledged("live"))));
            life.publish();
        }
    }

    @Test
    void hazard_82_a_process_that_is_killed_leaves_no_part_of_a_cut() throws Exception {
        create(2, COMPACTED);
        Path data = directory.resolve("data");
        Random random = new Random();
        try (DocumentedReader reader = new DocumentedReader(broker.servers(), topic)) {
            for (int i = 0; i < 3; i++) {
                Process child = new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                KafkaTotalsTest.class.getName(),
                                data.toString(),
                                topic,
                                broker.servers(),
                                String.valueOf(500 + random.nextInt(1_500)))
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("child.log").toFile())
                        .start();
                assertThat(child.waitFor())
                        .as(Files.readString(directory.resolve("child.log")))
                        .isEqualTo(9);
            }
            try (Life last = life(data);
                    EmbeddedEngine same = EmbeddedEngine.open(
                            directory.resolve("same"),
                            pipeline,
                            Settings.defaults().withThreads(0))) {
                publishSurely(last);
                reader.await(last.cut());
                long count = last.engine.acknowledged("live");
                for (DocumentedReader.Cut cut : reader.cuts()) {
                    while (!table(same).equals(cut.table())) {
                        assertThat(same.acknowledged("live")).as(cut.toString()).isLessThan(count);
                        same.append("live", List.of(trade(same.acknowledged("live"))));
                    }
                }
            }
        }
    }

    @Test
    void hazard_95_a_topic_that_was_recreated_gets_all_groups_and_is_read_as_a_later_one() throws Exception {
        try (Life life = life(directory.resolve("data"))) {
            trade(life, "1", "FX", "EMEA", 5);
            publishSurely(life); // It makes the topic.
            admin.deleteTopics(List.of(topic)).all().get();
            while (true) {
                try {
                    create(1, COMPACTED);
                    break;
                } catch (ExecutionException e) {
                    assertThat(e.getCause()).isInstanceOf(org.apache.kafka.common.errors.TopicExistsException.class);
                }
            }
            trade(life, "2", "IR", "EMEA", 5);
            publishSurely(life);
            try (DocumentedReader reader = new DocumentedReader(broker.servers(), topic)) {
                reader.await(1);
                assertThat(reader.cuts().getLast().table()).isEqualTo(table(life.engine));
            }
        }
    }

    @Test
    void a_topic_that_would_lose_groups_or_is_of_somebody_else_is_refused() throws Exception {
        create(1, Map.of("cleanup.policy", "delete"));
        try (Life life = life(directory.resolve("data"))) {
            assertThat(publish(life)).isFalse();
            assertThat(life.failure()).contains("has cleanup.policy=delete", "Set it to compact alone");
        }
        topic += "-foreign";
        create(1, COMPACTED);
        writeForeign();
        pipeline = pipeline("p", "");
        try (Life life = life(directory.resolve("data"))) {
            assertThat(publish(life)).isFalse();
            assertThat(life.failure()).contains("has a record that Onefold did not write, at offset 0");
        }
        topic += "-2";
        pipeline = pipeline("p", "");
        try (Life owner = life(directory.resolve("data"))) {
            publishSurely(owner);
            pipeline = pipeline("q", "");
            try (Life life = life(directory.resolve("other"))) {
                assertThat(publish(life)).isFalse();
                assertThat(life.failure()).contains("has the totals of pipeline p");
            }
            trade(owner, "1", "FX", "EMEA", 5);
            publish(owner);
            assertThat(owner.failure()).as("whether it was shut out").doesNotContain("epoch");
        }
    }

    private void writeForeign() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.servers()), new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(topic, "k".getBytes(StandardCharsets.UTF_8), new byte[] {1}))
                    .get();
        }
    }

    @Test
    void an_engine_that_has_lost_the_topic_reads_it_no_more() throws Exception {
        create(1, COMPACTED);
        try (Life former = life(directory.resolve("data"));
                Life owner = life(directory.resolve("other"))) {
            publishSurely(former);
            publishSurely(owner);
            trade(former, "1", "FX", "EMEA", 5);
            assertThat(publish(former)).isFalse();
            assertThat(former.failure()).startsWith("Another engine publishes to the same topic");
            writeForeign();
            assertThat(publish(former)).isFalse();
            assertThat(former.failure()).startsWith("Another engine publishes to the same topic");
        }
    }

    @Test
    void groups_of_a_roll_up_that_the_definition_has_no_more_are_removed() throws Exception {
        create(1, COMPACTED);
        Pipeline both = extremes("most", "more");
        try (KafkaTotals totals = totals()) {
            write(totals, both, 1, "a");
            write(totals, both, 2, "b");
            write(totals, extremes("most"), 3, "c");
            assertThat(totals.keys()).containsExactly(Bytes.wrap("most/c".getBytes(StandardCharsets.UTF_8)));
        }
    }

    @Test
    void values_that_need_too_much_memory_are_written_at_each_change() throws Exception {
        create(1, COMPACTED);
        String[] large = IntStream.range(0, (int) (Runtime.getRuntime().maxMemory() / 8 / 50_000))
                .mapToObj(i -> i + "x".repeat(30_000))
                .toArray(String[]::new);
        try (KafkaTotals totals = totals()) {
            write(totals, extremes("most"), 1, large);
            assertThat(totals.known()).isEmpty();
            write(totals, extremes("most"), 2, "a");
            assertThat(totals.known()).hasSize(1);
            assertThat(totals.keys()).containsExactly(Bytes.wrap("most/a".getBytes(StandardCharsets.UTF_8)));
        }
    }

    private Pipeline extremes(String... names) {
        String rollups = Stream.of(names)
                .map(name ->
                        "\"" + name + "\":{\"levels\":[\"desk\"],\"measures\":{\"most\":\"max(value) decimal(18,2)\"}}")
                .collect(Collectors.joining(","));
        return read("{\"pipeline\":\"p\",\"input\":{\"key\":\"id\",\"version\":\"v\"},\"rollups\":{" + rollups
                + "},\"publish\":{\"kafka\":{\"topic\":\"" + topic + "\",\"servers\":\"" + broker.servers() + "\"}}}");
    }

    /// Writes a cut in which each roll-up has these groups.
    private static void write(KafkaTotals totals, Pipeline served, long cut, String... desks) {
        try (TotalsTable.Session session = totals.of(served).begin()) {
            session.begin(new TotalsTable.Mark(cut, "w", Instant.now()));
            for (int rollup = 0; rollup < Rollups.of(served).all().size(); rollup++) {
                session.replace(rollup);
                for (String desk : desks) {
                    session.put(rollup, new Answer.Line(List.of(desk), List.of(BigDecimal.ONE)));
                }
            }
            session.commit();
        }
    }

    @Test
    void a_cut_whose_records_and_markers_before_it_were_compacted_is_not_shown() throws Exception {
        create(1, COMPACTED);
        try (DocumentedReader reader = new DocumentedReader(broker.servers(), topic);
                Producer<byte[], byte[]> producer = new KafkaClients(
                                broker.servers(), Optional.empty(), Optional.empty(), directory, _ -> null)
                        .producer("cleaned")) {
            producer.initTransactions();
            producer.beginTransaction();
            put(producer, 1, "k", "1");
            put(producer, 1, CutMarker.KEY, null);
            producer.commitTransaction();
            reader.await(1);
            producer.beginTransaction(); // Cut 2 has changed the group, too: its record and its marker are gone.
            put(producer, 3, CutMarker.KEY, null);
            put(producer, 4, "k", "4");
            put(producer, 4, CutMarker.KEY, null);
            producer.commitTransaction();
            reader.await(4);
            assertThat(reader.cuts())
                    .containsExactly(
                            new DocumentedReader.Cut(1, new TreeMap<>(Map.of("k", "1"))),
                            new DocumentedReader.Cut(4, new TreeMap<>(Map.of("k", "4"))));
        }
    }

    private void put(Producer<byte[], byte[]> producer, long cut, String key, @Nullable String value) {
        CutMarker marker = new CutMarker("p", 1, 1, new TotalsTable.Mark(cut, "w", Instant.EPOCH));
        byte[] content = value == null ? marker.json(cut == 3 ? 0 : 1) : value.getBytes(StandardCharsets.UTF_8);
        var _ = producer.send(
                new ProducerRecord<>(topic, 0, null, key.getBytes(StandardCharsets.UTF_8), content, marker.headers()));
    }

    @Test
    void a_broker_that_stops_holds_up_nobody_and_gets_the_totals_when_it_is_back() throws Exception {
        Files.writeString(
                directory.resolve("kafka.properties"),
                "request.timeout.ms=2000\ndefault.api.timeout.ms=3000\ndelivery.timeout.ms=3000\nmax.block.ms=10000\n");
        create(1, COMPACTED);
        pipeline = pipeline("p", ",\"properties\":\"kafka.properties\"");
        try (Life life = life(directory.resolve("data"));
                DocumentedReader reader = new DocumentedReader(broker.servers(), topic)) {
            for (int i = 0; i < 3; i++) {
                trade(life, "a" + i, "FX", "EMEA", i);
                publish(life);
            }
            broker.close();
            trade(life, "b", "FX", "EMEA", 9);
            assertThat(publish(life)).isFalse();
            assertThat(life.failure()).contains("Kafka at " + broker.servers() + " says");
            trade(life, "c", "IR", "EMEA", 9); // Intake goes on.
            broker = Broker.start(folder, broker.port(), SETTINGS);
            publishSurely(life);
            reader.await(life.cut());
            requireWhole(reader);
            assertThat(reader.cuts().getLast().table()).isEqualTo(table(life.engine));
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
