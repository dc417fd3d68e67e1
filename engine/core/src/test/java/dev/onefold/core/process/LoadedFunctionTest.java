package dev.onefold.core.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/// Refusals of a function before anything is folded.
class LoadedFunctionTest {
    /// A context and an event.
    public record Number(int k) {}

    /// An event with a list.
    public record Numbers(List<Integer> all) {}

    /// A record with a component that is not exact.
    public record Inexact(double share) {}

    /// Rows of one table are declared.
    public static class Declaring implements Processor<Number, Number> {
        @Override
        public Number start() {
            return new Number(0);
        }

        @Override
        public Step<Number> step(Number context, Number event) {
            return Step.to(event).put("t", event);
        }

        @Override
        public Map<String, Class<? extends Record>> tables() {
            return Map.of("t", Number.class);
        }
    }

    /// Its types are those of its parent.
    public static final class Child extends Middle<Number> {}

    /// Its event is a type variable.
    public static class Middle<E extends Record> implements Processor<Number, E> {
        @Override
        public Number start() {
            return new Number(0);
        }

        @Override
        public Step<Number> step(Number context, E event) {
            return Step.to(context);
        }
    }

    /// Its event has a list in it.
    public static final class Listing extends Middle<Numbers> {}

    /// Its event is not exact.
    public static final class Rounding extends Middle<Inexact> {}

    /// It cannot be made.
    public static final class Private extends Middle<Number> {
        private Private() {}
    }

    /// A context with a text.
    public record Named(String name) {}

    /// Its first context is given by the test.
    public static final class Starting implements Processor<Named, Number> {
        private final Supplier<Named> start;

        Starting(Supplier<Named> start) {
            this.start = start;
        }

        @Override
        public Named start() {
            return start.get();
        }

        @Override
        public Step<Named> step(Named context, Number event) {
            return Step.to(context);
        }
    }

    /// It does not say its tables.
    public static final class Silent extends Middle<Number> {
        @Override
        public Map<String, Class<? extends Record>> tables() {
            throw new IllegalStateException("tables are out");
        }
    }

    @SuppressWarnings("NullAway") // This is what is tested.
    @Test
    void hazard_69_a_start_or_tables_that_cannot_be_used_refuses_the_function() {
        Pipeline pipeline = pipeline("", "X", "}");
        Map<Supplier<Named>, String> refused = Map.of(
                () -> null,
                "start() returns null",
                () -> new Named(null),
                "The context of start() cannot be stored: ",
                () -> new Named("n".repeat(100_000)),
                "at most 90000 are possible",
                () -> {
                    throw new StackOverflowError("deep");
                },
                "start() threw java.lang.StackOverflowError: deep");
        refused.forEach((start, why) -> assertThatThrownBy(() -> LoadedFunction.of(pipeline, new Starting(start)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("LoadedFunctionTest$Starting: ")
                .hasMessageContaining(why));
        assertThatThrownBy(() -> LoadedFunction.of(pipeline, new Silent()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Silent: tables() threw java.lang.IllegalStateException: tables are out");
    }

    private static Pipeline pipeline(String format, String name, String more) {
        String text = "{\"pipeline\":\"p\",\"input\":{" + format + "\"key\":\"k\",\"version\":\"v\"},"
                + "\"process\":{\"class\":\"" + name + "\",\"order\":\"latest\"" + more + "}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> read;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static LoadedFunction load(Class<?> type, String more) {
        ClassLoader loader = Objects.requireNonNull(LoadedFunctionTest.class.getClassLoader());
        return LoadedFunction.load(pipeline("", type.getName(), more), loader, "00");
    }

    @Test
    void types_are_those_of_the_class_and_are_written_into_the_pipeline() {
        LoadedFunction loaded = load(Declaring.class, ",\"tables\":{\"t\":\"k\"}}");
        Processing.Code code = Objects.requireNonNull(loaded.processing().code());
        assertThat(code.context()).hasToString("{k: int}");
        assertThat(code.event()).hasToString("{k: int}");
        assertThat(code.tables()).hasToString("{t={k: int}}");
        assertThat(code.sha256()).isEqualTo("00");
        assertThat(loaded.upgrades()).isFalse();
        assertThat(PipelineText.read(PipelineText.write(loaded.pipeline())))
                .isEqualTo(new Reading.Read(loaded.pipeline()));
    }

    @Test
    void types_are_found_through_parents_and_type_variables() {
        assertThat(Objects.requireNonNull(load(Child.class, "}").processing().code())
                        .event())
                .hasToString("{k: int}");
    }

    private static void refuses(Class<?> type, String more, String why) {
        assertThatThrownBy(() -> load(type, more))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }

    @Test
    void a_class_that_cannot_be_the_function_is_refused_with_the_reason() {
        refuses(String.class, "}", "does not implement dev.onefold.process.Processor");
        refuses(Private.class, "}", "public constructor without parameters");
        refuses(Middle.class, "}", "the event of the function is E");
        refuses(Rounding.class, "}", "share");
        assertThatThrownBy(() -> LoadedFunction.load(
                        pipeline("", "com.example.Nothing", "}"),
                        Objects.requireNonNull(LoadedFunctionTest.class.getClassLoader()),
                        ""))
                .hasMessage("There is no class com.example.Nothing on the class path");
        assertThatThrownBy(() -> LoadedFunction.of(
                        pipeline("\"format\":\"csv\",\"columns\":[\"k\",\"v\",\"all\"],", "X", "}"), new Listing()))
                .hasMessageContaining("which a CSV line cannot hold");
    }

    @Test
    void tables_and_their_roll_ups_are_compared_with_the_types_of_the_rows() {
        refuses(Declaring.class, "}", "tables() names t, and the pipeline file has no such table");
        refuses(Declaring.class, ",\"tables\":{\"t\":[\"k\",\"n\"]}}", "has no component n; it has k");
        refuses(
                Declaring.class,
                ",\"tables\":{\"t\":\"k\"}},\"rollups\":{\"r\":{\"of\":\"t\",\"levels\":[\"club\"],"
                        + "\"measures\":{\"n\":\"count()\"}}}",
                "A roll-up of table t reads club, and the table's rows are {k: int}");
        assertThat(load(
                                Declaring.class,
                                ",\"tables\":{\"t\":\"k\"}},\"rollups\":{\"r\":{\"of\":\"t\",\"levels\":[\"k\"],"
                                        + "\"measures\":{\"n\":\"count()\"}}}")
                        .processing()
                        .rollups()
                        .all())
                .hasSize(1);
    }
}
