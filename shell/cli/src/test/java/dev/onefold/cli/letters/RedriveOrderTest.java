package dev.onefold.cli.letters;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RedriveOrderTest {
    /// An event, and a context.
    public record Mode(String what) {}

    /// Takes events with a text.
    public static final class Texts implements Processor<Mode, Mode> {
        @Override
        public Mode start() {
            return new Mode("");
        }

        @Override
        public Step<Mode> step(Mode context, Mode event) {
            return Step.to(event);
        }
    }

    /// An event with less.
    public record Mended(int v) {}

    /// Takes the same records, and reads less of them.
    public static final class Less implements Processor<Mode, Mended> {
        @Override
        public Mode start() {
            return new Mode("");
        }

        @Override
        public Step<Mode> step(Mode context, Mended event) {
            return Step.to(new Mode(context.what() + event.v()));
        }
    }

    @TempDir
    Path folder;

    private EmbeddedEngine open(Processor<?, ?> function) {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"order\":\"every\"}}";
        Pipeline pipeline = switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> read;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
        EmbeddedEngine engine = EmbeddedEngine.open(
                folder,
                LoadedFunction.of(pipeline, function),
                Settings.defaults().withShards(1));
        engine.fillView(_ -> null, false);
        return engine;
    }

    @Test
    void letters_of_a_key_are_redriven_in_ascending_version_once_the_function_reads_them() {
        try (EmbeddedEngine engine = open(new Texts())) {
            engine.append("in", List.of("{\"k\":\"a\",\"v\":30}", "{\"k\":\"a\",\"v\":4}", "{\"k\":\"a\",\"v\":5}"));
            assertThat(engine.counts().rejected()).isEqualTo(3);
        }
        try (EmbeddedEngine engine = open(new Less())) {
            RedriveOrder ascending = new RedriveOrder(engine);
            List<DeadLetter> letters = engine.deadLetters().list(0, 10);
            ascending.add(letters.subList(0, 1));
            ascending.add(letters.subList(1, 3));
            assertThat(ascending.ids()).containsExactly(2L, 3L, 1L);
            ascending
                    .ids()
                    .forEach(id ->
                            assertThat(engine.deadLetters().redrive(id, null)).isEqualTo(Redriven.ACCEPTED));
            assertThat(engine.state(List.of("a")).orElseThrow().context().toJson())
                    .isEqualTo("{\"what\":\"4530\"}");
        }
    }
}
