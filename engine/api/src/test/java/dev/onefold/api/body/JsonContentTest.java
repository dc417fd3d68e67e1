package dev.onefold.api.body;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Contents of requests that do not hold one record a line.
class JsonContentTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .json()
            .rollup(rollup -> rollup.count("n"))
            .build();

    private static final List<String> PARTS = List.of(
            "{\"id\":1}",
            "{\"a\":[1,{\"b\":\"]},[{\"}]}",
            "{\"q\":\"\\\"\"}",
            "{\"q\":\"\\\\\"}",
            "[]",
            "[[2],3]",
            "\",\"",
            "-1.5e3",
            "null",
            "{\"é\":\"😀\"}");
    private static final List<String> BLANKS = List.of("", "", " ", "\n", "\r\n\t");

    private static String lines(String content) {
        return lines("application/json", content);
    }

    private static String lines(String type, String content) {
        return ContentFormat.lines(type, PIPELINE, content.getBytes(StandardCharsets.UTF_8))
                .map(lines -> new String(lines, StandardCharsets.UTF_8))
                .orElse(content);
    }

    @Test
    void each_element_becomes_a_line() {
        Seeds.forAllSeeds(300, random -> {
            List<String> elements = new ArrayList<>();
            StringBuilder content = new StringBuilder(random.nextBoolean() ? "\ufeff[" : " [");
            for (int n = random.nextInt(6); n > 0; n--) {
                String element = PARTS.get(random.nextInt(PARTS.size()));
                content.append(elements.isEmpty() ? "" : ",")
                        .append(BLANKS.get(random.nextInt(BLANKS.size())))
                        .append(element)
                        .append(BLANKS.get(random.nextInt(BLANKS.size())));
                elements.add(element);
            }
            content.append("]").append(BLANKS.get(random.nextInt(BLANKS.size())));
            assertThat(lines(content.toString()).lines().toList()).isEqualTo(elements);
        });
    }

    @Test
    void an_object_over_many_lines_is_one_line() {
        assertThat(lines("[\n  {\n    \"id\": 1\n  }\n]\n").strip()).isEqualTo("{     \"id\": 1   }");
        assertThat(lines("[]")).isEmpty();
    }

    @Test
    void a_webhook_over_several_lines_is_one_record_and_none_of_its_lines_is() {
        String hook = "{\n \"id\": 1,\n \"lines\": [\n{\"id\": \"x\"}\n]\n}";
        assertThat(lines(hook).lines()).hasSize(1);
        assertThat(lines(hook + "\n" + hook).lines()).hasSize(2);
        assertThat(lines("{\"a\":1}{\"a\":2}").lines()).hasSize(2);
        for (String type : List.of("", "application/x-www-form-urlencoded", "application/x-ndjson")) {
            for (String content : List.of(hook, "[\n" + hook + "]", "[{\"id\":1},\n{\"id\":2}]")) {
                assertThatThrownBy(() -> lines(type, content))
                        .hasMessageContaining("is read as one object a line. Nothing was taken. Send it with"
                                + " Content-Type: application/json");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":1}",
                "{\"a\":1}\n{\"a\":2}\n",
                "{\"a\":1\n{\"a\":2}\n",
                "\n\n{\"a\":1}\n\n{\"a\":2}",
                "{\"a\":\r1}",
                "{\"a\":\r1}\r\n{\"a\":\r2}\r\n",
                "x",
                "",
                "{\"a\":1"
            })
    void lines_are_left_as_they_are(String content) {
        assertThat(lines(content)).isEqualTo(content);
        assertThat(lines("", content)).isEqualTo(content);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "[{\"a\":1}~the record that begins in line 1 has no end",
                "[1] x~an array is expected in line 1",
                "[\"a~the record that begins in line 1 has no end",
                "[\"a\\~the record that begins in line 1 has no end",
            })
    void what_is_no_array_is_refused_whole(String content, String problem) {
        assertThatThrownBy(() -> lines(content))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(problem);
        assertThatThrownBy(() -> lines("[\"a\nb\"]")).hasMessageContaining("has a line break inside of quotes");
        assertThatThrownBy(() -> lines("{\n\"a\":\n1")).hasMessageContaining("has no end");
    }
}
