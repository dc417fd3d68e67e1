package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.Status;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Functions that do what they must not: the engine continues, or stops and says why.
class UnrulyFunctionTest {
    private static final Settings SETTINGS = Settings.defaults().withShards(2).withThreads(2);

    @TempDir
    Path directory;

    /// The action of the function at an event.
    interface Deed {
        Step<Texts> at(Texts texts, Event event) throws InterruptedException;
    }

    /// A context.
    public record Texts(List<String> texts, long nanos) {}

    /// An event.
    public record Event(List<String> what) {}

    /// A function that a test gives.
    public static final class Unruly implements Processor<Texts, Event> {
        private final Deed deed;

        Unruly(Deed deed) {
            this.deed = deed;
        }

        @Override
        public Texts start() {
            return new Texts(List.of(), 0);
        }

        @Override
        public Step<Texts> step(Texts texts, Event event) {
            try {
                return deed.at(texts, event);
            } catch (InterruptedException e) {
                return then(texts, event); // It ignores the interrupt.
            }
        }
    }

    private static Step<Texts> then(Texts texts, Event event) {
        return Step.to(new Texts(event.what(), texts.nanos() + 1));
    }

    private static LoadedFunction function(Deed deed) {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"order\":\"in-order\",\"keep\":5,\"tables\":{\"t\":\"k\"}}}";
        Pipeline pipeline = ((Reading.Read) PipelineText.read(text)).pipeline();
        return LoadedFunction.of(pipeline, new Unruly(deed));
    }

    private static String event(String key, int version, String what) {
        return "{\"k\":\"%s\",\"v\":%d,\"what\":[\"%s\"]}".formatted(key, version, what);
    }

    private static String context(EmbeddedEngine engine, String key) {
        return engine.state(List.of(key)).orElseThrow().context().toJson();
    }

    @Test
    void errors_nulls_and_changed_arguments_are_dead_letters_that_say_so_and_the_next_events_go_on() {
        Deed deed = (texts, event) -> switch (event.what().getFirst()) {
            case "error" -> throw new AssertionError("not so");
            case "overflow" -> deeper(texts, event, 0);
            case "linkage" -> throw new NoClassDefFoundError("com/example/Gone");
            case "null" -> null;
            case "null component" -> Step.to(new Texts(null, 0));
            case "null in a list" -> Step.to(new Texts(Arrays.asList("a", null), 0));
            case "event changed" -> {
                event.what().add("more");
                yield then(texts, event);
            }
            case "context changed" -> {
                texts.texts().clear();
                yield then(texts, event);
            }
            default -> then(texts, event);
        };
        List<String> deeds = List.of(
                "error",
                "overflow",
                "linkage",
                "null",
                "null component",
                "null in a list",
                "event changed",
                "context changed");
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, function(deed), SETTINGS)) {
            for (int i = 0; i < deeds.size(); i++) {
                engine.append("in", List.of(event("a", 2 * i, "well"), event("a", 2 * i + 1, deeds.get(i))));
            }
            engine.append("in", List.of(event("a", 99, "end")));
            assertThat(engine.deadLetters().list(0, 99))
                    .allSatisfy(letter -> assertThat(letter.reason()).isEqualTo(Reason.FAILED))
                    .extracting(DeadLetter::message)
                    .satisfiesExactly(
                            message -> assertThat(message).contains("AssertionError: not so, at "),
                            message -> assertThat(message).contains("StackOverflowError"),
                            message -> assertThat(message).contains("NoClassDefFoundError: com/example/Gone"),
                            message -> assertThat(message).isEqualTo("The function returned null"),
                            message -> assertThat(message).contains("component texts is null"),
                            message -> assertThat(message).contains("null"),
                            message -> assertThat(message).contains("UnsupportedOperationException"),
                            message -> assertThat(message).contains("UnsupportedOperationException"));
            assertThat(engine.counts()).isEqualTo(new Counts(9, 0, 0, 0, 8));
            assertThat(context(engine, "a")).isEqualTo("{\"texts\":[\"end\"],\"nanos\":9}");
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    private static Step<Texts> deeper(Texts texts, Event event, int depth) {
        return depth < 0 ? then(texts, event) : deeper(texts, event, depth + 1);
    }

    @Test
    void a_function_that_interrupts_itself_closes_no_file_under_the_engine() {
        Deed deed = (texts, event) -> {
            Thread.currentThread().interrupt();
            return then(texts, event);
        };
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, function(deed), SETTINGS)) {
            for (int version = 10; version < 40; version += 2) {
                engine.append("in", List.of(event("a", version, "x"), event("b", version, "y")));
            }
            engine.checkpointNow();
            engine.checkpointNow(); // Kept events are read from disk from now on.
            engine.append("in", List.of(event("a", 37, "late"), event("b", 37, "late"), event("a", 35, "late")));
            assertThat(engine.counts()).isEqualTo(new Counts(33, 0, 0, 0, 0));
            assertThat(context(engine, "a")).isEqualTo("{\"texts\":[\"x\"],\"nanos\":17}");
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    void an_impure_function_is_in_the_status_with_both_results() {
        Deed deed = (texts, event) -> Step.to(new Texts(List.of(), System.nanoTime()));
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, function(deed), SETTINGS)) {
            engine.append("in", List.of(event("a", 1, "x")));
            Status.OfFunction function = engine.status().function().orElseThrow();
            assertThat(function.impureCalls()).isEqualTo(1);
            assertThat(function.lastImpure()).hasValueSatisfying(last -> {
                assertThat(last.key()).containsExactly("a");
                assertThat(last.first()).contains("\"nanos\":").isNotEqualTo(last.second());
                assertThat(context(engine, "a")).isEqualTo(last.first().substring("context ".length()));
            });
        }
    }

    @Test
    void threads_that_a_function_starts_and_an_interrupt_that_it_swallows_stop_nobody() throws InterruptedException {
        CountDownLatch release = new CountDownLatch(1);
        Deed deed = (texts, event) -> {
            Thread.ofPlatform()
                    .uncaughtExceptionHandler((_, _) -> {})
                    .start(() -> {
                        throw new IllegalStateException("of a thread of the function");
                    })
                    .join();
            int interrupts = 0;
            while (event.what().contains("waits") && release.getCount() > 0) {
                try {
                    release.await();
                } catch (InterruptedException e) {
                    interrupts++;
                }
            }
            assertThat(interrupts).isLessThan(2);
            return then(texts, event);
        };
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, function(deed), SETTINGS)) {
            engine.append("in", List.of(event("a", 1, "x"), event("a", 2, "waits"), event("b", 1, "x")));
            assertThat(engine.counts()).isEqualTo(new Counts(2, 0, 0, 0, 1));
            assertThat(engine.status().function().orElseThrow().stuckThreads()).isEqualTo(1);
            release.countDown();
            engine.append("in", List.of(event("a", 3, "x")));
            assertThat(context(engine, "a")).isEqualTo("{\"texts\":[\"x\"],\"nanos\":2}");
        } finally {
            release.countDown();
        }
    }

    private static volatile CountDownLatch released = new CountDownLatch(0);

    private static void hang(String at, String text) {
        while (text.equals(at) && released.getCount() > 0) {
            Thread.onSpinWait();
        }
    }

    /// A context whose code may not return, wherever the engine calls it.
    public record Slow(String text) {
        public Slow {
            hang("constructor", text);
        }

        @Override
        public String text() {
            hang("accessor", text);
            return text;
        }
    }

    /// An event whose code may not return.
    public record SlowEvent(String what) {
        public SlowEvent {
            hang("event", what);
        }
    }

    /// Keeps the text of the last event.
    public static final class Last implements Processor<Slow, SlowEvent> {
        @Override
        public Slow start() {
            return new Slow("");
        }

        @Override
        public Step<Slow> step(Slow last, SlowEvent event) {
            return Step.to(new Slow(event.what()));
        }
    }

    private static LoadedFunction slow() {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"order\":\"every\",\"tables\":{\"t\":\"k\"}}}";
        return LoadedFunction.of(((Reading.Read) PipelineText.read(text)).pipeline(), new Last());
    }

    private static String slow(String key, int version, String what) {
        return "{\"k\":\"%s\",\"v\":%d,\"what\":\"%s\"}".formatted(key, version, what);
    }

    @Test
    @Timeout(60)
    @Tag("campaign")
    void code_of_records_that_does_not_return_is_a_dead_letter() {
        LoadedFunction function = slow();
        released = new CountDownLatch(1);
        try {
            try (EmbeddedEngine engine = EmbeddedEngine.open(directory, function, SETTINGS)) {
                engine.append("in", List.of(slow("a", 1, "x"), slow("a", 2, "constructor"), slow("a", 3, "accessor")));
                engine.append("in", List.of(slow("a", 4, "event"), slow("a", 5, "y")));
                assertThat(engine.deadLetters().list(0, 9))
                        .hasSize(3)
                        .allSatisfy(letter -> assertThat(letter.message()).contains("did not return within 1 s"));
                assertThat(context(engine, "a")).isEqualTo("{\"text\":\"y\"}");
            }
        } finally {
            released.countDown();
        }
    }

    @Test
    @Tag("campaign")
    void with_more_than_eight_stuck_calls_the_engine_stops_and_says_why_and_a_mended_function_goes_on() {
        CountDownLatch release = new CountDownLatch(1);
        Deed stuck = (texts, event) -> {
            while (release.getCount() > 0) {
                Thread.onSpinWait();
            }
            return then(texts, event);
        };
        Settings many = SETTINGS.withShards(16).withThreads(16);
        List<String> events =
                IntStream.range(0, 100).mapToObj(i -> event("k" + i, 1, "x")).toList();
        try {
            try (EmbeddedEngine engine = EmbeddedEngine.open(directory, function(stuck), many)) {
                assertThatThrownBy(() -> engine.append("in", events))
                        .hasStackTraceContaining("calls; 8 are tolerated at once. Mend the function, and start again");
                assertThatThrownBy(() -> engine.append("in", events)).hasStackTraceContaining("Mend the function");
            }
        } finally {
            release.countDown();
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, function(UnrulyFunctionTest::then), many)) {
            assertThat(engine.acknowledged("in")).isEqualTo(100);
            assertThat(engine.counts()).isEqualTo(new Counts(100, 0, 0, 0, 0));
        }
    }
}
