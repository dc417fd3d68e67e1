package dev.onefold.api.body;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonArrayTest {
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
        return new String(JsonArray.lines(content.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8);
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
            assertThat(JsonArray.begins(content.toString().getBytes(StandardCharsets.UTF_8)))
                    .isTrue();
            assertThat(lines(content.toString()).lines().map(String::strip).toList())
                    .isEqualTo(elements);
        });
    }

    @Test
    void an_object_over_many_lines_is_one_line() {
        assertThat(lines("[\n  {\n    \"id\": 1\n  }\n]\n").strip()).isEqualTo("{     \"id\": 1   }");
        assertThat(lines("[]")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "[{\"a\":1}~does not end",
                "[{\"a\":1},]~lacks an element",
                "[,{\"a\":1}]~lacks an element",
                "[1,,2]~lacks an element",
                "[1] [2]~has more behind its end",
                "[1}~ends in }",
                "[\"a~has a text that does not end",
                "[\"a\\~has a text that does not end",
            })
    void what_is_no_array_is_refused_whole(String content, String problem) {
        assertThatThrownBy(() -> lines(content))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(problem);
        assertThatThrownBy(() -> lines("[\"a\nb\"]")).hasMessageContaining("has a text that does not end");
    }
}
