package dev.onefold.test;

import static dev.onefold.test.Laps.loaded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.CommandFunction;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.process.Step;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class FunctionCheckTest {
    private static FunctionCheck check(LoadedFunction function) {
        return FunctionCheck.of(function).events(Laps.records(12));
    }

    private static String failure(FunctionCheck check) {
        try {
            check.check();
        } catch (AssertionError failed) {
            return String.valueOf(failed.getMessage());
        }
        throw new IllegalStateException("The check finds nothing");
    }

    @Test
    void a_function_that_depends_on_order_passes_in_order_and_its_tables_are_those_of_the_versions() {
        List<String> records = new ArrayList<>(Laps.records(12));
        records.add(Laps.record("b", 1, -1)); // The function throws.
        records.add(Laps.record("a", 1, 66)); // A second content of the version; the greater one stays.
        Tables tables = FunctionCheck.of(loaded(new Laps.Ordered(), "\"order\":\"in-order\",\"keep\":5"))
                .events(records)
                .check();
        assertThat(tables.rows("best", Laps.Best.class))
                .containsExactly(new Laps.Best("a", 12, 60), new Laps.Best("b", 4, 67));
        assertThat(tables.rows("laps")).hasSize(16).contains("{\"k\":\"a\",\"lap\":2,\"seconds\":63,\"faster\":true}");
        assertThat(tables.context(Laps.Times.class, "b")).contains(new Laps.Times(4, Optional.of(67), 67));
        assertThat(tables.context("nobody")).isEmpty();
    }

    @Test
    void a_function_that_commutes_passes_with_every_and_one_of_the_newest_event_with_latest() {
        check(loaded(new Laps.Commuting(), "\"order\":\"every\"")).check();
        check(loaded(new Laps.Newest(), "\"order\":\"latest\"")).check();
    }

    @Test
    void a_function_that_depends_on_order_is_found_with_every_with_the_two_records_that_show_it() {
        FunctionCheck check = check(loaded(new Laps.Ordered(), "\"order\":\"every\""));
        String failure = failure(check);
        assertThat(failure)
                .contains("depends on the order of arrival", "2 of 16 records", "table laps, row", "expected  {")
                .contains("order: every. The same seed repeats it.");
        Matcher seed = Pattern.compile("Seed (\\d+)").matcher(failure);
        assertThat(seed.find()).isTrue();
        assertThat(failure(check.seed(Long.parseLong(seed.group(1))))).isEqualTo(failure);
        check.allowingDependenceOnOrder().check();
    }

    @Test
    void a_function_of_more_than_the_newest_event_is_found_with_latest() {
        FunctionCheck check = check(loaded(new Laps.Commuting(), "\"order\":\"latest\""));
        assertThat(failure(check)).contains("depends on the order of arrival", "2 of 16 records");
        check.allowingDependenceOnOrder().check();
    }

    @Test
    void hazard_68_an_impure_function_is_found_with_its_two_results() {
        assertThat(failure(check(loaded(new Laps.Impure(), "\"order\":\"in-order\""))))
                .contains("is not pure", "first    context {\"laps\":1", "second   context {\"laps\":1", "event    {");
    }

    /// A program that does not answer.
    private record Silent(byte[] hello) implements CommandFunction.Processes {
        @Override
        public void ask(byte[] line, Predicate<byte[]> isWhole) {
            throw new CommandFunction.NoAnswerException("has not answered within 1000 ms", true);
        }

        @Override
        public void release() {}
    }

    @Test
    void a_call_that_takes_too_long_is_reported_with_its_event_and_is_not_an_impure_one() {
        Pipeline pipeline = ((Reading.Read) PipelineText.read("{\"pipeline\":\"laps\",\"input\":{\"key\":\"k\","
                        + "\"version\":\"v\"},\"process\":{\"command\":[\"laps\"],\"order\":\"every\","
                        + "\"tables\":{\"laps\":\"k\"}}}"))
                .pipeline();
        byte[] hello = ("{\"onefold\":1,\"context\":\"{laps: long}\",\"event\":\"{k: text, v: long}\","
                        + "\"tables\":{\"laps\":\"{k: text, laps: long}\"},\"start\":{\"laps\":0}}")
                .getBytes(StandardCharsets.UTF_8);
        CommandFunction command = new CommandFunction((Processing) pipeline.fold(), new Silent(hello));
        LoadedFunction function = LoadedFunction.of(pipeline, command, "0".repeat(64));
        assertThat(failure(check(function)))
                .contains("did not return within 1 s", "event    {\"k\":\"a\",\"v\":1}")
                .doesNotContain("is not pure");
        assertThatThrownBy(() -> FunctionDriver.of(function).send(Laps.record("a", 1, 60)))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("The function did not return within 1 s");
    }

    @Test
    void a_function_that_remembers_what_came_before_is_found_though_two_calls_in_a_row_are_alike() {
        assertThat(failure(check(loaded(new Laps.Remembering(), "\"order\":\"in-order\""))))
                .contains("is not pure");
    }

    @Test
    void contexts_of_an_older_version_are_read_by_the_newer_one_at_any_point() {
        for (String policy : List.of("refold", "continue")) {
            String settings = "\"version\":2,\"order\":\"in-order\",\"keep\":5,\"on-new-version\":\"" + policy + "\"";
            check(loaded(new Laps.New(), settings))
                    .upgradesFrom(1, new Laps.Old())
                    .check();
        }
        check(loaded(new Laps.New(), "\"version\":2,\"order\":\"every\""))
                .upgradesFrom(1, new Laps.Old())
                .check();
    }

    @Test
    void a_context_of_an_older_version_that_cannot_be_read_is_found() {
        FunctionCheck check = check(loaded(new Laps.Ordered(), "\"version\":2,\"order\":\"every\""));
        assertThat(failure(check.upgradesFrom(1, new Laps.Old())))
                .contains("best", "Implement upgrade", "1 of 16 records", "the newer version of the function goes on");
        assertThatThrownBy(() -> check.upgradesFrom(2, new Laps.Old())).hasMessageContaining("below 2");
    }

    @Test
    void a_sample_without_a_record_is_refused_with_what_is_wrong() {
        FunctionCheck check = FunctionCheck.of(loaded(new Laps.Ordered(), "\"order\":\"every\""));
        assertThatThrownBy(() -> check.events("{\"k\":\"a\"}").check())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("line 1");
    }

    @Test
    void a_driver_shows_what_each_record_comes_to() {
        FunctionDriver driver = FunctionDriver.of(loaded(new Laps.Ordered(), "\"order\":\"in-order\",\"keep\":1"));
        driver.send(Laps.record("a", 1, 60), Laps.record("a", 3, 50), Laps.record("a", 4, 70));
        driver.restart();
        driver.send(Laps.record("a", 2, 55), Laps.record("a", 5, -1), "{}");
        assertThat(driver.tables().rows("laps", Laps.LapRow.class))
                .containsExactly(
                        new Laps.LapRow("a", 1, 60, false),
                        new Laps.LapRow("a", 3, 50, true),
                        new Laps.LapRow("a", 4, 70, false));
        assertThat(driver.letters())
                .hasSize(3)
                .anyMatch(letter -> letter.contains("too late"))
                .anyMatch(letter -> letter.contains("A lap takes time"));
    }

    /// Writes a row for each lap number, whoever runs it.
    public static final class ByLap extends Laps.Ordered {
        /// A row of table `by-lap`.
        public record Row(int lap, String runner, int seconds) {}

        @Override
        public Step<Laps.Times> step(Laps.Times times, Laps.Lap lap) {
            Laps.Times next = new Laps.Times(times.laps() + 1, Optional.empty(), lap.seconds());
            return Step.to(next).put("by-lap", new Row(lap.number(), lap.runner(), next.laps()));
        }
    }

    @Test
    void two_keys_that_write_one_row_are_found_with_every_order_and_allowed_each_event_is_in_or_has_a_letter() {
        for (String order : List.of("in-order", "every", "latest")) {
            String text =
                    "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                            + "\"order\":\"" + order + "\",\"tables\":{\"by-lap\":\"lap\"}}}";
            FunctionCheck check = switch (PipelineText.read(text)) {
                case Reading.Read(var pipeline) -> check(LoadedFunction.of(pipeline, new ByLap()));
                case Reading.Refused refused -> throw new AssertionError(refused.toString());
            };
            assertThat(failure(check)).contains("write one row", "of table by-lap, which key", "2 of 16 records");
            Tables tables = check.allowingDependenceOnOrder().check();
            assertThat(tables.rows("by-lap", ByLap.Row.class)).hasSize(12);
        }
    }
}
