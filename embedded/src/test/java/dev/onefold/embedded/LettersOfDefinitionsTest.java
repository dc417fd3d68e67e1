package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.PipelineBuilder;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Dead letters that outlive several definitions.
class LettersOfDefinitionsTest {
    private static final Settings SETTINGS = Settings.defaults().withShards(2);

    @TempDir
    Path directory;

    private static Pipeline definition(UnaryOperator<PipelineBuilder> rollups) {
        return rollups.apply(Pipeline.named("a").key("id").version("v")).build();
    }

    private static Pipeline xy(int digits) {
        return definition(b -> b.rollup(r -> r.sum("x", "x", digits, 0).sum("y", "y", 9, 0)));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Map<List<String>, String> totals(EmbeddedEngine engine, String rollup) {
        return engine.query(Query.all(rollup)).lines().stream()
                .collect(Collectors.toMap(
                        Answer.Line::group, line -> line.values().toString()));
    }

    private EmbeddedEngine filled(Pipeline definition) {
        EmbeddedEngine engine = EmbeddedEngine.open(directory, definition, SETTINGS);
        engine.fillView(_ -> null, true);
        return engine;
    }

    private void fillWith(Pipeline... definitions) {
        for (Pipeline definition : definitions) {
            filled(definition).close();
        }
    }

    private void appendLarge() {
        try (EmbeddedEngine engine = filled(xy(9))) {
            engine.append("s", List.of("{\"id\":1,\"v\":1,\"x\":5000,\"y\":7}"));
        }
    }

    @Test
    void a_refused_row_comes_back_with_its_own_values_after_the_measures_were_put_in_another_order() {
        appendLarge();
        fillWith(xy(2), definition(b -> b.rollup(r -> r.sum("y", "y", 9, 0).sum("x", "x", 2, 0))));
        try (EmbeddedEngine engine = filled(xy(9))) {
            assertThat(totals(engine, "main")).isEqualTo(Map.of(List.of(), "[5000, 7]"));
            assertThat(engine.deadLetters().size()).isZero();
        }
    }

    @Test
    void a_refused_row_comes_back_after_a_measure_was_taken_away() {
        appendLarge();
        fillWith(xy(2), definition(b -> b.rollup(r -> r.sum("x", "x", 2, 0))));
        try (EmbeddedEngine engine = filled(definition(b -> b.rollup(r -> r.sum("x", "x", 9, 0))))) {
            assertThat(totals(engine, "main")).isEqualTo(Map.of(List.of(), "[5000]"));
            assertThat(engine.deadLetters().size()).isZero();
        }
    }

    @Test
    void a_refused_row_comes_back_after_a_roll_up_was_added() {
        appendLarge();
        UnaryOperator<PipelineBuilder> other = b -> b.rollup("first", r -> r.sum("y", "y", 9, 0));
        fillWith(xy(2), definition(b -> other.apply(b).rollup("second", r -> r.sum("x", "x", 2, 0))));
        try (EmbeddedEngine engine =
                filled(definition(b -> other.apply(b).rollup("second", r -> r.sum("x", "x", 9, 0))))) {
            assertThat(totals(engine, "second")).isEqualTo(Map.of(List.of(), "[5000]"));
            assertThat(engine.deadLetters().size()).isZero();
        }
    }

    @Test
    void of_losers_that_are_equal_under_the_next_definition_one_is_kept() {
        try (EmbeddedEngine engine = filled(xy(9))) {
            engine.append(
                    "s",
                    List.of(
                            "{\"id\":1,\"v\":1,\"x\":1,\"y\":1}",
                            "{\"id\":1,\"v\":1,\"x\":1,\"y\":2}",
                            "{\"id\":1,\"v\":1,\"x\":3,\"y\":9}"));
            assertThat(engine.deadLetters().size()).isEqualTo(2);
        }
        try (EmbeddedEngine engine = filled(definition(b -> b.rollup(r -> r.sum("x", "x", 9, 0))))) {
            assertThat(totals(engine, "main")).isEqualTo(Map.of(List.of(), "[3]"));
            assertThat(engine.deadLetters().list(0, 9))
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.reason()).isEqualTo(Reason.CONFLICT));
            assertThat(engine.counts().conflicting()).isEqualTo(2);
        }
    }

    @Test
    void a_loser_that_was_refused_meanwhile_is_a_conflict_again_when_it_fits_again() {
        try (EmbeddedEngine engine = filled(xy(9))) {
            engine.append("s", List.of("{\"id\":1,\"v\":1,\"x\":5,\"y\":7}", "{\"id\":1,\"v\":1,\"x\":-5000,\"y\":7}"));
            assertThat(engine.counts().conflicting()).isEqualTo(1);
        }
        fillWith(xy(2));
        try (EmbeddedEngine engine = filled(xy(9))) {
            assertThat(totals(engine, "main")).isEqualTo(Map.of(List.of(), "[5, 7]"));
            assertThat(engine.deadLetters().list(0, 9))
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.reason()).isEqualTo(Reason.CONFLICT));
            assertThat(engine.counts().conflicting()).isEqualTo(1);
            assertThat(engine.counts().rejected()).isZero();
        }
    }

    private static final byte[] FILE = bytes("{\"id\":1,\"v\":1,\"x\":\"?\",\"y\":7}\n");
    private static final FileSource SOURCE = new FileSource("in", () -> new ByteArrayInputStream(FILE), false);

    private EmbeddedEngine fromSources(Pipeline definition) {
        EmbeddedEngine engine = EmbeddedEngine.open(directory, definition, SETTINGS.withKeepJournal(true));
        engine.fillView(_ -> SOURCE, false);
        return engine;
    }

    private static Redriven redrive(EmbeddedEngine engine, String edit) {
        long letter = engine.deadLetters().list(0, 1).getFirst().id();
        return engine.deadLetters().redrive(letter, bytes(edit), DeadLetters.Keys.ANY);
    }

    @Test
    void an_accepted_edit_that_the_next_definition_refuses_is_the_record_of_the_letter_and_comes_back() {
        String edit = "{\"id\":1,\"v\":1,\"x\":5000,\"y\":7}";
        try (EmbeddedEngine engine = fromSources(xy(9))) {
            engine.fold(SOURCE, FoldListener.silent());
            assertThat(redrive(engine, edit)).isEqualTo(Redriven.ACCEPTED);
        }
        try (EmbeddedEngine engine = fromSources(xy(2))) {
            assertThat(engine.deadLetters().list(0, 9))
                    .singleElement()
                    .satisfies(letter -> assertThat(engine.deadLetters().record(letter.id()))
                            .asString()
                            .isEqualTo(edit));
            assertThat(engine.counts().rejected()).isEqualTo(1);
        }
        try (EmbeddedEngine engine = filled(xy(9))) {
            assertThat(totals(engine, "main")).isEqualTo(Map.of(List.of(), "[5000, 7]"));
            assertThat(engine.deadLetters().size()).isZero();
            assertThat(engine.verify(_ -> SOURCE).isEqual()).isTrue();
        }
    }

    @Test
    void of_two_accepted_edits_of_one_record_the_last_one_counts_under_whatever_definition() {
        try (EmbeddedEngine engine = fromSources(xy(9))) {
            engine.fold(SOURCE, FoldListener.silent());
            redrive(engine, "{\"id\":1,\"v\":1,\"x\":5000,\"y\":7}");
        }
        try (EmbeddedEngine engine = fromSources(xy(2))) {
            assertThat(redrive(engine, "{\"id\":2,\"v\":1,\"x\":1,\"y\":7}")).isEqualTo(Redriven.ACCEPTED);
            assertThat(totals(engine, "main")).isEqualTo(Map.of(List.of(), "[1, 7]"));
        }
        try (EmbeddedEngine engine = filled(xy(9))) {
            assertThat(totals(engine, "main")).isEqualTo(Map.of(List.of(), "[1, 7]"));
            assertThat(engine.verify(_ -> SOURCE).isEqual()).isTrue();
        }
    }
}
