package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.onefold.core.document.Problem;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// For every file, the reader answers with a pipeline or with problems that a terminal can show.
class ReaderRobustnessTest {
    private static final Pattern UNPRINTABLE = Pattern.compile("\\p{Cntrl}|\\p{Cf}|\\p{Cs}");
    private static final List<String> PIECES = List.of(
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "\\u00",
            "\\ud800",
            "\n",
            " ",
            "1",
            "-",
            ".",
            "e",
            "true",
            "null",
            "\"pipeline\"",
            "\"input\"",
            "\"key\"",
            "\"version\"",
            "\"rollup\"",
            "\"levels\"",
            "\"measures\"",
            "count()",
            "sum(a) decimal(18,2)",
            "missing",
            "ignore",
            "(",
            ")",
            "'",
            "=",
            "!=",
            "<",
            "and",
            "or",
            "not",
            "in",
            "is",
            "a",
            "\u0000",
            "\u001b[31m",
            "\u202e",
            "𝄞",
            "ä",
            "\ud800");

    @Test
    void random_pieces_are_refused_and_never_thrown_upon() {
        for (long seed = 0; seed < 10_000; seed++) {
            Random random = new Random(seed);
            judge(pieces(random, random.nextInt(30)), seed);
        }
    }

    @Test
    void random_expressions_are_read_or_refused() {
        for (long seed = 0; seed < 10_000; seed++) {
            Random random = new Random(seed);
            String expression = pieces(random, random.nextInt(12))
                    .replace("\\", "")
                    .replace("\"", "\\\"")
                    .replace("\n", " ")
                    .replace("\u0000", "")
                    .replace("\u001b", "");
            String json = random.nextBoolean()
                    ? Read.withInput("\"filter\": \"" + expression + "\"")
                    : Read.withRollup(
                            "\"levels\": [\"" + expression + "\"], \"measures\": {\"m\": \"" + expression + "\"}");
            judge(json, seed);
        }
    }

    @Test
    void a_damaged_pipeline_is_read_or_refused() {
        for (long seed = 0; seed < 2_000; seed++) {
            Random random = new Random(seed);
            StringBuilder text = new StringBuilder(PipelineText.write(new RandomPipelines(random).pipeline()));
            for (int i = random.nextInt(4); i >= 0; i--) {
                int at = random.nextInt(text.length());
                switch (random.nextInt(3)) {
                    case 0 -> text.deleteCharAt(at);
                    case 1 -> text.insert(at, PIECES.get(random.nextInt(PIECES.size())));
                    default -> text.setCharAt(at, (char) random.nextInt(0x300));
                }
            }
            judge(text.toString(), seed);
        }
    }

    @Test
    @Tag("campaign")
    void a_megabyte_of_anything_is_judged_in_seconds() {
        int million = 1_000_000;
        List<String> texts = List.of(
                "[".repeat(million),
                "{\"a\":".repeat(million / 5),
                "[" + "1,".repeat(million / 2) + "1]",
                "\"" + "\\u0061".repeat(million / 6) + "\"",
                "\n".repeat(million),
                "{" + "\"x\":1,".repeat(million / 6) + "\"x\":1}",
                "9".repeat(million),
                Read.withFilter("(".repeat(million)),
                Read.withFilter("not ".repeat(million / 4)),
                Read.withFilter("a = " + "9".repeat(million)),
                Read.withFilter("a in (" + "'x',".repeat(million / 4) + "'x')"),
                Read.withFilter("a='b' or ".repeat(million / 9) + "a='b'"),
                Read.withFilter("a = '" + "''".repeat(million / 2)),
                Read.withLevel("a.".repeat(million / 2)),
                Read.withLevel("prefix(a, " + "9".repeat(million) + ")"),
                Read.withMeasure("sum(".repeat(million / 4)),
                "{\"pipeline\": \"" + "-".repeat(million) + "\"}",
                "{\"pipeline\": \"" + "a".repeat(million) + "\"}",
                Read.withRollup("\"levels\": [" + "\"a\",".repeat(million / 4) + "\"a\"], \"measures\": {}"),
                Read.withInput("\"id\": [" + "\"a\",".repeat(million / 4) + "\"a\"]"),
                Read.withInput("\"format\": \"csv\", \"columns\": [" + PipelineReaderTest.list(50_000, "\"c%d\"")
                        + "], \"id\": \"x\""));
        for (String text : texts) {
            assertTimeoutPreemptively(Duration.ofSeconds(10), () -> judge(text, -1));
        }
    }

    private static String pieces(Random random, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> PIECES.get(random.nextInt(PIECES.size())))
                .reduce("", String::concat);
    }

    private static void judge(String text, long seed) {
        switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline pipeline) -> {
                Reading again = PipelineText.read(PipelineText.write(pipeline));
                assertThat(again.equals(new Reading.Read(pipeline)))
                        .as("seed %d", seed)
                        .isTrue();
            }
            case Reading.Refused(List<Problem> problems) -> {
                assertThat(problems.isEmpty() || problems.size() > 1_000)
                        .as("seed %d", seed)
                        .isFalse();
                for (Problem problem : problems) {
                    if (problem.message().length() > 2_000
                            || UNPRINTABLE.matcher(problem.message()).find()) {
                        fail("The problem cannot be shown, seed %d: %s", seed, problem);
                    }
                }
            }
        }
    }
}
