package dev.onefold.cli.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.OnefoldProcess;
import dev.onefold.cli.call.Screen;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.BufferedReader;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WatchTest {
    private static final Screen PIPE = Screen.pipe();

    @TempDir
    Path folder;

    private static Answer.Line line(String group, String value, String count) {
        List<String> levels = group.isEmpty() ? List.of() : List.of(group.split("/"));
        return new Answer.Line(levels, List.of(new BigDecimal(value), new BigDecimal(count)));
    }

    private static Answer answer(Answer.Line... lines) {
        return new Answer(
                "main",
                List.of("desk"),
                List.of("value", "trades"),
                List.of(lines),
                new Answer.Cut(List.of(new Answer.Progress("in", 3, 90)), Instant.parse("2026-02-03T04:05:06.007Z")));
    }

    private static Screen terminal(int width, int height, boolean colour) {
        return new Screen(width, height, colour, true, true);
    }

    @Test
    void a_star_stands_beside_each_cell_that_differs_and_no_column_moves() {
        WatchText text = new WatchText(PIPE, List.of(), false);
        assertThat(text.next("p", "record", answer(line("", "5.00", "2"), line("FX", "5.00", "2")))
                        .lines())
                .containsExactly(
                        "p by desk",
                        "",
                        "       value   trades",
                        "total   5.00        2",
                        "  FX    5.00        2",
                        "",
                        "At 2026-02-03 04:05:06.007 UTC, with 3 records.");
        WatchText.Shown next = text.next(
                "p", "record", answer(line("", "6.00", "2"), line("FX", "5.00", "1"), line("IR", "1.00", "1")));
        assertThat(next.isChanged()).isTrue();
        assertThat(next.lines().subList(2, 6))
                .containsExactly(
                        "       value   trades",
                        "total   6.00*       2",
                        "  FX    5.00        1*",
                        "  IR    1.00*       1*");
    }

    @Test
    void an_answer_like_the_one_before_is_no_change_and_has_no_star() {
        WatchText text = new WatchText(PIPE, List.of(), false);
        assertThat(text.next("p", "record", answer(line("", "5.00", "2"))).isChanged())
                .isTrue();
        WatchText.Shown again = text.next("p", "record", answer(line("", "5.00", "2")));
        assertThat(again.isChanged()).isFalse();
        assertThat(String.join("\n", again.lines().subList(0, 4))).doesNotContain("*");
    }

    @Test
    void groups_that_are_gone_are_named() {
        WatchText text = new WatchText(PIPE, List.of(), false);
        text.next("p", "record", answer(line("", "5.00", "2"), line("A", "1.00", "1"), line("B*", "1.00", "1")));
        assertThat(text.next("p", "record", answer(line("", "5.00", "2"))).lines())
                .contains("No longer here: A, B*");
    }

    @Test
    void a_terminal_of_40_or_80_columns_gets_no_longer_line_and_no_more_lines_than_it_has() {
        for (int width : List.of(40, 80)) {
            WatchText text = new WatchText(terminal(width, 20, false), List.of(), false);
            for (int round = 0; round < 2; round++) {
                List<Answer.Line> lines = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    lines.add(line("a long name of a group " + i, "123456789012.00", String.valueOf(i + round)));
                }
                List<String> shown = text.next("p", "record", answer(lines.toArray(new Answer.Line[0])))
                        .lines();
                assertThat(shown).hasSizeLessThanOrEqualTo(20).anyMatch(line -> line.contains("more groups"));
                assertThat(shown).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(width));
            }
        }
    }

    @Test
    void colour_is_used_only_where_the_screen_has_it() {
        for (boolean colour : List.of(true, false)) {
            WatchText text = new WatchText(terminal(80, 24, colour), List.of(), false);
            text.next("p", "record", answer(line("", "5.00", "2")));
            String shown = String.join(
                    "\n",
                    text.next("p", "record", answer(line("", "6.00", "2"))).lines());
            assertThat(shown).contains(colour ? "\u001b[33m6.00*\u001b[0m" : " 6.00*");
            assertThat(shown.contains("\u001b")).isEqualTo(colour);
        }
    }

    @Test
    void what_makes_no_sense_with_it_is_refused() {
        Cli cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        assertThat(cli.run("query", "trades.yaml", "--every", "1s").err()).contains("--every is for --watch.");
        assertThat(cli.run("query", "trades.yaml", "--watch", "--format", "csv").exitCode())
                .isEqualTo(2);
        assertThat(cli.run("query", "trades.yaml", "--watch", "--every", "fast").exitCode())
                .isEqualTo(2);
    }

    @Test
    void a_pipe_gets_a_block_for_each_change_through_the_owner_or_without_one_and_a_stop_ends_it_with_0()
            throws IOException, InterruptedException {
        Cli cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        cli.write("in.ndjson", Cli.trade("1", 1, "FX", "EMEA", "5"));
        assertThat(cli.run("run", "trades.yaml", "--input", "in.ndjson").exitCode())
                .isZero();
        try (OnefoldProcess watch = OnefoldProcess.start(
                        folder, "query", "trades.yaml", "--watch", "--depth", "0", "--every", "50ms");
                BufferedReader out = watch.process().inputReader(StandardCharsets.UTF_8)) {
            assertThat(total(out)).isEqualTo("total   5.00        1");
            try (EmbeddedEngine owner =
                    EmbeddedEngine.open(folder.resolve("onefold-data/trades"), Settings.defaults())) {
                owner.append(
                        "live", List.of(Cli.trade("2", 1, "FX", "EMEA", "7").strip()));
                assertThat(total(out)).isEqualTo("total  12.00*       2*");
                owner.append(
                        "live", List.of(Cli.trade("2", 2, "FX", "EMEA", "8").strip()));
                assertThat(total(out)).isEqualTo("total  13.00*       2");
            }
            watch.signal("TERM");
            assertThat(watch.exitCode()).as(watch.err()).isZero();
        }
    }

    private static String total(BufferedReader out) throws IOException {
        String line = out.readLine();
        while (line != null && !line.startsWith("total")) {
            line = out.readLine();
        }
        return String.valueOf(line);
    }
}
