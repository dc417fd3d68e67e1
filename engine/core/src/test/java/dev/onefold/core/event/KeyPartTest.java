package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Key;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Parts of keys: their types, the values that may be missing, and composed characters.
class KeyPartTest {
    private static Pipeline keyed(Object key) {
        return PipelineBuilder.named("p")
                .identity("key", key)
                .version("v")
                .rollup(r -> r.count("n"))
                .build();
    }

    private static List<String> key(Pipeline pipeline, String record) {
        Event event = Decoding.of(pipeline).event(record);
        return Key.parts(pipeline, event.identity().key());
    }

    private static Pipeline read(String input) {
        return ((Reading.Read) PipelineText.read("{\"pipeline\":\"p\",\"input\":{" + input
                        + "},\"rollup\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}"))
                .pipeline();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "1e0", "1E+2", "-0", "0.50", "-0.0", "10e-1", "12345678901234567890.0", "0e5"})
    void a_text_that_is_an_unusual_number_is_no_key_without_a_type_and_the_message_says_both_ways(String text) {
        String record = "{\"k\":\"" + text + "\",\"v\":1}";
        String message = Decoding.of(keyed("k")).refusal(record).message();
        assertThat(message).startsWith("Field k is the text '" + text + "'; as a key it would differ");
        String asText = message.replaceFirst(".* (\\{.*?}) if it is a text", "$1");
        assertThat(key(read("\"key\":" + asText + ",\"version\":\"v\""), record))
                .containsExactly(text);
        assertThat(message.contains("integer")).isEqualTo(!text.equals("0.50"));
        if (message.contains("integer")) {
            String asInteger = message.replaceFirst(".*?(\\{.*?}) if it is a number.*", "$1");
            assertThat(key(read("\"key\":" + asInteger + ",\"version\":\"v\""), record))
                    .containsExactly(new BigDecimal(text).toBigIntegerExact().toString());
        }
        Decoding ids = Decoding.of(PipelineBuilder.named("p").id("k", "v").rollup(r -> r.count("n")));
        assertThat(ids.refusal(record).message()).contains("under id: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "007", "-1", "0", "1.5", "-0.5", "1e", "e1", "1.", ".5", "+1", "1.0.0", "00.0", "-"})
    void any_other_text_is_a_key_as_it_is(String text) {
        String record = "{\"k\":\"" + text + "\",\"v\":1}";
        assertThat(key(keyed("k"), record)).containsExactly(text);
        assertThat(key(keyed(List.of("k", "v")), record)).containsExactly(text, "1");
    }

    @Test
    void a_number_is_a_key_in_all_its_forms_and_before_edition_3_a_text_is_itself() {
        assertThat(key(keyed("k"), "{\"k\":1.0,\"v\":1}")).containsExactly("1");
        Pipeline before = PipelineBuilder.named("p")
                .edition(2)
                .key("k")
                .version("v")
                .rollup(r -> r.count("n"))
                .build();
        assertThat(key(before, "{\"k\":\"1.0\",\"v\":1}")).containsExactly("1.0");
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1",
        "\"1\", 1",
        "\"1.0\", 1",
        "\"\\u0031e0\", 1",
        "\"007\", 7",
        "\"-0\", 0",
        "-0, 0",
        "1.5e1, 15",
        "\"-12\", -12",
        "\"123456789012345678901234567890.0\", 123456789012345678901234567890",
    })
    void the_spellings_of_an_integer_are_one_key(String json, String expected) {
        Map<String, String> part = Map.of("field", "k", "type", "integer");
        assertThat(key(keyed(part), "{\"k\":" + json + ",\"v\":1}")).containsExactly(expected);
        assertThat(key(keyed(List.of("v", part)), "{\"k\":" + json + ",\"v\":1}"))
                .containsExactly("1", expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"x\"", "1.5", "\"1.5\"", "\"\"", "true", "{}", "\"1e2000\"", "\" 1\""})
    void any_other_value_of_an_integer_key_is_refused(String json) {
        Decoding integers = Decoding.of(keyed(Map.of("field", "k", "type", "integer")));
        assertThat(integers.refusal("{\"k\":" + json + ",\"v\":1}").message())
                .matches("Field k is .*(not an integer|not text or a number); it is part of the key");
    }

    @Test
    void an_integer_with_separators_of_csv_is_the_key_that_its_measure_would_be() {
        Decoding german = Decoding.of(local());
        for (String text : List.of("1.000", "1000", "1.000,0", "1000,0", "\"1.000\"")) {
            assertThat(key(local(), text + ";1")).as(text).containsExactly("1000");
        }
        assertThat(key(local(), "-1.234.567;1")).containsExactly("-1234567");
        for (String text : List.of("1.0", "1,5", "1.00", "1000.000")) {
            assertThat(german.refusal(text + ";1").message())
                    .isEqualTo("Field k is '" + text + "', which is not an integer; it is part of the key");
        }
    }

    @Test
    void a_number_with_separators_of_csv_is_no_key_without_a_type() {
        Decoding untyped = Decoding.of(PipelineBuilder.named("p")
                .csv("k", "v")
                .delimiter(';')
                .numbers(',', '.')
                .key("k")
                .version("v")
                .rollup(r -> r.count("n")));
        for (String text : List.of("7,0", "1.000", "7,5", "\"7,0\"")) {
            assertThat(untyped.refusal(text + ";1").message())
                    .startsWith("Field k is the text '" + text.replace("\"", "") + "'; as a key it would differ from");
        }
        for (String text : List.of("7", "10.0.0.1", "01.02.2024", "7-0")) {
            assertThat(untyped.event(text + ";1").silence).isNull();
        }
    }

    private static Pipeline local() {
        return PipelineBuilder.named("p")
                .csv("k", "v")
                .delimiter(';')
                .numbers(',', '.')
                .identity("key", Map.of("field", "k", "type", "integer"))
                .version("v")
                .rollup(r -> r.count("n"))
                .build();
    }

    @Test
    void what_stands_for_a_missing_part_is_in_the_key_and_the_message_says_how_to_write_it() {
        String record = "{\"k\":null,\"v\":1}";
        String message = Decoding.of(keyed(List.of("k", "v"))).refusal(record).message();
        assertThat(message)
                .startsWith("Field k is null; it is part of the key. If it may be, write for it under key: ");
        Pipeline advised = read("\"key\":[" + message.replaceFirst(".*?(\\{.*})", "$1") + ",\"v\"],\"version\":\"v\"");
        assertThat(key(advised, record)).containsExactly("", "1");
        assertThat(key(advised, "{\"k\":\"\",\"v\":1}")).containsExactly("", "1");
        assertThat(key(keyed(Map.of("field", "k", "missing", "none")), "{\"v\":1}"))
                .containsExactly("none");
    }

    @Test
    void composed_and_decomposed_characters_are_one_text_if_the_file_says_so() {
        PipelineBuilder builder = PipelineBuilder.named("p")
                .key("k")
                .version("v")
                .rollup(r -> r.levels("k", "prefix(k, 3)").distinct("d", "k"));
        String composed = "{\"k\":\"Zo\u00eb!\",\"v\":1}";
        String decomposed = "{\"k\":\"Zoe\u0308!\",\"v\":1}";
        assertThat(key(builder.build(), decomposed)).containsExactly("Zoe\u0308!");
        Pipeline normal = builder.normalized().build();
        Event one = Decoding.of(normal).event(composed);
        Event other = Decoding.of(normal).event(decomposed);
        assertThat(java.util.Arrays.copyOf(other.data, other.length))
                .isEqualTo(java.util.Arrays.copyOf(one.data, one.length));
        assertThat(key(normal, decomposed)).containsExactly("Zo\u00eb!");
        Pipeline instead =
                read("\"normalize\":\"nfc\",\"key\":{\"field\":\"k\",\"missing\":\"Zoe\u0308!\"},\"version\":\"v\"");
        assertThat(key(instead, "{\"v\":1}")).isEqualTo(key(normal, composed));
        assertThat(PipelineText.write(normal)).contains("\"normalize\":\"nfc\"");
    }

    @Test
    void a_condition_compares_composed_characters_too_if_the_file_says_so() {
        for (String literal : List.of("gel\u00f6scht", "gelo\u0308scht")) {
            Pipeline pipeline = PipelineBuilder.named("p")
                    .key("k")
                    .version("v")
                    .delete("k = \"" + literal + "\"")
                    .normalized()
                    .rollup(r -> r.count("n"))
                    .build();
            for (String text : List.of("gel\u00f6scht", "gelo\u0308scht")) {
                String record = "{\"k\":\"" + text + "\",\"v\":1}";
                assertThat(Decoding.of(pipeline).event(record).kind).isEqualTo(Event.Kind.DELETE);
            }
        }
    }

    @Test
    void the_text_of_a_pipeline_has_the_parts_of_a_key() {
        String parts = "\"key\":[\"k\",{\"field\":\"l\",\"type\":\"integer\"},{\"field\":\"m\",\"missing\":\"\"}],"
                + "\"version\":\"v\"";
        assertThat(PipelineText.write(read(parts))).contains(parts);
    }
}
