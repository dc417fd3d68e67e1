package dev.onefold.kafka.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Origin.Encoded;
import dev.onefold.fixtures.Seeds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.apache.avro.Conversions;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.util.RandomData;
import org.junit.jupiter.api.Test;

/// The binary form of Avro, judged by Avro's own writer.
class AvroValueTest {
    private static byte[] written(Schema schema, Object value) {
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            var encoder = EncoderFactory.get().binaryEncoder(out, null);
            new GenericDatumWriter<>(schema).write(value, encoder);
            encoder.flush();
            return out.toByteArray();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String json(Schema schema, byte[] bytes) throws Undecodable {
        byte[] json = dev.onefold.kafka.format.Schema.of(Encoded.AVRO, List.of(schema.toString()))
                .json(new Cursor(bytes));
        return new String(json, StandardCharsets.UTF_8);
    }

    private static String json(Schema schema, Object value) {
        try {
            return json(schema, written(schema, value));
        } catch (Undecodable e) {
            throw new AssertionError(schema + " " + value, e);
        }
    }

    @Test
    void random_values_of_random_schemas_are_what_avro_has_written() {
        Seeds.forAllSeeds(300, random -> {
            Schema schema = new Schemata(random).record(3);
            for (Object value : new RandomData(schema, 3, random.nextLong())) {
                Problems problems = new Problems();
                Node read = JsonText.read(json(schema, value), problems);
                assertThat(problems.inOrder()).as(schema + " " + value).isEmpty();
                assertThat(plain(read)).as(schema.toString()).isEqualTo(expected(schema, value));
            }
        });
    }

    @Test
    void any_other_bytes_are_a_value_or_refused_and_nothing_else() {
        Seeds.forAllSeeds(2_000, random -> {
            Schema schema = new Schemata(random).record(3);
            byte[] bytes = written(
                    schema,
                    new RandomData(schema, 1, random.nextLong()).iterator().next());
            bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 3));
            for (int i = 0; i < 3 && bytes.length > 0; i++) {
                bytes[random.nextInt(bytes.length)] = (byte) (random.nextInt(3) - random.nextInt(2) * 128);
            }
            try {
                assertThat(json(schema, bytes)).startsWith("{");
            } catch (Undecodable e) {
                assertThat(e).hasMessageMatching("[^\\n]+");
            }
        });
    }

    @Test
    void few_bytes_that_mean_endless_values_are_refused() {
        Schema nulls = Schema.createArray(Schema.create(Schema.Type.NULL));
        byte[] count = {(byte) 0xfe, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, 127, 0};
        assertThatThrownBy(() -> json(nulls, count)).hasMessageContaining("more than 10485760 bytes");
        Schema loop = new Schema.Parser()
                .parse(
                        "{\"type\":\"record\",\"name\":\"L\",\"fields\":[{\"name\":\"next\",\"type\":[\"L\",\"null\"]}]}");
        assertThatThrownBy(() -> json(loop, new byte[10_000])).hasMessageContaining("nested deeper than 64");
        assertThatThrownBy(() -> json(Schema.create(Schema.Type.BYTES), new byte[] {(byte) 0xfe, (byte) 0xff, 3, 1}))
                .hasMessageContaining("beyond its end");
        assertThatThrownBy(() -> json(Schema.create(Schema.Type.NULL), new byte[1]))
                .hasMessage("1 bytes are behind its end");
    }

    @Test
    void numbers_keep_all_their_digits() {
        Schema decimal = LogicalTypes.decimal(30, 4).addToSchema(Schema.create(Schema.Type.BYTES));
        BigDecimal exact = new BigDecimal("-12345678901234567890123456.7890");
        ByteBuffer unscaled = new Conversions.DecimalConversion().toBytes(exact, decimal, decimal.getLogicalType());
        assertThat(json(decimal, unscaled)).isEqualTo("-12345678901234567890123456.7890");
        Schema fixed = LogicalTypes.decimal(10, 2).addToSchema(Schema.createFixed("D", null, null, 6));
        assertThat(json(
                        fixed,
                        new Conversions.DecimalConversion()
                                .toFixed(new BigDecimal("0.10"), fixed, fixed.getLogicalType())))
                .isEqualTo("0.10");
        assertThat(json(Schema.create(Schema.Type.LONG), Long.MIN_VALUE)).isEqualTo("-9223372036854775808");
        assertThat(json(Schema.create(Schema.Type.DOUBLE), 0.1)).isEqualTo("0.1");
        assertThat(json(Schema.create(Schema.Type.FLOAT), 0.1f)).isEqualTo("0.1");
        assertThat(json(Schema.create(Schema.Type.DOUBLE), Double.NaN)).isEqualTo("\"NaN\"");
        assertThat(json(Schema.create(Schema.Type.FLOAT), Float.NEGATIVE_INFINITY))
                .isEqualTo("\"-Infinity\"");
    }

    private static String logical(Schema.Type base, String logical, Object value) {
        return json(
                new Schema.Parser().parse("{\"type\":\"" + base.getName() + "\",\"logicalType\":\"" + logical + "\"}"),
                value);
    }

    @Test
    void times_are_texts_of_iso_8601() {
        Instant at = Instant.parse("2026-11-01T12:30:00.5Z");
        long micros = at.toEpochMilli() * 1000 + 7;
        assertThat(logical(Schema.Type.LONG, "timestamp-millis", at.toEpochMilli()))
                .isEqualTo("\"2026-11-01T12:30:00.500Z\"");
        assertThat(logical(Schema.Type.LONG, "timestamp-micros", micros)).isEqualTo("\"2026-11-01T12:30:00.500007Z\"");
        assertThat(logical(Schema.Type.LONG, "timestamp-nanos", -1L)).isEqualTo("\"1969-12-31T23:59:59.999999999Z\"");
        assertThat(logical(Schema.Type.LONG, "local-timestamp-micros", micros))
                .isEqualTo("\"2026-11-01T12:30:00.500007\"");
        assertThat(logical(
                        Schema.Type.INT, "date", (int) LocalDate.of(2026, 2, 3).toEpochDay()))
                .isEqualTo("\"2026-02-03\"");
        assertThat(logical(Schema.Type.INT, "time-millis", LocalTime.of(1, 2).toSecondOfDay() * 1000))
                .isEqualTo("\"01:02:00.000\"");
        assertThat(logical(Schema.Type.LONG, "time-micros", 1L)).isEqualTo("\"00:00:00.000001\"");
        UUID id = new UUID(7, -9);
        assertThat(logical(Schema.Type.STRING, "uuid", id.toString())).isEqualTo('"' + id.toString() + '"');
        byte[] bytes = ByteBuffer.allocate(16)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
        Schema fixed =
                new Schema.Parser().parse("{\"type\":\"fixed\",\"name\":\"U\",\"size\":16,\"logicalType\":\"uuid\"}");
        assertThat(json(fixed, new GenericData.Fixed(fixed, bytes))).isEqualTo('"' + id.toString() + '"');
    }

    @Test
    void a_logical_type_that_is_not_known_or_cannot_be_is_its_base_type() {
        assertThat(logical(Schema.Type.LONG, "moon-phase", 7L)).isEqualTo("7");
        assertThat(logical(Schema.Type.STRING, "date", "x")).isEqualTo("\"x\"");
        assertThat(logical(Schema.Type.BYTES, "decimal", ByteBuffer.wrap(new byte[] {1})))
                .isEqualTo("\"AQ==\"");
    }

    @Test
    void names_of_other_schemas_are_found_by_their_namespace() throws Undecodable {
        String book =
                "{\"type\":\"record\",\"name\":\"Book\",\"namespace\":\"desk\",\"fields\":[{\"name\":\"id\",\"type\":\"int\"}]}";
        String trade = "{\"type\":\"record\",\"name\":\"desk.Trade\",\"fields\":[{\"name\":\"book\",\"type\":\"Book\"},"
                + "{\"name\":\"last\",\"type\":[\"null\",\"desk.Trade\"]}]}";
        byte[] json = dev.onefold.kafka.format.Schema.of(Encoded.AVRO, List.of(book, trade))
                .json(new Cursor(new byte[] {4, 2, 6, 0}));
        assertThat(new String(json, StandardCharsets.UTF_8))
                .isEqualTo("{\"book\":{\"id\":2},\"last\":{\"book\":{\"id\":3},\"last\":null}}");
        assertThatThrownBy(() -> AvroSchema.read(List.of(trade)))
                .hasMessageContaining("the type Book, which is not known");
    }

    /// A value of JSON with scalars as texts.
    private static Object plain(Node node) {
        return switch (node) {
            case Node.Scalar scalar -> scalar.text();
            case Node.Sequence items ->
                items.items().stream().map(AvroValueTest::plain).toList();
            case Node.Mapping fields -> {
                Map<String, Object> all = new TreeMap<>();
                fields.entries().forEach(entry -> all.put(entry.name().text(), plain(entry.value())));
                yield all;
            }
        };
    }

    private static Object expected(Schema schema, Object value) {
        return switch (schema.getType()) {
            case RECORD -> {
                Map<String, Object> all = new TreeMap<>();
                for (Schema.Field field : schema.getFields()) {
                    all.put(field.name(), expected(field.schema(), ((GenericData.Record) value).get(field.pos())));
                }
                yield all;
            }
            case ARRAY -> {
                List<Object> all = new ArrayList<>();
                ((Iterable<?>) value).forEach(item -> all.add(expected(schema.getElementType(), item)));
                yield all;
            }
            case MAP -> {
                Map<String, Object> all = new TreeMap<>();
                ((Map<?, ?>) value)
                        .forEach((name, item) -> all.put(name.toString(), expected(schema.getValueType(), item)));
                yield all;
            }
            case UNION -> expected(schema.getTypes().get(GenericData.get().resolveUnion(schema, value)), value);
            case FIXED -> Base64.getEncoder().encodeToString(((GenericData.Fixed) value).bytes());
            case BYTES -> Base64.getEncoder().encodeToString(((ByteBuffer) value).array());
            default -> String.valueOf(value);
        };
    }

    /// Random schemas: nested, with a record that may have itself in it.
    private static final class Schemata {
        private final RandomGenerator random;
        private int names;

        Schemata(RandomGenerator random) {
            this.random = random;
        }

        Schema record(int depth) {
            Schema record = Schema.createRecord("R" + names++, null, random.nextBoolean() ? "a.b" : null, false);
            List<Schema.Field> fields = new ArrayList<>();
            for (int i = 0; i < 1 + random.nextInt(4); i++) {
                fields.add(new Schema.Field("f" + i, schema(depth - 1)));
            }
            if (random.nextBoolean()) {
                fields.add(new Schema.Field(
                        "self", Schema.createUnion(Schema.create(Schema.Type.NULL), Schema.createArray(record))));
            }
            record.setFields(fields);
            return record;
        }

        private Schema schema(int depth) {
            int kind = random.nextInt(depth > 0 ? 14 : 10);
            return switch (kind) {
                case 8 -> SchemaBuilder.enumeration("E" + names++).symbols("A", "B", "C");
                case 9 -> Schema.createFixed("F" + names++, null, null, random.nextInt(5));
                case 10 -> record(depth);
                case 11 -> Schema.createArray(schema(depth - 1));
                case 12 -> Schema.createMap(schema(depth - 1));
                case 13 -> {
                    Schema other = schema(depth - 1);
                    yield other.isUnion() || other.getType() == Schema.Type.NULL
                            ? other
                            : Schema.createUnion(Schema.create(Schema.Type.NULL), other);
                }
                default ->
                    Schema.create(List.of(
                                    Schema.Type.NULL,
                                    Schema.Type.BOOLEAN,
                                    Schema.Type.INT,
                                    Schema.Type.LONG,
                                    Schema.Type.FLOAT,
                                    Schema.Type.DOUBLE,
                                    Schema.Type.BYTES,
                                    Schema.Type.STRING)
                            .get(kind));
            };
        }
    }
}
