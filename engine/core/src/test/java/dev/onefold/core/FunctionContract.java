package dev.onefold.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The rules for a function per key, for every runtime: answers are equal byte for byte.
///
/// It is one idea: what both runtimes promise of a function.
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
        return laps(order, "\"k\"");
    }

    private static LoadedFunction laps(String order, String key) {
        String text =
                "{\"pipeline\":\"laps\",\"input\":{\"key\":" + key + ",\"version\":\"v\"},\"process\":{\"class\":\"X\","
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

    /// Writes and removes rows that are not of its key alone.
    final class Runs implements Processor<Runs.Sum, Runs.Event> {
        /// The sum of a key.
        public record Sum(long metres) {}

        /// An event.
        public record Event(String k, String what, String run, long metres) {}

        /// A row that is found by its run alone.
        public record Row(String run, String k, long metres) {}

        @Override
        public Sum start() {
            return new Sum(0);
        }

        @Override
        public Step<Sum> step(Sum sum, Event event) {
            Sum next = new Sum(sum.metres() + event.metres());
            return event.what().equals("remove")
                    ? Step.to(next).remove("runs", event.run())
                    : Step.to(next).put("runs", new Row(event.run(), event.k(), next.metres()));
        }

        @Override
        public Map<String, Class<? extends Record>> tables() {
            return Map.of("runs", Row.class);
        }
    }

    private static LoadedFunction runs(String order) {
        String text = "{\"pipeline\":\"runs\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"order\":\"" + order + "\",\"tables\":{\"runs\":\"run\"}},"
                + "\"rollups\":{\"all\":{\"of\":\"runs\",\"levels\":[],"
                + "\"measures\":{\"metres\":\"sum(metres) decimal(18,0)\",\"runs\":\"count()\"}}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> LoadedFunction.of(read, new Runs());
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static String run(String key, int version, String what, String run) {
        return "{\"k\":\"%s\",\"v\":%d,\"what\":\"%s\",\"run\":\"%s\",\"metres\":1}".formatted(key, version, what, run);
    }

    private static List<String> run(Engine engine, String run) {
        return engine.tables(
                new TableQuery(List.of("runs"), Optional.of(List.of(run)), 10),
                answer -> answer.tables().getFirst().rows().stream()
                        .map(Value.Fields::toJson)
                        .toList());
    }

    private static Redriven redrive(Engine engine, DeadLetter letter) {
        return engine.deadLetters().redrive(letter.id(), null);
    }

    private void assertOwned(String order) {
        try (Engine engine = open("owned-" + order, runs(order))) {
            feed(engine, "one", List.of(run("a", 1, "put", "r1")));
            feed(
                    engine,
                    "one",
                    List.of(run("b", 1, "put", "r1"), run("b", 2, "put", "r2"), run("b", 3, "remove", "r1")));
            assertThat(run(engine, "r1")).containsExactly("{\"run\":\"r1\",\"k\":\"a\",\"metres\":1}");
            assertThat(run(engine, "r2")).hasSize(1);
            assertThat(total(engine)).isEqualTo("[2, 2]");
            List<DeadLetter> letters = letters(engine);
            assertThat(letters)
                    .extracting(DeadLetter::reason)
                    .containsExactly(Reason.NOT_THE_OWNER, Reason.NOT_THE_OWNER);
            assertThat(letters)
                    .extracting(DeadLetter::message)
                    .containsOnly("The step writes row r1 of table runs, which key a owns");
            assertThat(redrive(engine, letters.getLast())).isEqualTo(Redriven.REJECTED);
            assertThat(letters(engine)).hasSize(2);
            assertThat(engine.verify().isEqual()).isTrue();

            feed(engine, "one", List.of(run("a", 2, "remove", "r1")));
            assertThat(run(engine, "r1")).isEmpty();
            assertThat(engine.verify().isEqual())
                    .as("the row is free by now, and the letters stay until somebody redrives them")
                    .isTrue();
            feed(engine, "one", List.of(run("b", 4, "put", "r1"))); // Of one batch on AWS either key may be first.
            feed(engine, "one", List.of(run("a", 3, "put", "r1")));
            assertThat(run(engine, "r1")).hasSize(1).first().asString().contains("\"k\":\"b\"");
            assertThat(letters(engine).getLast().message()).contains("which key b owns");
        }
    }

    @Test
    default void a_row_of_a_shared_table_is_the_key_s_that_wrote_it_until_that_key_removes_it() {
        assertOwned("every");
        assertOwned("latest");
        assertOwned("in-order");
    }

    @Test
    default void a_redrive_writes_a_row_that_its_owner_has_removed() {
        try (Engine engine = open("freed", runs("in-order"))) {
            feed(engine, "one", List.of(run("a", 1, "put", "r1"), run("a", 2, "put", "r2")));
            feed(engine, "one", List.of(run("b", 1, "put", "r1")));
            feed(engine, "one", List.of(run("a", 3, "remove", "r1")));
            assertThat(redrive(engine, letters(engine).getFirst())).isEqualTo(Redriven.ACCEPTED);
            assertThat(letters(engine)).isEmpty();
            assertThat(run(engine, "r1")).containsExactly("{\"run\":\"r1\",\"k\":\"b\",\"metres\":1}");
            assertThat(total(engine)).isEqualTo("[3, 2]");
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    private void assertNothingFolded(String order) {
        try (Engine engine = open("unfolded-" + order, runs(order))) {
            feed(engine, "one", List.of(run("a", 1, "put", "r1")));
            feed(engine, "one", List.of(run("b", 1, "put", "r1")));
            feed(engine, "one", List.of(run("b", 1, "put", "r2")));
            DeadLetter other = letters(engine).getLast();
            assertThat(other.reason()).isEqualTo(Reason.CONFLICT);
            assertThat(other.message())
                    .isEqualTo("This version of the key came with another content, which is a dead letter, too;"
                            + " nothing of this version is folded. A redrive tries this content");
            assertThat(run(engine, "r2")).isEmpty();
            assertThat(redrive(engine, other)).isEqualTo(Redriven.ACCEPTED);
            assertThat(run(engine, "r2")).hasSize(1);
            assertThat(redrive(engine, letters(engine).getFirst())).isEqualTo(Redriven.CONFLICTING);
            assertThat(letters(engine).getFirst().message())
                    .isEqualTo("This version of the key came with another content, which was folded and stays");
        }
    }

    @Test
    default void a_conflict_says_whether_the_other_content_was_folded() {
        assertNothingFolded("every");
        assertNothingFolded("latest");
    }

    @Test
    default void a_refold_frees_a_row_and_takes_no_row_that_another_key_owns_by_now() {
        try (Engine engine = open("refold-runs", runs("in-order"))) {
            feed(engine, "one", List.of(run("a", 1, "put", "r1"), run("a", 3, "remove", "r1")));
            feed(engine, "one", List.of(run("b", 1, "put", "r1")));
            feed(engine, "one", List.of(run("a", 2, "put", "r3")));
            assertThat(letters(engine))
                    .as("key a puts r1 and removes it: in the end it is not there")
                    .isEmpty();
            assertThat(run(engine, "r1")).containsExactly("{\"run\":\"r1\",\"k\":\"b\",\"metres\":1}");
            feed(engine, "one", List.of(run("a", 3, "replace", "r9")));
            assertThat(letters(engine)).extracting(DeadLetter::reason).containsExactly(Reason.TOO_LATE);
            assertThat(letters(engine).getFirst().message())
                    .contains("its refold would put row r1 of table runs, which key b owns");
            feed(engine, "one", List.of(run("b", 1, "replace", "r8")));
            assertThat(run(engine, "r1")).as("the refold has withdrawn it").isEmpty();
            feed(engine, "one", List.of(run("a", 3, "replace", "r9")));
            assertThat(run(engine, "r1")).hasSize(1).first().asString().contains("\"k\":\"a\"");
            assertThat(run(engine, "r9")).hasSize(1);
            assertThat(letters(engine)).extracting(DeadLetter::reason).containsOnly(Reason.CONFLICT);
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    default void a_row_that_many_new_keys_put_in_one_batch_has_one_owner() {
        try (Engine engine = open("claimed", runs("every"))) {
            feed(
                    engine,
                    "one",
                    IntStream.range(0, 40)
                            .mapToObj(key -> run("k" + key, 1, "put", key % 2 == 0 ? "even" : "odd"))
                            .toList());
            assertThat(run(engine, "even")).hasSize(1);
            assertThat(run(engine, "odd")).hasSize(1);
            assertThat(total(engine)).isEqualTo("[2, 2]");
            assertThat(letters(engine))
                    .hasSize(38)
                    .extracting(DeadLetter::reason)
                    .containsOnly(Reason.NOT_THE_OWNER);
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    default void rows_of_a_shared_table_under_any_key_are_found_again_and_are_one_key_s_each() {
        List<String> odd = List.of(
                "",
                " ",
                "\0",
                "\0\0",
                "\u00e9",
                "e\u0301",
                "1",
                "1.0",
                "a",
                "8f14e45f-ceea-467f-a167-3e4f1ca7a5b1",
                "8F14E45F-CEEA-467F-A167-3E4F1CA7A5B1",
                "\ud83d\ude00",
                "z".repeat(990));
        try (Engine engine = open("odd-runs", runs("in-order"))) {
            for (int i = 0; i < odd.size(); i++) {
                feed(engine, "one", List.of(put("a", i, odd.get(i))));
                feed(engine, "one", List.of(put(odd.get((i + 7) % odd.size()) + "b", i, odd.get(i))));
            }
            for (String each : odd) {
                assertThat(run(engine, each)).hasSize(1).first().asString().contains("\"k\":\"a\"");
            }
            assertThat(letters(engine)).extracting(DeadLetter::reason).containsOnly(Reason.NOT_THE_OWNER);
            assertThat(letters(engine)).hasSize(odd.size());
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    default void keys_of_nothing_and_of_nul_characters_are_keys_like_others() {
        List<String> keys = List.of("", "\0", "\0\0", "a");
        try (Engine engine = open("nul-keys", laps("in-order", "{\"field\":\"k\",\"type\":\"text\"}"))) {
            for (String key : keys) {
                feed(
                        engine,
                        "one",
                        List.of(Json.of(Map.of(
                                "k",
                                key,
                                "v",
                                1,
                                "what",
                                "put",
                                "metres",
                                1 + keys.indexOf(key),
                                "first",
                                0,
                                "marks",
                                2))));
            }
            assertThat(letters(engine)).isEmpty();
            for (String key : keys) {
                String metres = "\"metres\":" + (1 + keys.indexOf(key));
                assertThat(rows(engine, "totals", key))
                        .hasSize(1)
                        .first()
                        .asString()
                        .contains(metres);
                assertThat(rows(engine, "marks", key)).hasSize(2).allMatch(row -> row.contains(metres));
                assertThat(engine.state(List.of(key))).isPresent();
            }
            assertThat(letters(engine)).isEmpty();
            assertThat(total(engine)).isEqualTo("[10, 4]");
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    /// Writes rows under keys that have another number of parts than the pipeline's.
    final class Meets implements Processor<Meets.None, Meets.Met> {
        /// Nothing.
        public record None() {}

        /// An event.
        public record Met(String k, String l, long n, BigDecimal price) {}

        /// A row that is found by a number.
        public record ByNumber(long n, String k) {}

        /// A row that is found by two parts.
        public record ByBoth(String l, BigDecimal price, String k) {}

        @Override
        public None start() {
            return new None();
        }

        @Override
        public Step<None> step(None none, Met event) {
            return Step.to(none)
                    .put("numbers", new ByNumber(event.n(), event.k()))
                    .put("both", new ByBoth(event.l(), event.price(), event.k()));
        }

        @Override
        public Map<String, Class<? extends Record>> tables() {
            return Map.of("numbers", ByNumber.class, "both", ByBoth.class);
        }
    }

    private static LoadedFunction meets(String key) {
        String text = "{\"pipeline\":\"meets\",\"input\":{\"key\":" + key + ",\"version\":\"v\"},\"process\":"
                + "{\"class\":\"X\",\"order\":\"every\",\"tables\":{\"numbers\":\"n\",\"both\":[\"l\",\"price\"]}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> LoadedFunction.of(read, new Meets());
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static List<String> rows(Engine engine, String table, String... key) {
        return engine.tables(
                new TableQuery(List.of(table), Optional.of(List.of(key)), 10),
                answer -> answer.tables().getFirst().rows().stream()
                        .map(Value.Fields::toJson)
                        .toList());
    }

    @Test
    default void a_row_of_a_shared_table_is_asked_for_by_its_own_key_whatever_parts_the_pipeline_s_has() {
        for (String key : List.of("\"k\"", "[\"k\",\"l\"]")) {
            try (Engine engine = open("meets-" + key.length(), meets(key))) {
                feed(engine, "one", List.of("{\"k\":\"a\",\"v\":1,\"l\":\"x\",\"n\":2.00,\"price\":1000}"));
                feed(engine, "one", List.of("{\"k\":\"b\",\"v\":2,\"l\":\"x\",\"n\":3,\"price\":3.5}"));
                String first = "{\"l\":\"x\",\"price\":1000,\"k\":\"a\"}";
                String second = "{\"l\":\"x\",\"price\":3.5,\"k\":\"b\"}";
                for (String number : List.of("2", "2.0", "+2", "0.2e1", "02")) {
                    assertThat(rows(engine, "numbers", number)).containsExactly("{\"n\":2,\"k\":\"a\"}");
                }
                for (String number : List.of("1000", "1000.00", "1e3")) {
                    assertThat(rows(engine, "both", "x", number)).containsExactly(first);
                }
                assertThat(rows(engine, "both", "x")).containsExactly(first, second);
                assertThat(rows(engine, "numbers", "4")).isEmpty();
                assertThatThrownBy(() -> rows(engine, "numbers", "two"))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageStartingWith("The n of table numbers is a long, and 'two' is not");
                assertThatThrownBy(() -> rows(engine, "both", "x", "1e999999999"))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> rows(engine, "numbers", "1", "2"))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageStartingWith("The key of table numbers is n, and 2 parts are given");
                assertThatThrownBy(() -> rows(engine, "numbers")).isInstanceOf(IllegalArgumentException.class);
            }
        }
    }

    private static String put(String key, int version, String run) {
        return Json.of(Map.of("k", key, "v", version, "what", "put", "run", run, "metres", 1));
    }
}
