package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.builder.PipelineBuilder.RollupBuilder;
import dev.onefold.fixtures.Seeds;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The text of a field: keys, levels and distinct texts (hazard 22).
class TextsTest {
    private static Map<String, String> text(String field) {
        return Map.of("field", field, "type", "text");
    }

    private static final Decoding KEY =
            Decoding.of(PipelineBuilder.named("p").identity("id", text("k")).rollup(r -> r.count("n")));
    private static final Decoding KEYS = Decoding.of(PipelineBuilder.named("p")
            .identity("id", List.of(text("a"), text("b")))
            .rollup(r -> r.count("n")));
    private static final Decoding LEVEL = Decoding.level("k");
    private static final Decoding DISTINCT = Decoding.measure("distinct(k)");

    private static String record(String value) {
        return "{\"k\":" + value + "}";
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            json.append(c == '"' || c == '\\' ? "\\" + c : c < 0x20 ? "\\u%04x".formatted((int) c) : "" + c);
        }
        return json.append('"').toString();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "-0, 0",
        "-0.0, 0",
        "5, 5",
        "-5, -5",
        "5.50, 5.5",
        "5.5e0, 5.5",
        "5.0, 5",
        "-5.50, -5.5",
        "0.10, 0.1",
        "1e3, 1000",
        "1E+3, 1000",
        "100e-2, 1",
        "1.5e-3, 0.0015",
        "-1e-2, -0.01",
        "0e5, 0",
        "123456789012345678901234567890, 123456789012345678901234567890",
        "-123456789012345678901234567890, -123456789012345678901234567890",
        "true, true",
        "false, false",
        "'\"007\"', 007",
        "'\"5.51\"', 5.51",
    })
    void numbers_and_booleans_have_one_text_each(String value, String text) {
        assertThat(KEY.key(record(value))).isEqualTo(text);
        assertThat(LEVEL.group(record(value))).containsExactly(text);
        assertThat(DISTINCT.text(record(value))).isEqualTo(text);
        assertThat(KEYS.keyParts("{\"a\":" + value + ",\"b\":" + value + "}")).containsExactly(text, text);
    }

    @Test
    void a_long_integer_counts_as_its_digits() {
        String digits = "90".repeat(998);
        assertThat(LEVEL.group(record(digits))).containsExactly(digits);
        assertThat(LEVEL.group(record("-" + digits))).containsExactly("-" + digits);
        assertThat(DISTINCT.text(record("-" + digits))).isEqualTo("-" + digits);
        assertThat(LEVEL.group(record("1e1000"))).containsExactly("1" + "0".repeat(1000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "[]", "[\"a\"]", "{\"a\":1}", "1e1001", "1e-1001"})
    void objects_arrays_and_numbers_without_end_are_no_text(String value) {
        assertThat(KEY.refusal(record(value)).message())
                .isEqualTo("Field k is not text or a number; it is part of the key");
        assertThat(LEVEL.refusal(record(value)).message()).isEqualTo("Field k is not text or a number; it is a level");
        assertThat(DISTINCT.refusal(record(value)).message())
                .isEqualTo("Field k is not text or a number; its texts are counted");
        assertThat(KEY.refusal(record(value)).reason()).isEqualTo(Reason.REFUSED);
    }

    @Test
    void a_missing_key_a_missing_level_and_a_missing_text_refuse_the_record_unless_there_is_a_default() {
        for (String record : List.of("{}", record("null"), "{\"K\":1}", "{\"k \":1}")) {
            assertThat(KEY.refusal(record).message())
                    .startsWith(
                            "Field k is " + (record.contains("null") ? "null" : "missing") + "; it is part of the key");
            assertThat(LEVEL.refusal(record).message())
                    .isEqualTo("Field k is missing; it is a level without a default");
            assertThat(DISTINCT.refusal(record).message()).isEqualTo("Field k is missing; its texts are counted");
            assertThat(Decoding.level("k missing \"unknown\"").group(record)).containsExactly("unknown");
            assertThat(Decoding.level("prefix(k, 2) missing \"unknown\"").group(record))
                    .containsExactly("unknown");
            assertThat(Decoding.level("k missing \"\"").group(record)).containsExactly("");
            assertThat(Decoding.measure("distinct(k) missing ignore").text(record))
                    .isNull();
            assertThat(Decoding.measure("distinct(k) missing \"none\"").text(record))
                    .isEqualTo("none");
        }
        assertThat(KEYS.refusal("{\"a\":1}").message()).isEqualTo("Field b is missing; it is part of the key");
        assertThat(KEYS.refusal("{\"a\":1,\"b\":null}").message()).startsWith("Field b is null; it is part of the key");
    }

    @Test
    void an_empty_text_is_refused_in_a_key_unless_the_file_says_that_it_may_be_one() {
        Decoding json = Decoding.of(PipelineBuilder.named("p").id("k").rollup(r -> r.count("n")));
        Decoding csv =
                Decoding.of(PipelineBuilder.named("p").csv("k", "l").id("k").rollup(r -> r.count("n")));
        assertThat(List.of(
                        json.refusal(record("\"\"")).message(),
                        csv.refusal("\"\",1").message()))
                .allMatch(message -> message.startsWith("Field k is an empty text; it is part of the key.")
                        && message.endsWith("{\"field\":\"k\",\"type\":\"text\"}"));
        Decoding missing = Decoding.of(PipelineBuilder.named("p")
                .identity("id", Map.of("field", "k", "missing", ""))
                .rollup(r -> r.count("n")));
        assertThat(missing.key(record("\"\""))).isEmpty();
        Decoding changes =
                Decoding.of(PipelineBuilder.named("p").edition(2).id("k").rollup(r -> r.count("n")));
        assertThat(changes.key(record("\"\""))).isEmpty();
    }

    @Test
    void an_empty_text_is_there_and_is_not_missing() {
        assertThat(KEY.key(record("\"\""))).isEmpty();
        assertThat(LEVEL.group(record("\"\""))).containsExactly("");
        assertThat(DISTINCT.text(record("\"\""))).isEmpty();
        assertThat(Decoding.level("k missing \"unknown\"").group(record("\"\"")))
                .containsExactly("");
    }

    @Test
    void a_key_has_up_to_1000_bytes_in_utf_8_and_after_escapes() {
        assertThat(KEY.key(record("\"" + "k".repeat(1_000) + "\""))).hasSize(1_000);
        assertThat(KEY.key(record("\"" + "ä".repeat(500) + "\""))).hasSize(500);
        assertThat(KEY.key(record("\"" + "\\u006b".repeat(1_000) + "\""))).hasSize(1_000);
        assertThat(KEY.key(record("9".repeat(1_000)))).hasSize(1_000);
        for (String value : List.of(
                "\"" + "k".repeat(1_001) + "\"",
                "\"k" + "ä".repeat(500) + "\"",
                "\"" + "\\u006b".repeat(1_001) + "\"",
                "9".repeat(1_001))) {
            assertThat(KEY.refusal(record(value)).reason()).isEqualTo(Reason.TOO_LARGE);
            assertThat(KEY.refusal(record(value)).message()).isEqualTo("The key has over 1000 bytes");
        }
    }

    @Test
    void the_parts_of_a_key_have_1000_bytes_together_and_what_separates_them_does_not_count() {
        assertThat(KEYS.keyParts("{\"a\":\"" + "\\u0000".repeat(400) + "\",\"b\":\"" + "b".repeat(600) + "\"}"))
                .containsExactly("\0".repeat(400), "b".repeat(600));
        assertThat(KEYS.keyParts("{\"a\":\"\",\"b\":\"" + "b".repeat(1_000) + "\"}"))
                .containsExactly("", "b".repeat(1_000));
        for (String record : List.of(
                "{\"a\":\"" + "\\u0000".repeat(401) + "\",\"b\":\"" + "b".repeat(600) + "\"}",
                "{\"a\":\"" + "a".repeat(1_001) + "\",\"b\":\"\"}",
                "{\"b\":\"" + "a".repeat(1_001) + "\",\"a\":\"\"}")) {
            assertThat(KEYS.refusal(record).message()).isEqualTo("The key has over 1000 bytes");
        }
    }

    @Test
    void keys_of_several_fields_are_equal_only_if_each_field_is() {
        Seeds.forAllSeeds(5_000, random -> {
            List<String> one = List.of(nasty(random), nasty(random));
            List<String> other = List.of(nasty(random), nasty(random));
            Event event = KEYS.event(keys(one));
            byte[] key = java.util.Arrays.copyOfRange(event.data, event.keyFrom, event.keyTo);
            event = KEYS.event(keys(other));
            byte[] otherKey = java.util.Arrays.copyOfRange(event.data, event.keyFrom, event.keyTo);
            assertThat(new Tuple(key).parts()).isEqualTo(one);
            assertThat(java.util.Arrays.equals(key, otherKey)).isEqualTo(one.equals(other));
        });
    }

    private static String keys(List<String> parts) {
        return "{\"b\":" + quoted(parts.get(1)) + ",\"a\":" + quoted(parts.get(0)) + "}";
    }

    private static String nasty(RandomGenerator random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(4); i > 0; i--) {
            text.append(List.of("\0", "\1", "a", "\0\1", "\u00ff", ":", "\"", "\\", "/", "😀")
                    .get(random.nextInt(10)));
        }
        return text.toString();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "FX:Spot",
                "message_count",
                "O'Brien",
                "a.b",
                "",
                " ",
                "\0",
                "\t",
                "\"",
                "\\",
                "null",
                "n",
                "𝄞",
                "\uffff"
            })
    void a_group_name_may_hold_any_character_and_word(String name) {
        assertThat(LEVEL.group(record(quoted(name)))).containsExactly(name);
        assertThat(KEY.key(record(quoted(name)))).isEqualTo(name);
    }

    @Test
    void every_escape_is_read() {
        assertThat(DISTINCT.text(
                        record("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\uD834\\udd1e\\u0000\\uffff\"")))
                .isEqualTo("\"\\/\b\f\n\r\tAé€𝄞\0\uffff");
    }

    @Test
    void random_text_comes_through_however_it_is_escaped() {
        Seeds.forAllSeeds(4_000, random -> {
            StringBuilder text = new StringBuilder();
            StringBuilder json = new StringBuilder("\"");
            for (int i = random.nextInt(30); i > 0; i--) {
                int point = random.nextInt(1 << (1 + random.nextInt(21)));
                if (point > 0x10ffff || point >= 0xd800 && point < 0xe000) {
                    point = 'x';
                }
                text.appendCodePoint(point);
                boolean escape = point < 0x20 || point == '"' || point == '\\' || random.nextInt(5) == 0;
                for (char unit : Character.toChars(point)) {
                    json.append(
                            escape ? (random.nextBoolean() ? "\\u%04x" : "\\u%04X").formatted((int) unit) : "" + unit);
                }
            }
            String record = record(json.append('"').toString());
            assertThat(DISTINCT.text(record)).isEqualTo(text.toString());
            assertThat(LEVEL.group(record)).containsExactly(text.toString());
            assertThat(KEY.key(record)).isEqualTo(text.toString());
        });
    }

    @Test
    void the_first_and_the_last_character_of_each_length_are_text_escaped_or_not() {
        for (int point : new int[] {
            0x20, 0x7e, 0x7f, 0x80, 0xbf, 0xc0, 0x7ff, 0x800, 0xfff, 0x1000, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x3ffff,
            0x40000, 0xfffff, 0x100000, 0x10ffff
        }) {
            String text = Character.toString(point) + "x";
            StringBuilder escaped = new StringBuilder();
            for (int i = 0; i < text.length(); i++) {
                escaped.append("\\u%04x".formatted((int) text.charAt(i)));
            }
            assertThat(LEVEL.group(record("\"" + text + "\""))).as("%x", point).containsExactly(text);
            assertThat(LEVEL.group(record("\"" + escaped + "\"")))
                    .as("%x", point)
                    .containsExactly(text);
        }
    }

    @Test
    void after_every_first_byte_utf_8_is_well_formed_where_the_jdk_says_so() {
        int[] others = {0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0};
        for (int first = 0x80; first <= 0xff; first++) {
            for (int second : others) {
                for (int third : others) {
                    byte[] bytes = {(byte) first, (byte) second, (byte) third, (byte) 0x80};
                    for (int length = 1; length <= bytes.length; length++) {
                        byte[] cut = java.util.Arrays.copyOf(bytes, length);
                        assertThat(TextBytes.utf8Ends(cut, 0, length) == length)
                                .as("%s", cut)
                                .isEqualTo(isUtf8(cut));
                    }
                }
            }
        }
    }

    @Test
    void texts_and_groups_of_every_length_come_through_whatever_came_before() {
        Seeds.forAllSeeds(300, random -> {
            Decoding decoding = Decoding.of(PipelineBuilder.named("p")
                    .rollup(r ->
                            r.levels("a", "b", "c", "d").distinct("texts", "e").distinct("more", "f")));
            for (int time = 0; time < 3; time++) {
                int most = random.nextInt(2) == 0 ? 60 : 248;
                List<String> texts = new java.util.ArrayList<>();
                StringBuilder json = new StringBuilder("{");
                for (int field = 0; field < 6; field++) {
                    int length = random.nextInt(most);
                    String unit = new String[] {"x", "\0", "\u00e9", "\""}[random.nextInt(4)];
                    texts.add(unit.repeat(length));
                    String written = unit.equals("\0") ? "\\u0000" : unit.equals("\"") ? "\\\"" : unit;
                    json.append(field == 0 ? "" : ",")
                            .append("\"%c\":\"".formatted('a' + field))
                            .append(written.repeat(length))
                            .append('"');
                }
                String record = json.append('}').toString();
                assertThat(decoding.group(record)).isEqualTo(texts.subList(0, 4));
                assertThat(decoding.text(record)).isEqualTo(texts.get(4));
            }
        });
    }

    @Test
    void a_default_may_be_longer_than_any_text_before() {
        String longText = "y".repeat(1_998);
        assertThat(Decoding.measure("distinct(k) missing \"" + longText + "\"").text("{}"))
                .isEqualTo(longText);
        assertThat(Decoding.level("k missing \"" + longText + "\"").group("{}")).containsExactly(longText);
    }

    @Test
    void only_well_formed_utf_8_is_text() {
        Seeds.forAllSeeds(15_000, random -> {
            byte[] bytes = new byte[random.nextInt(1, 7)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte)
                        (random.nextBoolean()
                                ? 0x80 | random.nextInt(0x80)
                                : new int[] {0xe0, 0xed, 0xf0, 0xf4, 0xc1, 0xc2, 0x7f, 0xbf}[random.nextInt(8)]);
            }
            assertThat(TextBytes.utf8Ends(bytes, 0, bytes.length) == bytes.length)
                    .isEqualTo(isUtf8(bytes));
            byte[] record = "{\"k\":\"abcdef\"}".getBytes(StandardCharsets.UTF_8);
            System.arraycopy(bytes, 0, record, 6, bytes.length);
            assertThat(LEVEL.decode(record) == null).isEqualTo(isUtf8(record));
        });
    }

    private static boolean isUtf8(byte[] bytes) {
        try {
            StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(bytes));
            return true;
        } catch (CharacterCodingException e) {
            return false;
        }
    }

    @Test
    void a_group_has_up_to_2000_bytes_with_two_for_the_end_of_each_level() {
        assertThat(LEVEL.group(record("\"" + "x".repeat(1_998) + "\"")).getFirst())
                .hasSize(1_998);
        Malformed refusal = LEVEL.refusal(record("\"" + "x".repeat(1_999) + "\""));
        assertThat(refusal.reason()).isEqualTo(Reason.TOO_LARGE);
        assertThat(refusal.message())
                .isEqualTo(
                        "The group of roll-up main has 2001 bytes, with two for the end of each level; a group has at"
                                + " most 2000");
    }

    @Test
    void a_text_that_is_counted_has_up_to_2000_bytes() {
        assertThat(DISTINCT.text(record("\"" + "ä".repeat(1_000) + "\""))).hasSize(1_000);
        Malformed refusal = DISTINCT.refusal(record("\"" + "ä".repeat(1_000) + "x\""));
        assertThat(refusal.reason()).isEqualTo(Reason.TOO_LARGE);
        assertThat(refusal.message())
                .isEqualTo("The text of k has 2001 bytes; a text that is counted has at most 2000");
    }

    @Test
    void a_row_has_up_to_90_kilobytes() {
        Decoding wide = Decoding.of(PipelineBuilder.named("p")
                .id("k")
                .rollup("one", rollup -> distincts(rollup, "a"))
                .rollup("two", rollup -> distincts(rollup, "b")));
        assertThat(wide.kind(wide(1_799))).isEqualTo(Event.Kind.COUNTED);
        Malformed refusal = wide.refusal(wide(1_801));
        assertThat(refusal.reason()).isEqualTo(Reason.TOO_LARGE);
        assertThat(refusal.message())
                .isEqualTo("The key, groups and texts of the record have 90051 bytes; a row has at most 90000");
    }

    private static void distincts(RollupBuilder rollup, String field) {
        for (int i = 0; i < 25; i++) {
            rollup.measure(field + i, "distinct(" + field + i + ")");
        }
    }

    /// Fifty texts.
    private static String wide(int length) {
        return Stream.of("a", "b")
                .flatMap(field ->
                        IntStream.range(0, 25).mapToObj(i -> ",\"" + field + i + "\":\"" + "x".repeat(length) + "\""))
                .collect(Collectors.joining("", "{\"k\":\"k\"", "}"));
    }

    @Test
    void a_value_in_a_message_is_whole_whatever_its_script_and_cut_between_characters() {
        Decoding decoding = Decoding.of(PipelineBuilder.named("p").rollup(r -> r.sum("s", "x", 18, 2)));
        assertThat(decoding.refusal("{\"x\":\"Zürich 東京 😀\"}").message())
                .isEqualTo("Field x is 'Zürich 東京 😀', which is not a number");
        assertThat(decoding.refusal("{\"x\":\"" + "東".repeat(14) + "\"}").message())
                .isEqualTo("Field x is '" + "東".repeat(13) + "…', which is not a number");
        assertThat(decoding.refusal("{\"x\":\"a\u0085b\"}").message()).contains("'a\uFFFDb'");
    }
}
