package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/// JSON by RFC 8259, strictly, and fields by their paths.
class JsonScannerTest {
    static final List<String> NO_OBJECTS = List.of(
            "{\"a\":01}",
            "{\"a\":-}",
            "{\"a\":-01}",
            "{\"a\":+1}",
            "{\"a\":.5}",
            "{\"a\":5.}",
            "{\"a\":1.e1}",
            "{\"a\":1e}",
            "{\"a\":1e+}",
            "{\"a\":1e1.5}",
            "{\"a\":0x10}",
            "{\"a\":1_000}",
            "{\"a\":NaN}",
            "{\"a\":Infinity}",
            "{\"a\":-Infinity}",
            "{\"a\":True}",
            "{\"a\":tru}",
            "{\"a\":truee}",
            "{\"a\":nul}",
            "{\"a\":'x'}",
            "{a:1}",
            "{'a':1}",
            "{1:1}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\" 1}",
            "{\"a\":1,}",
            "{,\"a\":1}",
            "{\"a\":1,,\"b\":1}",
            "{\"a\":1 \"b\":1}",
            "{\"a\":1;\"b\":1}",
            "{\"b\":[1,]}",
            "{\"b\":[,1]}",
            "{\"b\":[1 2]}",
            "{\"b\":[1}",
            "{\"b\":{]}",
            "{\"a\":1}}",
            "{\"a\":1}{}",
            "{\"a\":1} x",
            "{\"a\":1},",
            "{\"a\":1/*c*/}",
            "{\"a\":\"\t\"}",
            "{\"a\":\"\n\"}",
            "{\"a\":\"\u0000\"}",
            "{\"a\":\"\u001f\"}",
            "{\"\u0001\":1}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"\\'\"}",
            "{\"a\":\"\\U0041\"}",
            "{\"a\":\"\\u004g\"}",
            "{\"a\":\"\\u00e\"}",
            "{\"a\":\"\\ud834\"}",
            "{\"a\":\"\\ud834x\\udd1e\"}",
            "{\"a\":\"\\ud834\\n\"}",
            "{\"a\":\"\\ud834\\ud834\"}",
            "{\"a\":\"\\ud834\\u0041abcd\"}",
            "{\"a\":\"\\udd1e\"}",
            "{\"a\":\"\\udd1e\\ud834\"}",
            "[]",
            "[{\"a\":1}]",
            "\"a\"",
            "1",
            "null",
            "\u00a0{}",
            "\ufeff\ufeff{}",
            "\ufeff",
            "{\u00a0}",
            "{\f}");

    private static final Decoding A = Decoding.level("a missing \"-\"");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                " \t\r\n{ \t\r\n} \t\r\n",
                "{\"a\":1}",
                "{ \"a\" : 1 , \"b\" : [ ] , \"c\" : { } }",
                "{\"a\":1,\"b\":[1,-0,0.0,1e1,1E+1,1e-1,\"x\",true,false,null,[],{}]}",
                "{\"\":\"\",\"\\u0000\":null}",
                "{\"b\":\"\u007f\u0080\u07ff\u0800\uffff😀\"}",
                "{\"b\":1,\"b\":2}",
                "{\"b\":[ 1 , 2 , [ 3 ] , { } ] }",
                "{\"b\":{\"a\":1,\"a\":2}}",
                "{\"b\":[{\"a\":1},{\"a\":1}],\"a\":3}",
            })
    void an_object_by_the_rfc_is_a_record(String record) {
        assertThat(A.decode(record)).as(record).isNull();
    }

    @Test
    void a_byte_order_mark_in_front_is_passed_over_since_edition_3() {
        assertThat(A.decode("\ufeff{\"a\":1}")).isNull();
        Decoding before = Decoding.of(PipelineBuilder.named("p")
                .edition(2)
                .rollup(rollup -> rollup.levels("a").count("n")));
        assertThat(before.refusal("\ufeff{\"a\":1}").reason()).isEqualTo(Reason.MALFORMED);
    }

    @ParameterizedTest
    @FieldSource("NO_OBJECTS")
    void what_is_no_object_by_the_rfc_is_malformed(String record) {
        Malformed refusal = A.refusal(record);
        assertThat(refusal.reason()).isEqualTo(Reason.MALFORMED);
        assertThat(refusal.message()).matches("(?s).* at byte [0-9]+ of the record");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|The record is empty at byte 0 of the record",
                "'  '|The record is empty at byte 0 of the record",
                "[1]|The record is not a JSON object: it begins with '[1]' ('jq -c .[]' makes lines of an array) at byte 0 of the record",
                "' x'|The record is not a JSON object: it begins with 'x' at byte 1 of the record",
                "{\"a\":1}x|Unexpected data after the JSON object at byte 7 of the record",
                "{\"a\":1,\"a\":2}|The field a stands twice at byte 11 of the record",
                "{\"a\":01}|A JSON value is expected at byte 5 of the record",
                "{\"a\":x}|A JSON value is expected at byte 5 of the record",
                "{\"a\":nu11}|A JSON value is expected at byte 5 of the record",
                "{\"a\" 1}|A colon is expected at byte 5 of the record",
                "{a:1}|A field name in quotes is expected at byte 1 of the record",
                "{\"a\":1 2}|A comma or a closing brace is expected at byte 7 of the record",
                "{\"b\":[1 2]}|A comma or a closing bracket is expected at byte 8 of the record",
                "{\"a\":\"\\x\"}|An escape in a string is not valid at byte 6 of the record",
                "{\"a\":\"\\ud800\"}|An escape in a string is not valid at byte 6 of the record",
                "{\"a\":\"\\ud800x\"}|An escape in a string is not valid at byte 6 of the record",
                "{\"a\":\"\\ud800\\n\"}|An escape in a string is not valid at byte 6 of the record",
                "{\"a\":\"\\ud800\\u12\"}|An escape in a string is not valid at byte 6 of the record",
                "{\"a\":\"\\u12\"}|An escape in a string is not valid at byte 6 of the record",
                "{\"a\":\"\\ud800\\u1|The JSON object, which must be one line, is cut off at byte 15 of the record",
                "{\"a\":\"\\ud800|The JSON object, which must be one line, is cut off at byte 12 of the record",
                "{\"a\":\"\\u1|The JSON object, which must be one line, is cut off at byte 9 of the record",
                "{\"a\":\"|The JSON object, which must be one line, is cut off at byte 6 of the record",
                "{\"a\"|The JSON object, which must be one line, is cut off at byte 4 of the record",
                "{\"a\":|The JSON object, which must be one line, is cut off at byte 5 of the record",
                "{\"a\":-|The JSON object, which must be one line, is cut off at byte 6 of the record",
                "{\"a\":[|The JSON object, which must be one line, is cut off at byte 6 of the record",
                "{|The JSON object, which must be one line, is cut off at byte 1 of the record",
            })
    void a_malformed_record_is_told_what_is_wrong_and_where(String record, String message) {
        assertThat(A.refusal(record)).isEqualTo(new Malformed(Reason.MALFORMED, message));
    }

    @Test
    void invalid_utf_8_is_malformed_also_in_a_name_and_in_a_field_that_nobody_reads() {
        for (String record : List.of("{\"a\":\"?\"}", "{\"?\":1}", "{\"b\":\"12345678?\"}")) {
            byte[] bytes = record.getBytes(StandardCharsets.UTF_8);
            bytes[record.indexOf('?')] = (byte) 0xff;
            Malformed malformed = A.decode(bytes);
            assertThat(malformed)
                    .isEqualTo(new Malformed(
                            Reason.MALFORMED,
                            "A string is not valid UTF-8 at byte " + record.indexOf('?') + " of the record"));
        }
    }

    @Test
    void every_beginning_of_a_record_is_malformed_and_most_are_said_to_be_cut_off() {
        String record = "{\"b\":[true,{\"c\":-1.5e+3}],\"a\":\"x\\n\\ud834\\udd1eé€😀\",\"d\":null} ";
        byte[] bytes = record.getBytes(StandardCharsets.UTF_8);
        for (int length = 0; length < bytes.length - 1; length++) {
            assertThat(A.decode(java.util.Arrays.copyOf(bytes, length))).isNotNull();
        }
        assertThat(A.group(record)).containsExactly("x\n𝄞é€😀");
    }

    @Test
    void nesting_is_64_deep_at_most_in_objects_and_arrays_wanted_or_not() {
        String path = String.join(".", IntStream.range(0, 64).mapToObj(i -> "a").toList());
        assertThat(Decoding.level(path).group("{\"a\":".repeat(64) + "7" + "}".repeat(64)))
                .containsExactly("7");
        assertThat(A.decode("{\"b\":" + "[".repeat(63) + "]".repeat(63) + "}")).isNull();
        assertThat(A.decode("{\"b\":" + "{\"c\":".repeat(63) + "1" + "}".repeat(63) + "}"))
                .isNull();
        for (String deep : List.of(
                "{\"b\":" + "[".repeat(64) + "]".repeat(64) + "}",
                "{\"a\":".repeat(65) + "7" + "}".repeat(65),
                "{\"b\":" + "[".repeat(200_000),
                "{\"b\":".repeat(100_000))) {
            assertThat(A.refusal(deep).message()).startsWith("JSON is nested deeper than 64 at byte ");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a|{\"a\":1}",
                "a|{\"b\":2,\"a\":1,\"A\":3}",
                "a|{\"a\":1,\"aa\":2,\"\":3}",
                "a|{\"\\u0061\":1}",
                "a|{\"b\":{\"a\":2},\"a\":1}",
                "a.b|{\"a\":{\"b\":1}}",
                "a.b|{\"a.b\":2,\"b\":2,\"a\":{\"c\":{\"b\":2},\"b\":1}}",
                "a.b.c.d|{\"a\":{\"b\":{\"x\":[{\"c\":2}],\"c\":{\"d\":1}}}}",
                "\"a.b\"|{\"a\":{\"b\":2},\"a.b\":1}",
                "a.\"b.c\"|{\"a\":{\"b\":{\"c\":2},\"b.c\":1}}",
                "\"a\"\"b\"|{\"a\\\"b\":1}",
                "\" \"|{\" \":1}",
                "\"\u00e4\"|{\"\u00e4\":1}",
                "\"\u00e4\"|{\"\\u00e4\":1}",
                "\"\uD834\uDD1E\"|{\"\\ud834\\udd1e\":1}",
                "a-b_c@1|{\"a-b_c@1\":1}",
            })
    void a_field_is_found_by_its_path(String path, String record) {
        assertThat(Decoding.level(path).group(record)).containsExactly("1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"a\":null}",
                "{\"a\":1}",
                "{\"a\":\"b\"}",
                "{\"a\":[{\"b\":1}]}",
                "{\"a\":{}}",
                "{\"a\":{\"b\":null}}",
                "{\"a\":{\"B\":1}}",
                "{\"b\":1,\"a.b\":1}",
            })
    void a_path_that_leads_nowhere_or_to_null_is_missing(String record) {
        assertThat(Decoding.level("a.b missing \"none\"").group(record)).containsExactly("none");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":{\"b\":1},\"c\":1,\"c\":1}",
                "{\"c\":1,\"a\":{\"b\":1,\"b\":1}}",
                "{\"c\":1,\"a\":{\"b\":1},\"a\":{}}",
                "{\"c\":1,\"a\":1,\"a\":{\"b\":1}}",
                "{\"c\":1,\"a\":null,\"a\":{\"b\":1}}",
                "{\"a\":{\"b\":1},\"c\":1,\"\\u0063\":1}",
                "{\"c\":null,\"a\":{\"b\":1},\"c\":null}",
            })
    void a_field_that_is_read_and_stands_twice_is_malformed(String record) {
        Decoding decoding = Decoding.of(
                PipelineBuilder.named("p").rollup(r -> r.levels("a.b", "c").count("n")));
        assertThat(decoding.refusal(record).message()).contains(" stands twice at byte ");
        assertThat(decoding.group("{\"c\":1,\"a\":{\"b\":1,\"c\":5,\"c\":6},\"x\":1,\"x\":1}"))
                .as("after it")
                .containsExactly("1", "1");
    }

    @Test
    void the_order_of_fields_does_not_matter_and_one_record_leaves_nothing_to_the_next() {
        Decoding decoding = Decoding.of(PipelineBuilder.named("p")
                .rollup(r -> r.levels("a missing \"-\"", "b missing \"-\"", "c.d missing \"-\"", "c missing \"-\"")
                        .count("n")));
        assertThat(decoding.group("{\"a\":1,\"b\":2,\"c\":3}")).containsExactly("1", "2", "-", "3");
        assertThat(decoding.group("{\"c\":3,\"b\":2,\"a\":1}")).containsExactly("1", "2", "-", "3");
        assertThat(decoding.group("{\"b\":2}")).containsExactly("-", "2", "-", "-");
        assertThat(decoding.decode("{\"b\":2,\"a\":1")).isNotNull();
        assertThat(decoding.group("{}")).containsExactly("-", "-", "-", "-");
        assertThat(decoding.refusal("{\"c\":{\"d\":4}}").message()).contains("Field c is not text or a number");
    }

    @Test
    void strings_of_every_length_and_alignment_end_where_they_end() {
        for (int length = 0; length < 40; length++) {
            for (String end : List.of("", "\\\"", "é", "\\\\", "\\n", "\u007f", "😀")) {
                String text = "x".repeat(length) + end;
                String said = text.replace("\\\"", "\"").replace("\\n", "\n").replace("\\\\", "\\");
                assertThat(A.group("{\"a\":\"" + text + "\"}")).containsExactly(said);
                assertThat(A.group("{\"" + text + "b\":0,\"a\":\"" + text + text + "\"}"))
                        .containsExactly(said + said);
                assertThat(A.refusal("{\"a\":\"" + text).message())
                        .startsWith("The JSON object, which must be one line, is cut off");
                assertThat(A.refusal("{\"a\":\"" + text + "\u0019\"}").message())
                        .startsWith("A string holds a control character");
            }
        }
    }

    @Test
    void a_record_has_up_to_10_mebibytes() {
        int max = 10 * 1024 * 1024;
        String most = "{\"b\":\"" + "x".repeat(max - 8) + "\"}";
        assertThat(most).hasSize(max);
        assertThat(A.decode(most)).isNull();
        assertThat(A.refusal(most + " "))
                .isEqualTo(
                        new Malformed(Reason.TOO_LARGE, "The record has 10485761 bytes; at most 10485760 are allowed"));
    }
}
