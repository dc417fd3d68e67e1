package dev.onefold.cli.show;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.form.GroupPath;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonText;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WordsTest {
    @Test
    void numbers_have_thousands_separators_and_all_their_digits() {
        assertThat(Words.number(new BigDecimal("0"))).isEqualTo("0");
        assertThat(Words.number(new BigDecimal("-999"))).isEqualTo("-999");
        assertThat(Words.number(new BigDecimal("-1000.50"))).isEqualTo("-1,000.50");
        assertThat(Words.number(new BigDecimal("12345678901234567890123456789012345678.90")))
                .isEqualTo("12,345,678,901,234,567,890,123,456,789,012,345,678.90");
        assertThat(Words.number(new BigDecimal("1E+6"))).isEqualTo("1,000,000");
        assertThat(Words.number(null)).isEqualTo("-");
    }

    @Test
    void a_difference_has_its_sign() {
        assertThat(Words.difference(new BigDecimal("1000"))).isEqualTo("+1,000");
        assertThat(Words.difference(new BigDecimal("-0.01"))).isEqualTo("-0.01");
    }

    @Test
    void durations_and_sizes_are_as_long_as_they_need() {
        assertThat(Words.duration(Duration.ofMillis(420))).isEqualTo("0.4 s");
        assertThat(Words.duration(Duration.ofSeconds(185))).isEqualTo("3 min 05 s");
        assertThat(Words.duration(Duration.ofMinutes(130))).isEqualTo("2 h 10 min");
        assertThat(Words.bytes(999)).isEqualTo("999 bytes");
        assertThat(Words.bytes(1)).isEqualTo("1 byte");
        assertThat(Words.bytes(361_999_999)).isEqualTo("362.0 MB");
    }

    @Test
    void nothing_that_a_terminal_obeys_is_shown() {
        assertThat(Words.group("\033[31mred\nline\u202e")).isEqualTo("\\u001b[31mred\\nline\\u202e");
        assertThat(Words.group("")).isEqualTo("\"\"");
    }

    @Test
    void words_are_wrapped_between_each_other() {
        assertThat(Words.wrap("aaa bbb ccc", 7)).isEqualTo("aaa bbb\n  ccc");
        assertThat(Words.wrap("aaaaaaaaaa b", 4)).isEqualTo("aaaaaaaaaa\n  b");
        assertThat(Words.indented("aaa bbb ccc", "    ", 11)).isEqualTo("    aaa bbb\n    ccc");
    }

    @Test
    void every_group_can_be_written_as_a_path_and_read_back() {
        Random random = new Random(42);
        String alphabet = "a/\\\"' ,é\u0000日";
        for (int i = 0; i < 1_000; i++) {
            List<String> group = new ArrayList<>();
            for (int level = 0; level <= random.nextInt(3); level++) {
                StringBuilder value = new StringBuilder();
                for (int length = random.nextInt(5); length >= 0; length--) {
                    value.append(alphabet.charAt(random.nextInt(alphabet.length())));
                }
                group.add(value.toString());
            }
            assertThat(GroupPath.parse(GroupPath.write(group))).isEqualTo(group);
        }
        assertThat(GroupPath.parse("")).isEmpty();
        assertThat(GroupPath.parse("A//B")).containsExactly("A", "", "B");
        assertThatThrownBy(() -> GroupPath.parse("A\\x")).hasMessageContaining("character 2");
    }

    @Test
    void json_holds_any_text_and_is_read_back() {
        String text = "\"\\\n\t\u0001\u007f\u009béd日😀\ud800";
        Problems problems = new Problems();
        assertThat(JsonText.read(Json.of(List.of(text)), problems))
                .isInstanceOfSatisfying(
                        Node.Sequence.class,
                        list -> assertThat(((Node.Scalar) list.items().getFirst()).text())
                                .isEqualTo(text));
        assertThat(Json.of(Arrays.asList(new BigDecimal("1E+3"), null, true, 7L)))
                .isEqualTo("[1000,null,true,7]");
    }
}
