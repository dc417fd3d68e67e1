package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Conditions, as in the reference: with texts, with numbers, with missing fields.
class ConditionsTest {
    private static boolean holds(String condition, String record) {
        return Decoding.filter(condition).counts(record);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "f = \"x\"|{\"f\":\"x\"}|true",
                "f = \"x\"|{\"f\":\"X\"}|false",
                "f = \"x\"|{\"f\":\"xx\"}|false",
                "f = \"x\"|{\"f\":\"\\u0078\"}|true",
                "f = \"5.5\"|{\"f\":5.50}|true",
                "f = \"5.50\"|{\"f\":5.50}|false",
                "f = \"true\"|{\"f\":true}|true",
                "f = true|{\"f\":true}|true",
                "f = true|{\"f\":\"true\"}|true",
                "f = true|{\"f\":false}|false",
                "f = false|{\"f\":false}|true",
                "f = ''|{\"f\":\"\"}|true",
                "f = 'it''s'|{\"f\":\"it's\"}|true",
                "f = \"a\"\"b\"|{\"f\":\"a\\\"b\"}|true",
                "f != \"x\"|{\"f\":\"x\"}|false",
                "f != \"x\"|{\"f\":\"y\"}|true",
                "f != \"x\"|{\"f\":\"\\u0078\"}|false",
                "f != true|{\"f\":false}|true",
                "f in (\"x\", \"y\")|{\"f\":\"y\"}|true",
                "f in (\"x\", \"y\")|{\"f\":\"z\"}|false",
                "f in (\"1\", \"y\")|{\"f\":1.0}|true",
                "f not in (\"x\", \"y\")|{\"f\":\"y\"}|false",
                "f not in (\"x\", \"y\")|{\"f\":\"z\"}|true",
                "f not in (\"x\")|{\"f\":\"\\u0079\"}|true",
            })
    void a_field_is_compared_with_texts_as_text(String condition, String record, boolean holds) {
        assertThat(holds(condition, record)).isEqualTo(holds);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "f = 100.5|{\"f\":100.50}|true",
                "f = 100.5|{\"f\":\"1005e-1\"}|true",
                "f = 100.5|{\"f\":\"\\u0031005e-1\"}|true",
                "f = 100.5|{\"f\":100.51}|false",
                "f != 100|{\"f\":100.0}|false",
                "f != 100|{\"f\":99}|true",
                "f < 0|{\"f\":-0.000000000000000000000000000000001}|true",
                "f < 0|{\"f\":-0.0}|false",
                "f <= 0|{\"f\":-0.0}|true",
                "f > 9|{\"f\":\"10\"}|true",
                "f > 9|{\"f\":9}|false",
                "f >= 9|{\"f\":9.000}|true",
                "f >= 9|{\"f\":8.999}|false",
                "f <= 9|{\"f\":9.001}|false",
                "f > 9999999999999999999999999999|{\"f\":10000000000000000000000000000}|true",
                "f > 5|{\"f\":1e999999999}|true",
                "f < 5|{\"f\":1e-999999999}|true",
                "f = -0.5|{\"f\":-5e-1}|true",
            })
    void a_field_is_compared_with_a_number_as_a_decimal(String condition, String record, boolean holds) {
        assertThat(holds(condition, record)).isEqualTo(holds);
    }

    @Test
    void a_field_that_is_no_number_cannot_be_compared_with_one() {
        for (String value : List.of("\"x\"", "\"\"", "true", "{}", "[1]", "\"1,5\"", "\"NaN\"", "\"0x1\"")) {
            for (String condition : List.of("f > 5", "f != 5", "not f = 5")) {
                Malformed refusal = Decoding.filter(condition).refusal("{\"f\":" + value + "}");
                assertThat(refusal.reason()).isEqualTo(Reason.REFUSED);
                assertThat(refusal.message())
                        .startsWith("Field f is '")
                        .endsWith("which is not a number, but a condition compares it with 5");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "f = true, true, true",
        "f = true, false, false",
        "f != true, false, true",
        "f = true, \"true\", true",
        "f = true, \"tru\\u0065\", true",
        "f = false, \"false\", true",
        "f = true, \"t\", true",
        "f = true, \"f\", false",
        "f in (false), \"f\", true",
        "f = true, 1, true",
        "f = true, \"1\", true",
        "f = true, 0, false",
        "f = true, null, false",
        "f != true, null, false",
    })
    void a_comparison_with_true_or_false_takes_the_spellings_that_the_file_lists(
            String condition, String value, boolean holds) {
        Decoding listed = Decoding.of(PipelineBuilder.named("p")
                .truths("t", "1")
                .falsehoods("f", "0")
                .filter(condition)
                .rollup(r -> r.count("n")));
        assertThat(listed.counts("{\"f\":" + value + "}")).isEqualTo(holds);
    }

    @Test
    void a_comparison_with_true_or_false_refuses_any_other_value_and_says_what_to_write() {
        for (String value : List.of("\"t\"", "\"TRUE\"", "1", "\"\"", "\"it's\"")) {
            String message = Decoding.filter("f != false")
                    .refusal("{\"f\":" + value + "}")
                    .message();
            assertThat(message).contains("neither true nor false");
            for (String setting : List.of("truths", "falsehoods")) {
                String line = message.replaceFirst(".*'(" + setting + ": \\[.*?])'.*", "$1")
                        .replace(setting, "\"" + setting + "\"");
                Pipeline advised = ((Reading.Read)
                                PipelineText.read("{\"pipeline\":\"p\",\"input\":{\"filter\":\"f != false\"," + line
                                        + "}," + "\"rollup\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}"))
                        .pipeline();
                assertThat(Decoding.of(advised).counts("{\"f\":" + value + "}")).isEqualTo(setting.equals("truths"));
            }
        }
        for (String value : List.of("{}", "1e2000", "\"" + "x".repeat(21) + "\"")) {
            assertThat(Decoding.filter("f = true")
                            .refusal("{\"f\":" + value + "}")
                            .message())
                    .endsWith("compares it with true or false");
        }
    }

    @Test
    void before_edition_3_true_and_false_are_texts() {
        Decoding before = Decoding.of(PipelineBuilder.named("p")
                .edition(2)
                .filter("f != true")
                .rollup(r -> r.count("n").count("t", "g = true")));
        assertThat(before.counts("{\"f\":\"t\",\"g\":\"TRUE\"}")).isTrue();
        assertThat(before.counts("{\"f\":true}")).isFalse();
    }

    @Test
    void before_edition_3_a_list_of_truths_makes_true_and_false_truths() {
        for (int edition = 1; edition <= 2; edition++) {
            PipelineBuilder builder = PipelineBuilder.named("p")
                    .edition(edition)
                    .filter("f != true")
                    .rollup(r -> r.count("n").count("t", "g = true"));
            String plain = PipelineText.write(builder.build());
            assertThat(plain).contains("f != \\\"true\\\"", "g = \\\"true\\\"");
            Decoding listed = Decoding.of(builder.truths("t"));
            assertThat(listed.counts("{\"f\":\"t\",\"g\":\"t\"}")).isFalse();
            assertThat(listed.counts("{\"f\":false,\"g\":\"t\"}")).isTrue();
            assertThat(listed.refusal("{\"f\":\"no\",\"g\":\"t\"}").message()).contains("neither true nor false");
            assertThat(listed.refusal("{\"f\":false,\"g\":\"no\"}").message()).contains("neither true nor false");
            Pipeline built = builder.build();
            assertThat(PipelineText.read(PipelineText.write(built))).isEqualTo(new Reading.Read(built));
        }
    }

    @Test
    void a_field_that_is_no_text_cannot_be_compared_with_one() {
        for (String value : List.of("{}", "[1]", "1e2000", "0." + "1".repeat(1_000))) {
            for (String condition : List.of("f = \"x\"", "f != \"x\"", "f in (\"x\", \"y\")")) {
                Malformed refusal = Decoding.filter(condition).refusal("{\"f\":" + value + "}");
                assertThat(refusal.reason()).isEqualTo(Reason.REFUSED);
                assertThat(refusal.message())
                        .startsWith("Field f is '")
                        .endsWith("which is no text, but a condition compares it with one");
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "f = \"x\"|false",
                "f != \"x\"|false",
                "f in (\"x\")|false",
                "f not in (\"x\")|false",
                "f = true|false",
                "f != true|false",
                "f = 5|false",
                "f != 5|false",
                "f < 5|false",
                "f >= 5|false",
                "not (f = \"x\")|true",
                "not f != \"x\"|true",
                "not f in (\"x\")|true",
                "not f < 5|true",
                "f is missing|true",
                "f is not missing|false",
                "not f is missing|false",
            })
    void a_comparison_with_a_missing_field_is_false_and_its_opposite_true(String condition, boolean holds) {
        assertThat(holds(condition, "{}")).isEqualTo(holds);
        assertThat(holds(condition, "{\"f\":null}")).isEqualTo(holds);
    }

    @Test
    void is_missing_asks_only_whether_something_is_there() {
        for (String value : List.of("0", "\"\"", "false", "{}", "[]", "1e999999999")) {
            assertThat(holds("f is missing", "{\"f\":" + value + "}")).isFalse();
            assertThat(holds("f is not missing", "{\"f\":" + value + "}")).isTrue();
        }
    }

    @Test
    void not_binds_before_and_before_or() {
        for (int bits = 0; bits < 8; bits++) {
            boolean a = (bits & 1) > 0;
            boolean b = (bits & 2) > 0;
            boolean c = (bits & 4) > 0;
            String record = "{\"a\":%b,\"b\":%b,\"c\":%b}".formatted(a, b, c);
            assertThat(holds("a = true or b = true and c = true", record)).isEqualTo(a || b && c);
            assertThat(holds("(a = true or b = true) and c = true", record)).isEqualTo((a || b) && c);
            assertThat(holds("not a = true and b = true", record)).isEqualTo(!a && b);
            assertThat(holds("not (a = true and b = true)", record)).isEqualTo(!(a && b));
            assertThat(holds("a = true and b = true and c = true", record)).isEqualTo(a && b && c);
            assertThat(holds("a = true or b = true or c = true", record)).isEqualTo(a || b || c);
            assertThat(holds("not not a = true", record)).isEqualTo(a);
        }
    }

    @Test
    void a_condition_is_asked_from_left_to_right_and_only_as_far_as_the_answer_needs() {
        String noNumber = "{\"kind\":\"x\",\"f\":\"no number\"}";
        assertThat(holds("kind = \"y\" and f > 5", noNumber)).isFalse();
        assertThat(holds("kind = \"x\" or f > 5", noNumber)).isTrue();
        assertThat(Decoding.filter("kind = \"x\" and f > 5").decode(noNumber)).isNotNull();
        assertThat(Decoding.filter("kind = \"y\" or f > 5").decode(noNumber)).isNotNull();
        assertThat(Decoding.filter("f > 5 or kind = \"x\"").decode(noNumber)).isNotNull();
        assertThat(Decoding.filter("f > 5 and kind = \"y\"").decode(noNumber)).isNotNull();
    }
}
