package dev.onefold.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProblemTextTest {
    private static final String ROLLUP = "rollup: {levels: [], measures: {n: count()}}\n";

    @Test
    void a_problem_is_shown_with_its_line_and_a_caret_under_its_column() {
        assertThat(shown("""
                        pipeline: trades
                        input:
                          key: TradeID
                          versoin: Version
                        rollup:
                          levels: [Hierarchy.Region]
                          measures:
                            value: sum(Value) decimal(18;2)
                        """)).isEqualTo("""
                        pipeline.yaml:3:3: input.key: has no version beside it: nothing would say which
                          of two records is newer; write version: FIELD; or write id in place of key if
                          each record counts
                          3 |   key: TradeID
                            |   ^

                        pipeline.yaml:4:3: input.versoin: 'versoin' is not a setting of input; did you
                          mean 'version'?
                          4 |   versoin: Version
                            |   ^

                        pipeline.yaml:8:33: rollup.measures.value: ';2' is unexpected, expected ',';
                          write decimal(precision,scale): digits in all, 1 to 38, and digits after the
                          point, 0 to precision
                          8 |     value: sum(Value) decimal(18;2)
                            |                                 ^
                        """);
    }

    @Test
    void a_long_line_is_cut_around_the_caret() {
        String before = "a = 'x' or ".repeat(20);
        String after = " or b = 'y'".repeat(20);
        assertThat(shown("pipeline: p\ninput:\n  filter: " + before + "a == 'x'" + after + "\n" + ROLLUP))
                .endsWith("""
                          3 | … a = 'x' or a = 'x' or a = 'x' or a == 'x' or b = 'y' or b = 'y' or b = …
                            |                                      ^
                        """);
        assertThat(shown("pipeline: p\ninput:\n  filter: a == 'x'" + after + "\n" + ROLLUP))
                .endsWith("""
                          3 |   filter: a == 'x' or b = 'y' or b = 'y' or b = 'y' or b = 'y' or b = 'y'…
                            |             ^
                        """);
        assertThat(shown("pipeline: p\ninput:\n  filter: " + before + "a\n" + ROLLUP))
                .endsWith("""
                          3 | …' or a = 'x' or a = 'x' or a = 'x' or a = 'x' or a = 'x' or a = 'x' or a
                            |                                                                          ^
                        """);
    }

    @Test
    void wide_combining_and_invisible_characters_keep_the_caret_in_place() {
        assertThat(shown("pipeline: p\ninput:\n  filter: a = '漢字e\u0301\t\u200f' AND b\n" + ROLLUP))
                .endsWith("""
                          3 |   filter: a = '漢字e\u0301 ·' AND b
                            |                         ^
                        """);
    }

    @Test
    void no_line_is_wider_than_80_columns_whatever_stands_in_the_file() {
        for (String text : new String[] {
            "x".repeat(500) + ": 1",
            "pipeline: " + "P".repeat(500),
            "pipeline: " + "漢".repeat(500),
            "pipeline: p\ninput: {" + "y".repeat(200) + ": 1}\nrollups: {" + "Z".repeat(200) + ": {" + "z".repeat(300)
                    + ": 2}}",
            "\n".repeat(12_345) + " ".repeat(500) + "a: b: c",
            "- ".repeat(500)
        }) {
            String shown = shown(text);
            assertThat(shown).isNotEmpty();
            assertThat(shown.lines())
                    .allSatisfy(line -> assertThat(columns(line)).isLessThanOrEqualTo(80));
        }
    }

    @Test
    void a_file_cannot_make_the_terminal_do_anything() {
        assertThat(shown("pipeline: \"\u202e\\e[31m\\a\"")).doesNotContainPattern("[\\p{Cntrl}\\p{Cf}&&[^\n]]");
    }

    @Test
    void what_has_no_line_is_shown_without_one() {
        assertThat(shown(""))
                .isEqualTo("pipeline.yaml:1:1: The file is empty; write a pipeline, as docs/pipelines.md\n  shows\n");
    }

    private static int columns(String line) {
        return line.codePoints()
                .map(codePoint -> Character.isIdeographic(codePoint) ? 2 : 1)
                .sum();
    }

    private static String shown(String yaml) {
        return PipelineFile.of(yaml.getBytes(StandardCharsets.UTF_8)).problems("pipeline.yaml");
    }
}
