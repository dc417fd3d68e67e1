package dev.onefold.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.event.Reason;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.json.Json;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// The rules for a function per key, for every runtime: answers are equal byte for byte.
public interface FunctionContract {
    /// Opens the engine with a function on the data of this name.
    Engine open(String data, LoadedFunction function);

    /// Feeds records of a source, behind those it has had; when it returns, they are in the answers.
    void feed(Engine engine, String source, List<String> records);

    /// Adds up laps, and says in which order they were folded. Each lap marks some rows with the sum.
    final class Laps implements Processor<Laps.Run, Laps.Lap> {
        /// The sum of the laps.
        public record Run(long metres, String trail) {}

        /// An event.
        public record Lap(String k, String what, long metres, int first, int marks) {}

        /// The row of a key.
        public record Total(String k, long metres) {}

        /// One of many rows of a key.
        public record Mark(String k, int n, long metres) {}

        @Override
        public Run start() {
            return new Run(0, "");
        }

        @Override
        public Step<Run> step(Run run, Lap lap) {
            if (lap.what().equals("needs") && run.metres() == 0) {
                throw new IllegalStateException("nothing to go on from");
            }
            long metres = run.metres() + lap.metres();
            Step<Run> step = Step.to(new Run(metres, run.trail() + lap.metres() + ";"))
                    .put("totals", new Total(lap.k(), metres));
            for (int i = 0; i < lap.marks(); i++) {
                step = step.put("marks", new Mark(lap.k(), lap.first() + i, metres));
            }
            return step;
        }

        @Override
        public Map<String, Class<? extends Record>> tables() {
            return Map.of("totals", Total.class, "marks", Mark.class);
        }
    }

    private static LoadedFunction laps(String order) {
        String text = "{\"pipeline\":\"laps\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"order\":\"" + order + "\",\"tables\":{\"totals\":\"k\",\"marks\":[\"k\",\"n\"]}},"
                + "\"rollups\":{\"all\":{\"of\":\"totals\",\"levels\":[],"
                + "\"measures\":{\"metres\":\"sum(metres) decimal(18,0)\",\"keys\":\"count()\"}}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> LoadedFunction.of(read, new Laps());
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static String lap(int version, String what, int metres) {
        return lap(version, what, metres, 0, 0);
    }

    private static String lap(int version, String what, int metres, int first, int marks) {
        return "{\"k\":\"a\",\"v\":%d,\"what\":\"%s\",\"metres\":%d,\"first\":%d,\"marks\":%d}"
                .formatted(version, what, metres, first, marks);
    }

    private static List<String> rows(Engine engine, String table) {
        return engine.tables(
                new TableQuery(List.of(table), Optional.of(List.of("a")), 1_000),
                answer -> answer.tables().getFirst().rows().stream()
                        .map(Value.Fields::toJson)
                        .toList());
    }

    private static String total(Engine engine) {
        return engine.query(Query.all("all")).lines().getFirst().values().toString();
    }

    private static List<DeadLetter> letters(Engine engine) {
        return engine.deadLetters().list(0, 99);
    }

    private static String state(Engine engine) {
        return Json.of(JsonForm.state(engine.state(List.of("a")).orElseThrow(), List.of()));
    }

    private static String record(Engine engine, DeadLetter letter) {
        return new String(engine.deadLetters().record(letter.id()), StandardCharsets.UTF_8);
    }

    /// Late, twice, with another content, and with a function that throws; all of it from two sources.
    private void assertFolded(String order, String state, String total, String kept) {
        List<String> records = List.of(
                lap(0, "needs", 1), lap(1, "a", 1), lap(3, "a", 4), lap(2, "a", 2), lap(3, "a", 4), lap(3, "b", 5));
        try (Engine engine = open(order, laps(order))) {
            feed(engine, "one", records);
            feed(engine, "two", records);
            assertThat(state(engine)).isEqualTo(state);
            assertThat(rows(engine, "totals")).containsExactly("{\"k\":\"a\",\"metres\":" + total + "}");
            assertThat(total(engine)).isEqualTo("[" + total + ", 1]");
            assertThat(letters(engine)).extracting(DeadLetter::reason).containsExactly(Reason.FAILED, Reason.CONFLICT);
            assertThat(record(engine, letters(engine).getFirst())).isEqualTo(lap(0, "needs", 1));
            assertThat(record(engine, letters(engine).getLast())).isEqualTo(kept);
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    default void latest_folds_what_is_above_all_others_and_the_first_content_stays() {
        assertFolded(
                "latest",
                "{\"key\":[\"a\"],\"version\":\"3\",\"code\":1,\"context\":{\"metres\":5,\"trail\":\"1;4;\"},"
                        + "\"kept\":0,\"gaps\":null,\"failed\":[],\"deadLetters\":[]}",
                "5",
                lap(3, "b", 5));
    }

    @Test
    default void every_folds_each_event_as_it_comes_and_the_first_content_stays() {
        assertFolded(
                "every",
                "{\"key\":[\"a\"],\"version\":\"3\",\"code\":1,\"context\":{\"metres\":7,\"trail\":\"1;4;2;\"},"
                        + "\"kept\":0,\"gaps\":false,\"failed\":[\"0\"],\"deadLetters\":[]}",
                "7",
                lap(3, "b", 5));
    }

    @Test
    default void in_order_folds_as_if_all_had_come_in_order_and_the_greater_content_stays() {
        assertFolded(
                "in-order",
                "{\"key\":[\"a\"],\"version\":\"3\",\"code\":1,\"context\":{\"metres\":8,\"trail\":\"1;2;5;\"},"
                        + "\"kept\":4,\"gaps\":false,\"failed\":[\"0\"],\"deadLetters\":[]}",
                "8",
                "{\"key\":[\"a\"],\"version\":\"3\",\"kind\":\"counted\",\"event\":"
                        + "{\"k\":\"a\",\"what\":\"a\",\"metres\":4,\"first\":0,\"marks\":0}}");
    }

    @Test
    default void an_event_that_was_too_late_or_failed_has_no_letter_once_it_is_folded_wherever_it_came_again() {
        try (Engine engine = open("late", laps("in-order"))) {
            feed(engine, "one", List.of(lap(1, "a", 1), lap(3, "a", 1, 0, 60), lap(4, "a", 1, 100, 60)));
            feed(engine, "one", List.of(lap(2, "needs", 5)));
            assertThat(letters(engine)).extracting(DeadLetter::reason).containsExactly(Reason.TOO_LATE);
            assertThat(letters(engine).getFirst().message()).contains("121 rows");
            assertThat(rows(engine, "marks")).hasSize(120).contains("{\"k\":\"a\",\"n\":100,\"metres\":3}");
            feed(engine, "one", List.of(lap(4, "b", 1)));
            feed(engine, "one", List.of(lap(1, "b", 0)));
            feed(engine, "two", List.of(lap(2, "needs", 5)));
            assertThat(state(engine)).contains("\"failed\":[\"2\"]");
            assertThat(letters(engine))
                    .extracting(DeadLetter::reason)
                    .contains(Reason.TOO_LATE); // AWS keeps one of FAILED beside it.
            feed(engine, "three", List.of(lap(1, "c", 2)));
            assertThat(state(engine)).contains("\"trail\":\"2;5;1;1;\"").contains("\"failed\":[]");
            assertThat(letters(engine))
                    .as("a refold has folded the event, which came from another place")
                    .extracting(DeadLetter::reason)
                    .containsOnly(Reason.CONFLICT);
            assertThat(rows(engine, "marks")).hasSize(60).contains("{\"k\":\"a\",\"n\":0,\"metres\":8}");
            assertThat(engine.verify().isEqual()).isTrue();
        }
        try (Engine engine = open("wide", laps("in-order"))) {
            feed(engine, "one", List.of(lap(3, "a", 1, 0, 60), lap(4, "a", 1, 100, 60), lap(2, "a", 5)));
            feed(engine, "one", List.of(lap(4, "b", 1), lap(2, "a", 5)));
            assertThat(state(engine)).contains("\"trail\":\"5;1;1;\"");
            assertThat(letters(engine)).extracting(DeadLetter::reason).containsExactly(Reason.CONFLICT);
        }
    }

    @Test
    default void a_redrive_folds_a_failed_event_where_it_belongs() {
        try (Engine engine = open("redrive", laps("in-order"))) {
            feed(engine, "one", List.of(lap(1, "needs", 1), lap(2, "a", 2)));
            byte[] edit = lap(1, "well", 3).getBytes(StandardCharsets.UTF_8);
            assertThat(engine.deadLetters().redrive(letters(engine).getFirst().id(), edit))
                    .isEqualTo(Redriven.ACCEPTED);
            assertThat(state(engine)).contains("\"trail\":\"3;2;\"");
            assertThat(letters(engine)).isEmpty();
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }
}
