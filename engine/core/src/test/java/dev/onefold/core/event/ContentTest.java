package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.codec.Codec;
import dev.onefold.core.codec.Samples;
import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.grammar.TypeReader;
import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Let;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.shape.Value;
import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The fields that a user's function takes of a record.
class ContentTest {
    private static final Format JSON = new Format.Json();

    private static Decoder decoder(Type.Fields event, Format format) {
        return decoder(event, format, List.of());
    }

    private static Decoder decoder(Type.Fields event, Format format, List<Let> lets) {
        FieldPath filtered =
                lets.isEmpty() ? FieldPath.of("k") : lets.getFirst().field();
        Type.Fields none = new Type.Fields(List.of());
        Input input = new Input(
                format,
                Identity.Versioned.of(List.of(FieldPath.of("k")), FieldPath.of("v"), null),
                event.named("ms").isEmpty() ? null : new Input.EventTime(FieldPath.of("ms"), TimeType.EPOCH_MILLIS),
                null,
                new Condition.Not(new Condition.TextIn(filtered, List.of("filtered"), false)),
                Edition.UNSTATED,
                Input.Spellings.NONE,
                lets);
        Processing processing = new Processing(
                new Processing.Program.JavaClass("com.example.Runs", null),
                1,
                Processing.NewVersion.REFOLD,
                Processing.Order.EVERY,
                10,
                List.of(new Processing.Table("t", List.of("k"))),
                List.of(),
                new Processing.Code("", none, event, new TreeMap<>()));
        return new Decoder(new Pipeline("p", input, processing));
    }

    private static Malformed decode(Decoder decoder, byte[] record) {
        byte[] framed = new byte[record.length + Decoder.PADDING];
        Arrays.fill(framed, (byte) '"');
        System.arraycopy(record, 0, framed, 0, record.length);
        return decoder.decode(framed, 0, record.length);
    }

    private static byte[] content(Decoder decoder) {
        Event event = decoder.event();
        return Arrays.copyOfRange(event.data, event.contentFrom, event.contentTo);
    }

    @Test
    void the_fields_of_a_random_record_become_the_bytes_that_its_codec_makes() {
        Seeds.forAllSeeds(300, random -> {
            for (Class<? extends Record> type : Samples.ALL) {
                check(Codec.of(type), random);
            }
        });
    }

    private static <T extends Record> void check(Codec<T> codec, RandomGenerator random) {
        T some = Samples.random(codec.record(), random);
        Map<String, Object> nested = new LinkedHashMap<>(Map.of("k", "a", "v", 1));
        Samples.plain(some).forEach((path, value) -> put(nested, path, value));
        byte[] record = Json.of(nested).getBytes(StandardCharsets.UTF_8);
        Let derived = new Let(
                FieldPath.of("derived"), new Let.Call(Let.Function.LOWER, List.of(new Let.Field(FieldPath.of("k")))));
        Decoder decoder = decoder(codec.type(), JSON, random.nextBoolean() ? List.of(derived) : List.of());
        assertThat(decode(decoder, record)).as(Json.of(nested)).isNull();
        assertThat(content(decoder)).isEqualTo(codec.encode(some));
        byte[] damaged = record.clone();
        for (int left = random.nextInt(3); left >= 0; left--) {
            damaged[random.nextInt(damaged.length)] = record[random.nextInt(record.length)];
        }
        if (decode(decoder, damaged) == null && decoder.event().kind == Event.Kind.COUNTED) {
            assertThat(codec.encode(codec.decode(content(decoder), null))).isEqualTo(content(decoder));
        }
    }

    @SuppressWarnings("unchecked")
    private static void put(Map<String, Object> record, String path, Object value) {
        List<String> names = FieldPath.read(path).orElseThrow().names();
        Map<String, Object> at = record;
        for (String name : names.subList(0, names.size() - 1)) {
            at = (Map<String, Object>) at.computeIfAbsent(name, _ -> new LinkedHashMap<String, Object>());
        }
        at.put(names.getLast(), value);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "boolean       # true              # true",
                "boolean       # \"false\"         # false",
                "int           # -2147483648       # -2147483648",
                "int           # \"12\"            # 12",
                "int           # 1.2e1             # 12",
                "long          # 9223372036854775807 # 9223372036854775807",
                "decimal       # 0.10              # 0.1",
                "decimal       # -0.00             # 0",
                "decimal       # -120              # -120",
                "decimal       # 1234567890123456789012345678.90 # 1234567890123456789012345678.9",
                "decimal       # \"1e-3\"          # 0.001",
                "decimal       # -128.0            # -128",
                "text          # 12                # \"12\"",
                "text          # \"a\\u00e9\"      # \"aé\"",
                "time          # 1500000001.5      # \"2017-07-14T02:40:01.500Z\"",
                "time          # \"2026-11-22T01:00:00+01:00\" # \"2026-11-22T00:00:00Z\"",
                "date          # \"2026-11-22\"    # \"2026-11-22\"",
                "duration      # \"PT90S\"         # \"PT1M30S\"",
                "duration      # -1.25             # \"PT-1.25S\"",
                "duration      # \"60\"            # \"PT1M\"",
                "(WALK|RUN)    # \"R\\u0055N\"     # \"RUN\"",
                "long?         # null              # null",
                "long?         # 1                 # 1",
                "[long]        # []                # []",
                "[long]        # [ 1 , 2,3 ]       # [1,2,3]",
                "[[text?]]     # [[\"a,]\\\"\",null],[],[ \"}\" ]] # [[\"a,]\\\"\",null],[],[\"}\"]]",
                "{a: int, b.c: text?} # {\"b\":{\"c\":\"d\"} , \"a\":1, \"z\":[{}]} # {\"a\":1,\"b.c\":\"d\"}",
                "[{a: int}]    # [{\"a\":1}, {\"b\":[2],\"a\":3}] # [{\"a\":1},{\"a\":3}]",
            })
    void a_field_is_read_as_its_type_says(String type, String field, String read) {
        Decoder decoder = decoder(TypeReader.read("{x: " + type + "}"), JSON);
        String record = "{\"k\":\"a\",\"v\":1,\"x\":" + field + "}";
        assertThat(decode(decoder, record.getBytes(StandardCharsets.UTF_8))).isNull();
        assertThat(Value.read(content(decoder)).toJson()).isEqualTo("{\"x\":" + read + "}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "boolean    # 1               # is '1'; boolean: true or false is wanted",
                "boolean    # \"yes\"         # is 'yes'; boolean: true or false is wanted",
                "int        # 2147483648      # is '2147483648'; int: an integer from -2147483648 to 2147483647",
                "int        # 1.5             # is '1.5'; int: an integer",
                "int        # true            # is 'true'; int: an integer",
                "long       # 9223372036854775808 # is '9223372036854775808'; long: an integer",
                "long       # 1e999999999     # is '1e999999999'; long: an integer",
                "decimal    # \"1,5\"         # is '1,5'; a decimal is wanted",
                "decimal    # 1e126           # is '1e126', which ends at the digit of 10 to the power of 126",
                "text       # {}              # is '{}'; text is wanted",
                "time       # \"yesterday\"   # is 'yesterday', which is not a time; wanted is ISO-8601 text",
                "date       # \"2026-02-30\"  # is '2026-02-30'; date: ISO-8601, such as 2026-11-21, is wanted",
                "duration   # \"90s\"         # is '90s'; duration: ISO-8601, such as PT1M30S, or a number",
                "duration   # 1e30            # is '1e30'; duration: ISO-8601",
                "(WALK|RUN) # \"SWIM\"        # is 'SWIM'; one of WALK, RUN is wanted",
                "(WALK|RUN) # 1               # is '1'; one of WALK, RUN is wanted",
                "long       # null            # is missing, and long is wanted",
                "[long]     # 1               # is '1'; a JSON array is wanted",
                "{a: int}   # [1]             # is '[1]'; a JSON object is wanted",
            })
    void a_field_that_does_not_fit_its_type_is_refused(String type, String field, String message) {
        Decoder decoder = decoder(TypeReader.read("{x: " + type + "}"), JSON);
        String record = "{\"k\":\"a\",\"v\":1,\"x\":" + field + "}";
        Malformed malformed = decode(decoder, record.getBytes(StandardCharsets.UTF_8));
        assertThat(malformed.reason()).isEqualTo(Reason.REFUSED);
        assertThat(malformed.message()).startsWith("Field x " + message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "[long]            # [1,null]        # Field x[] is missing, and long is wanted",
                "[{a: [int]}]      # [{\"a\":[\"b\"]}] # Field x[].a[] is 'b'; int: an integer",
                "{a: {b: int}}     # {\"a\":{}}       # Field x.a.b is missing, and int is wanted",
                "{a: int}          # {\"a\":1,\"a\":2}  # Field x cannot be read: The field a stands twice",
            })
    void a_nested_field_is_refused_with_its_path(String type, String field, String message) {
        Decoder decoder = decoder(TypeReader.read("{x: " + type + "}"), JSON);
        String record = "{\"k\":\"a\",\"v\":1,\"x\":" + field + "}";
        assertThat(decode(decoder, record.getBytes(StandardCharsets.UTF_8)).message())
                .startsWith(message);
    }

    @Test
    void the_time_of_the_event_is_read_as_the_pipeline_says() {
        Decoder decoder = decoder(TypeReader.read("{ms: time}"), JSON);
        assertThat(decode(decoder, "{\"k\":\"a\",\"v\":1,\"ms\":1500000000000}".getBytes(StandardCharsets.UTF_8)))
                .isNull();
        assertThat(Value.read(content(decoder)).toJson()).isEqualTo("{\"ms\":\"2017-07-14T02:40:00Z\"}");
    }

    @Test
    void an_event_that_is_filtered_has_no_content_and_is_not_checked() {
        Decoder decoder = decoder(TypeReader.read("{x: long}"), JSON);
        assertThat(decode(decoder, "{\"k\":\"a\",\"v\":1,\"x\":1}".getBytes(StandardCharsets.UTF_8)))
                .isNull();
        assertThat(decode(decoder, "{\"k\":\"filtered\",\"v\":1,\"x\":\"?\"}".getBytes(StandardCharsets.UTF_8)))
                .isNull();
        assertThat(decoder.event().kind).isEqualTo(Event.Kind.FILTERED);
        assertThat(content(decoder)).isEmpty();
    }

    @Test
    void content_over_the_limit_of_a_row_is_too_large() {
        Decoder decoder = decoder(TypeReader.read("{x: text}"), JSON);
        int most = Limits.ROW_BYTES_MAX - 7; // Of these are: a count, a name with its length, a tag and a length.
        String record = "{\"k\":\"a\",\"v\":1,\"x\":\"%s\"}";
        assertThat(decode(decoder, record.formatted("a".repeat(most)).getBytes(StandardCharsets.UTF_8)))
                .isNull();
        assertThat(content(decoder)).hasSize(Limits.ROW_BYTES_MAX);
        assertThat(decode(decoder, record.formatted("a".repeat(most + 1)).getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(new Malformed(
                        Reason.TOO_LARGE, "The fields of the event have 90001 bytes; an event has at most 90000"));
    }

    @Test
    void csv_has_scalars_alone() {
        Format csv = new Format.Csv(',', List.of("k", "v", "n", "day"));
        Decoder decoder = decoder(TypeReader.read("{n: long?, day: date}"), csv);
        assertThat(decode(decoder, "a,1,,2026-11-22".getBytes(StandardCharsets.UTF_8)))
                .isNull();
        assertThat(Value.read(content(decoder)).toJson()).isEqualTo("{\"n\":null,\"day\":\"2026-11-22\"}");
        assertThat(decode(decoder, "a,1,\"7\",2026-11-22".getBytes(StandardCharsets.UTF_8)))
                .isNull();
        assertThat(Value.read(content(decoder)).toJson()).isEqualTo("{\"n\":7,\"day\":\"2026-11-22\"}");
        assertThatThrownBy(() -> decoder(TypeReader.read("{n: [long]}"), csv))
                .isInstanceOf(ShapeException.class)
                .hasMessage("component n of the event is [long]; a csv record has neither lists nor nested records");
        assertThatThrownBy(() -> decoder(TypeReader.read("{m: long}"), csv))
                .hasMessage("component m of the event is none of input.columns: k, v, n, day");
        assertThatThrownBy(() -> decoder(TypeReader.read("{n.m: long}"), csv))
                .hasMessage("component n.m of the event is a path; a csv record has columns only");
    }
}
