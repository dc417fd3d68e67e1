package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbedInTenLinesTest {
    private static final String MARK = "// ten lines\n";
    private static final String FENCE = "```java\n";

    @Test
    void the_lines_give_totals_that_outlive_the_engine(@TempDir Path directory) {
        assertThat(EmbedInTenLines.run(
                        directory,
                        "{\"TradeID\":\"a\",\"Version\":1,\"Desk\":\"FXSpot\",\"Value\":100.10}",
                        "{\"TradeID\":\"b\",\"Version\":1,\"Desk\":\"FXSpot\",\"Value\":0.20}"))
                .extracting(line -> line.group() + " " + line.values())
                .containsExactly("[] [100.30]", "[FXSpot] [100.30]");
        assertThat(EmbedInTenLines.run(
                        directory,
                        "{\"TradeID\":\"a\",\"Version\":2,\"Desk\":\"FXOptions\",\"Value\":90}",
                        "{\"TradeID\":\"a\",\"Version\":1,\"Desk\":\"FXSpot\",\"Value\":100.10}",
                        "{\"TradeID\":\"b\",\"Version\":2,\"Deleted\":true}"))
                .extracting(line -> line.group() + " " + line.values())
                .containsExactly("[] [90.00]", "[FXOptions] [90.00]");
    }

    @Test
    void the_page_of_the_first_hour_shows_the_lines_that_are_tested() {
        String file = Clone.text("examples/src/test/java/dev/onefold/examples/EmbedInTenLines.java");
        int from = file.indexOf(MARK) + MARK.length();
        String tested =
                file.substring(from, file.indexOf(MARK, from)).stripIndent().stripTrailing();
        assertThat(tested.lines().filter(line -> !line.isBlank()).count()).isLessThanOrEqualTo(10);
        String page = Clone.text("docs/start.md");
        int shown = page.indexOf(FENCE) + FENCE.length();
        String block = page.substring(shown, page.indexOf("```", shown));
        int code = block.indexOf("\n\n");
        assertThat(block.substring(0, code).strip().lines())
                .allSatisfy(line -> assertThat(file).contains(line));
        assertThat(block.substring(code).strip()).isEqualTo(tested);
    }
}
