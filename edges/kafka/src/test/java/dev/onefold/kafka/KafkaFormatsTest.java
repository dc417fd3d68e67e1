package dev.onefold.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.broker.Broker;
import dev.onefold.broker.SchemaRegistry;
import dev.onefold.broker.SchemaRegistry.Fault;
import dev.onefold.core.Status;
import dev.onefold.core.Truth;
import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.yaml.PipelineFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.avro.Conversions;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Records of Avro from a real broker, with their schemas in a registry.
@Tag("campaign")
@Timeout(180)
class KafkaFormatsTest {
    @TempDir
    static Path folder;

    private static final Path PAGE = Path.of("../..", "docs", "kafka.md");
    private static final Schema PRICE = LogicalTypes.decimal(18, 2).addToSchema(Schema.create(Schema.Type.BYTES));
    private static final Schema KEY =
            SchemaBuilder.record("Key").fields().requiredString("id").endRecord();
    private static final Schema TRADE = SchemaBuilder.record("Trade")
            .namespace("desk")
            .fields()
            .requiredString("book")
            .name("price")
            .type(PRICE)
            .noDefault()
            .name("at")
            .type(LogicalTypes.timestampMillis().addToSchema(Schema.create(Schema.Type.LONG)))
            .noDefault()
            .optionalString("note")
            .endRecord();

    private static Broker broker;
    private static Admin admin;
    private static int topics;

    @TempDir
    Path directory;

    private final List<String> notes = new CopyOnWriteArrayList<>();
    private SchemaRegistry registry;
    private KafkaProducer<byte[], byte[]> producer;
    private String topic;

    @BeforeAll
    static void open() throws Exception {
        broker = Broker.start(folder, 0, Map.of());
        admin = broker.admin();
    }

    @AfterAll
    static void close() {
        admin.close();
        broker.close();
    }

    @BeforeEach
    void begin() throws Exception {
        topic = "trades-" + ++topics;
        admin.createTopics(List.of(new NewTopic(topic, 2, (short) 1))).all().get();
        registry = SchemaRegistry.start();
        register(1, KEY);
        register(2, TRADE);
        producer = new KafkaProducer<>(
                Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.servers()),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    @AfterEach
    void end() {
        registry.close();
        producer.close(Duration.ZERO);
    }

    private void register(int id, Schema schema) {
        registry.put("/schemas/ids/" + id, Json.of(Map.of("schema", schema.toString())));
    }

    private static byte[] bytes(int id, GenericRecord value) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(ByteBuffer.allocate(5).put((byte) 0).putInt(id).array());
        var encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(value.getSchema()).write(value, encoder);
        encoder.flush();
        return out.toByteArray();
    }

    private static ByteBuffer decimal(String value) {
        return new Conversions.DecimalConversion().toBytes(new BigDecimal(value), PRICE, PRICE.getLogicalType());
    }

    private static GenericRecord trade(String book, String price) {
        GenericRecord trade = new GenericData.Record(TRADE);
        trade.put("book", book);
        trade.put("price", decimal(price));
        trade.put("at", Instant.parse("2026-11-01T12:00:00.123Z").toEpochMilli());
        return trade;
    }

    private static byte[] key(String id) throws IOException {
        GenericRecord key = new GenericData.Record(KEY);
        key.put("id", id);
        return bytes(1, key);
    }

    private void send(int partition, byte[] key, byte[] value) throws Exception {
        var _ = producer.send(new ProducerRecord<>(topic, partition, key, value))
                .get();
    }

    /// The example of the page, with this broker and registry.
    private Pipeline example() throws IOException {
        Matcher examples = Pattern.compile("(?s)```yaml\n(.*?)```").matcher(Files.readString(PAGE));
        String text = examples.results()
                .map(found -> found.group(1))
                .filter(yaml -> yaml.contains("registry:"))
                .findFirst()
                .orElseThrow();
        return read(text.replace("localhost:9092", broker.servers())
                .replace("http://localhost:8081", registry.address())
                .replace("topic: trades", "topic: " + topic));
    }

    private Pipeline read(String yaml) throws IOException {
        return PipelineFile.pipeline(Files.writeString(directory.resolve("pipeline.yaml"), yaml));
    }

    private EmbeddedEngine engine(Pipeline pipeline) {
        return EmbeddedEngine.open(directory.resolve("data"), pipeline, Settings.defaults());
    }

    private void fold(EmbeddedEngine engine, BooleanSupplier isDone) {
        Origin.Kafka origin =
                (Origin.Kafka) Objects.requireNonNull(engine.pipeline().origin());
        long until = System.nanoTime() + 100_000_000_000L;
        new KafkaIntake(new KafkaClients(origin, directory, _ -> null), origin, engine, List.of(), notes::add)
                .run(() -> isDone.getAsBoolean() || System.nanoTime() > until);
    }

    private static String totals(EmbeddedEngine engine) {
        return engine.query(Query.all("main")).lines().toString();
    }

    private static String waits(EmbeddedEngine engine, int partition) {
        return engine.status().logs().stream()
                .filter(log -> log.source().endsWith("/" + partition))
                .map(Status.OfPartition::waits)
                .findFirst()
                .orElse("");
    }

    @Test
    void the_example_of_the_page_counts_decimals_and_deletes_by_the_keys_of_avro() throws Exception {
        send(0, key("T1"), bytes(2, trade("rates", "0.10")));
        send(0, key("T2"), bytes(2, trade("rates", "12345678901234.56")));
        send(0, key("T1"), bytes(2, trade("fx", "0.30")));
        send(0, key("T3"), bytes(2, trade("fx", "1.00")));
        send(0, key("T3"), null);
        try (EmbeddedEngine engine = engine(example())) {
            fold(engine, () -> engine.offsets(topic).getOrDefault(0, 0L) == 5);
            assertThat(engine.deadLetters().list(0, 9)).isEmpty();
            assertThat(totals(engine))
                    .contains("fx")
                    .contains("0.30")
                    .contains("12345678901234.56")
                    .doesNotContain("1.30");
            assertThat(engine.counts().accepted()).isEqualTo(5);
        }
    }

    @Test
    void hazard_101_a_registry_that_is_down_holds_up_the_partition_that_needs_it_alone() throws Exception {
        send(0, key("T1"), bytes(2, trade("rates", "1.00")));
        try (EmbeddedEngine engine = engine(example())) {
            boolean[] isDown = {false, false};
            fold(engine, () -> {
                if (engine.counts().accepted() == 1 && !isDown[0]) {
                    isDown[0] = true;
                    registry.fail(Fault.UNAUTHORIZED);
                    register(3, TRADE);
                    sendNow(1, "T2", 3);
                    sendNow(1, "T3", 2); // Behind the one that waits.
                    sendNow(0, "T4", 2);
                } else if (engine.counts().accepted() == 2 && waits(engine, 1).contains("401") && !isDown[1]) {
                    isDown[1] = true;
                    assertThat(waits(engine, 1)).contains("schema 3").contains("It is tried again");
                    assertThat(waits(engine, 0)).isEmpty();
                    assertThat(engine.offsets(topic).getOrDefault(1, 0L)).isZero();
                    registry.fail(Fault.NONE);
                }
                return engine.counts().accepted() == 4 && waits(engine, 1).isEmpty();
            });
            assertThat(isDown[1]).isTrue();
            assertThat(engine.counts().accepted()).isEqualTo(4);
            assertThat(engine.deadLetters().list(0, 9)).isEmpty();
        }
        registry.fail(Fault.BROKEN);
        send(0, key("T5"), bytes(3, trade("rates", "1.00")));
        try (EmbeddedEngine engine = engine(example())) {
            fold(engine, () -> engine.counts().accepted() == 5);
            assertThat(engine.counts().accepted())
                    .as("by the copies of the schemas")
                    .isEqualTo(5);
        }
    }

    private void sendNow(int partition, String id, int schema) {
        try {
            send(partition, key(id), bytes(schema, trade("rates", "1.00")));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void a_record_that_cannot_be_decoded_is_a_dead_letter_with_all_its_parts() throws Exception {
        send(0, key("T1"), bytes(99, trade("rates", "1.00")));
        byte[] cut = bytes(2, trade("rates", "1.00"));
        cut[5] = 126;
        send(0, "text".getBytes(StandardCharsets.UTF_8), cut);
        send(0, key("T2"), bytes(2, trade("rates", "2.00")));
        try (EmbeddedEngine engine = engine(example())) {
            fold(engine, () -> engine.offsets(topic).getOrDefault(0, 0L) == 3);
            assertThat(totals(engine)).contains("2.00");
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(letter ->
                            letter.place().source() + "@" + letter.place().offset() + " " + letter.message())
                    .containsExactly(
                            topic + "/0@0 The record cannot be decoded: the registry " + registry.address()
                                    + " has no schema 99. When its cause is gone, rebuild --from-sources decodes it again",
                            topic + "/0@1 The record cannot be decoded: a length of 63 is beyond its end."
                                    + " When its cause is gone, rebuild --from-sources decodes it again");
            String record = new String(engine.deadLetters().record(2), StandardCharsets.UTF_8);
            assertThat(record).contains("\"@key\":\"text\"").contains("\"@value\":\"AAAAAAJ+");
        }
    }

    @Test
    void small_records_that_are_large_as_json_do_not_use_up_the_memory() throws Exception {
        Schema wide = SchemaBuilder.record("Wide")
                .fields()
                .requiredString("book")
                .name("price")
                .type(PRICE)
                .noDefault()
                .requiredString("at")
                .name("nothing")
                .type(Schema.createArray(Schema.create(Schema.Type.NULL)))
                .noDefault()
                .endRecord();
        register(6, wide);
        GenericRecord record = new GenericData.Record(wide);
        record.put("book", "rates");
        record.put("price", decimal("1.00"));
        record.put("at", "2026-11-01T12:00:00Z");
        record.put("nothing", Collections.nCopies(2_000_000, null));
        byte[] value = bytes(6, record);
        assertThat(value).hasSizeLessThan(100);
        int records = (int) (Runtime.getRuntime().maxMemory() / 12_000_000);
        for (int i = 0; i < records; i++) {
            send(0, key("T" + i), value);
        }
        try (EmbeddedEngine engine = engine(example())) {
            fold(engine, () -> engine.counts().accepted() == records);
            assertThat(engine.counts().accepted()).isEqualTo(records);
            Origin.Kafka origin =
                    (Origin.Kafka) Objects.requireNonNull(engine.pipeline().origin());
            engine.rereads(TopicAgain.of(new KafkaClients(origin, directory, _ -> null), origin, engine.directory()));
            assertThat(engine.verify(new Truth.Sources()).differences()).isEmpty();
        }
    }

    private static Schema source() {
        return SchemaBuilder.record("Source")
                .fields()
                .requiredString("connector")
                .requiredString("name")
                .requiredString("schema")
                .requiredString("table")
                .optionalString("sequence")
                .optionalLong("lsn")
                .endRecord();
    }

    @Test
    void a_change_of_debezium_in_avro_has_exact_decimals() throws Exception {
        Schema row = SchemaBuilder.record("Value")
                .fields()
                .requiredInt("id")
                .requiredString("book")
                .name("price")
                .type()
                .optional()
                .type(PRICE)
                .endRecord();
        Schema envelope = SchemaBuilder.record("Envelope")
                .namespace("shop.public.trades")
                .fields()
                .name("before")
                .type()
                .optional()
                .type(row)
                .name("after")
                .type()
                .optional()
                .type(row)
                .name("source")
                .type(source())
                .noDefault()
                .requiredString("op")
                .optionalLong("ts_ms")
                .endRecord();
        register(5, envelope);
        for (String[] change :
                new String[][] {{"c", "7", "0.10"}, {"u", "7", "12345678901234.56"}, {"c", "8", "0.01"}}) {
            GenericRecord after = new GenericData.Record(row);
            after.put("id", Integer.parseInt(change[1]));
            after.put("book", "rates");
            after.put("price", decimal(change[2]));
            send(0, null, bytes(5, change(envelope, change[0], after)));
        }
        Pipeline changes = read("""
                pipeline: p
                input:
                  from: {kafka: {topic: %s, servers: '%s'}}
                  format: debezium
                  registry: %s
                  table: public.trades
                  key: id
                rollup: {levels: [book], measures: {value: 'sum(price) decimal(18,2)'}}
                """.formatted(topic, broker.servers(), registry.address()));
        try (EmbeddedEngine engine = engine(changes)) {
            fold(engine, () -> engine.offsets(topic).getOrDefault(0, 0L) == 3);
            assertThat(engine.deadLetters().list(0, 9)).isEmpty();
            assertThat(totals(engine)).contains("12345678901234.57");
        }
    }

    private int lsn = 100;

    private GenericRecord change(Schema envelope, String op, GenericRecord after) {
        GenericRecord from = new GenericData.Record(envelope.getField("source").schema());
        from.put("connector", "postgresql");
        from.put("name", "shop");
        from.put("schema", "public");
        from.put("table", "trades");
        from.put("sequence", "[\"" + lsn + "\",\"" + (lsn + 1) + "\"]");
        from.put("lsn", (long) ++lsn);
        GenericRecord change = new GenericData.Record(envelope);
        change.put("after", after);
        change.put("source", from);
        change.put("op", op);
        change.put("ts_ms", 1L);
        return change;
    }
}
