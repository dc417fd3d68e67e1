package dev.onefold.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.onefold.core.grammar.Reading;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Every file is read or refused with problems that can be shown.
class FileRobustnessTest {
    private static final List<String> PIECES = List.of(
            "pipeline",
            "input",
            "key",
            "rollup",
            "levels",
            "measures",
            "count()",
            "sum(a) decimal(18,2)",
            ": ",
            ":",
            "- ",
            "\n",
            "\n  ",
            "\n    ",
            " ",
            "\t",
            "\r\n",
            "\r",
            "[",
            "]",
            "{",
            "}",
            ",",
            "'",
            "\"",
            "\\",
            "\\x41",
            "\\u00",
            "\\n",
            "|",
            ">",
            "|-",
            ">2",
            "#",
            " #",
            "&a ",
            "*a",
            "*b ",
            "!t ",
            "!!str ",
            "%YAML 1.2\n",
            "---\n",
            "...\n",
            "? ",
            "<<",
            "~",
            "null",
            "a",
            "1",
            "@",
            "`",
            "\u0000",
            "\u0085",
            "\u2028",
            "\ufeff",
            "𝄞",
            "漢",
            "ä");

    private static final String WHOLE = """
            pipeline: trade-risk
            input: {format: csv, delimiter: ';', key: [TradeID, "Desk"], version: Version, time: Timestamp}
            rollups:
              one:
                levels: ["bucket(Timestamp, 1h)", Region missing "x"]
                measures:
                  value: sum(Value) decimal(18,2)
                  text: >-
                    distinct(a)
                    missing ignore
            """;

    @Test
    @Tag("campaign")
    void random_yaml_is_read_or_refused() {
        for (long seed = 0; seed < 5_000; seed++) {
            Random random = new Random(seed);
            String text = IntStream.range(0, random.nextInt(25))
                    .mapToObj(i -> PIECES.get(random.nextInt(PIECES.size())))
                    .reduce("", String::concat);
            judge(text.getBytes(StandardCharsets.UTF_8), "seed " + seed);
        }
    }

    @Test
    void a_damaged_file_is_read_or_refused() {
        for (long seed = 0; seed < 3_000; seed++) {
            Random random = new Random(seed);
            byte[] bytes = WHOLE.getBytes(StandardCharsets.UTF_8);
            for (int i = random.nextInt(4); i >= 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte)
                        (random.nextBoolean()
                                ? random.nextInt(256)
                                : ":-[]{}'\"#&*!|> \n\t".charAt(random.nextInt(17)));
            }
            int length = random.nextInt(4) == 0 ? random.nextInt(bytes.length) : bytes.length;
            judge(Arrays.copyOf(bytes, length), "seed " + seed);
        }
    }

    @Test
    @Tag("campaign")
    void a_mebibyte_of_anything_is_judged_in_seconds() {
        List<String> pieces =
                List.of("[", "{", "- ", "? ", "[a,", "\n", "' ", "\"\\u0041", "&a ", "|\n", "%", "a: 1\n", "\u0000");
        for (String piece : pieces) {
            String text = piece.repeat(PipelineFile.FILE_BYTES_MAX / piece.length());
            assertTimeoutPreemptively(
                    Duration.ofSeconds(20),
                    () -> judge(text.getBytes(StandardCharsets.UTF_8), "a mebibyte of " + piece));
        }
        for (String start : List.of("pipeline: p\ninput:\n  filter: ", "pipeline: p\nrollup: {levels: [", "a: \"")) {
            String text = start + "not (\\u0041 ".repeat(80_000);
            assertTimeoutPreemptively(
                    Duration.ofSeconds(20), () -> judge(text.getBytes(StandardCharsets.UTF_8), "much behind " + start));
        }
    }

    private static void judge(byte[] bytes, String what) {
        PipelineFile file;
        String shown;
        try {
            file = PipelineFile.of(bytes);
            shown = file.problems("p.yaml");
        } catch (RuntimeException | StackOverflowError thrown) {
            throw new AssertionError(what, thrown);
        }
        assertThat(shown.isEmpty()).as(what).isEqualTo(file.reading() instanceof Reading.Read);
    }
}
