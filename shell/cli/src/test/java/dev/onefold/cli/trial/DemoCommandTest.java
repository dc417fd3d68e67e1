package dev.onefold.cli.trial;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.cli.call.Screen;
import dev.onefold.core.Counts;
import dev.onefold.core.query.Answer;
import dev.onefold.load.TradeRiskTotals;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoCommandTest {
    @TempDir
    Path folder;

    @Test
    @Tag("campaign")
    void the_totals_are_equal_though_the_process_was_killed_twice_and_what_it_says_to_try_next_works() {
        Cli cli = Cli.in(folder);
        Result demo = cli.run("demo", "--events", "600000", "--keep", "demo");
        assertThat(demo.exitCode()).as(demo.out() + demo.err()).isZero();
        assertThat(demo.out())
                .contains("600,000 trade-risk messages")
                .containsPattern("Killed with SIGKILL at [0-9.]+ % and [0-9.]+ %")
                .containsPattern("total +[0-9,.]+ +[0-9,.]+ +[0-9,]+ +[0-9,]+ +equal")
                .containsPattern("accepted +[0-9,]+ +[0-9,]+ +equal")
                .containsPattern("malformed +[0-9,]+ +[0-9,]+ +equal")
                .doesNotContain("DIFFERENT");
        assertThat(demo.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
        assertThat(cli.run("query", "demo/trade-risk.yaml", "--data", "demo/data", "--group", "PV")
                        .out())
                .contains("FXSpot");
        assertThat(cli.run("dead-letters", "demo/trade-risk.yaml", "--data", "demo/data", "list")
                        .exitCode())
                .isZero();
        assertThat(cli.run("verify", "demo/trade-risk.yaml", "--data", "demo/data")
                        .exitCode())
                .isZero();
        assertThat(cli.run("demo", "--keep", "demo").exitCode()).isEqualTo(2);
    }

    @Test
    @Tag("campaign")
    void the_demo_of_the_page_kills_a_service_twice_and_its_totals_are_equal() {
        Cli cli = Cli.in(folder);
        Result demo = cli.run("demo", "--page", "--events", "3000", "--keep", "demo");
        assertThat(demo.exitCode()).as(demo.out() + demo.err()).isZero();
        assertThat(demo.out())
                .containsPattern("Open http://localhost:[0-9]+/ in a browser")
                .containsPattern("total +[0-9,.]+ +[0-9,.]+ +[0-9,]+ +[0-9,]+ +equal")
                .contains("Enter ends the demo.")
                .doesNotContain("DIFFERENT");
        assertThat(cli.run("demo", "--page", "--on", "aws-local").err()).contains("--page is of the embedded demo");
    }

    @Test
    void what_the_demo_on_local_services_needs_is_said_in_one_sentence() {
        Cli cli = Cli.in(folder);
        Result kept = cli.run("demo", "--on", "aws-local", "--keep", "demo");
        assertThat(kept.exitCode()).isEqualTo(2);
        assertThat(kept.err()).contains("--keep is of the embedded demo");
        Result elsewhere = cli.run("demo", "--on", "aws-local", "--events", "10");
        assertThat(elsewhere.exitCode()).isEqualTo(2);
        assertThat(elsewhere.err()).contains("it runs from a clone: start it there as ./onefold");
    }

    @Test
    void counts_of_a_deployment_are_compared_too() {
        TradeRiskTotals right = new TradeRiskTotals(
                1,
                new TradeRiskTotals.Made(0, 0, 0, 0, 0, 0, 2),
                new TradeRiskTotals.InOrder(0, 0, 0, 2),
                100,
                List.of());
        Answer nothing = new Answer(
                "main",
                List.of("type"),
                List.of("value", "trades"),
                List.of(),
                new Answer.Cut(List.of(), Instant.EPOCH));
        assertThat(new Comparison(nothing, List.of(new Comparison.Count("dead letters", 2, 2)), right).isEqual())
                .isTrue();
        Comparison different = new Comparison(nothing, List.of(new Comparison.Count("dead letters", 1, 2)), right);
        assertThat(different.isEqual()).isFalse();
        assertThat(different.text(Screen.pipe())).containsPattern("dead letters +1 +2 +DIFFERENT");
    }

    @Test
    void a_difference_is_shown_in_its_row_and_only_there() {
        TradeRiskTotals right = new TradeRiskTotals(
                1,
                new TradeRiskTotals.Made(2, 0, 0, 0, 0, 0, 0),
                new TradeRiskTotals.InOrder(2, 0, 0, 0),
                100,
                List.of(
                        new TradeRiskTotals.Group(List.of(), 300, 2),
                        new TradeRiskTotals.Group(List.of("PV"), 300, 2)));
        Comparison equal = comparison(right, "3.00", 2);
        assertThat(equal.isEqual()).isTrue();
        Comparison different = comparison(right, "3.01", 2);
        assertThat(different.isEqual()).isFalse();
        assertThat(different.text(Screen.pipe())).containsPattern("PV +3.01 +3.00 +2 +2 +DIFFERENT");
        assertThat(comparison(right, "3.00", 1).isEqual()).isFalse();
        assertThat(different.text(new Screen(80, Screen.HEIGHT_DEFAULT, true, true, true)))
                .contains("\033[32mequal\033[0m", "\033[1;31mDIFFERENT");
    }

    private static Comparison comparison(TradeRiskTotals right, String value, long accepted) {
        Answer answer = new Answer(
                "main",
                List.of("type"),
                List.of("value", "trades"),
                List.of(
                        new Answer.Line(List.of(), List.of(new BigDecimal("3.00"), BigDecimal.TWO)),
                        new Answer.Line(List.of("PV"), List.of(new BigDecimal(value), BigDecimal.TWO))),
                new Answer.Cut(List.of(), Instant.EPOCH));
        return new Comparison(answer, new Counts(accepted, 0, 0, 0, 0), right);
    }
}
