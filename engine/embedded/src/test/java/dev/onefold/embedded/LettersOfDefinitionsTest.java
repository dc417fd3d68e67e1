package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
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
        return rollups.apply(PipelineBuilder.named("a").key("id").version("v")).build();
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
    void hazard_16_a_refused_row_comes_back_with_its_own_values_after_the_measures_were_put_in_another_order() {
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

    private static final String EDIT = "{\"id\":2,\"v\":1,\"g\":\"A\",\"x\":0.325}";
    private static final byte[] GROUPED_FILE = bytes("""
            {"id":1,"v":1,"g":"B","x":1}
            {"id":2,"v":1,"g":"A","x":-3857.2}
            """);
    private static final FileSource GROUPED = new FileSource("in", () -> new ByteArrayInputStream(GROUPED_FILE), false);

    private static Pipeline grouped(int digits, int scale) {
        return definition(
                b -> b.rollup(r -> r.levels("g").sum("x", "x", digits, scale).count("n")));
    }

    private EmbeddedEngine follow(Pipeline definition) {
        EmbeddedEngine engine = EmbeddedEngine.open(directory, definition, SETTINGS.withKeepJournal(true));
        engine.fillView(_ -> GROUPED, true);
        return engine;
    }

    private void acceptEditThatTheNextDefinitionRefuses() {
        try (EmbeddedEngine engine = follow(grouped(6, 3))) {
            engine.fold(GROUPED, FoldListener.silent());
            assertThat(redrive(engine, EDIT)).isEqualTo(Redriven.ACCEPTED);
        }
        try (EmbeddedEngine engine = follow(grouped(3, 1))) {
            assertThat(engine.deadLetters().size()).isEqualTo(1);
        }
    }

    private void requireOnlyTheEdit(EmbeddedEngine engine, boolean counts) {
        Map<List<String>, String> totals = totals(engine, "main");
        assertThat(totals.keySet().contains(List.of("A"))).isEqualTo(counts);
        assertThat(totals.values().toString()).doesNotContain("3857").doesNotContain("3856");
        assertThat(engine.deadLetters().size()).isEqualTo(counts ? 0 : 1);
        assertThat(engine.verify(_ -> GROUPED).isEqual()).isTrue();
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void an_edit_that_was_accepted_counts_under_a_wider_definition_after_a_narrower_one_refused_it() {
        acceptEditThatTheNextDefinitionRefuses();
        try (EmbeddedEngine engine = follow(grouped(18, 3))) {
            requireOnlyTheEdit(engine, true);
        }
    }

    @Test
    void the_first_form_does_not_come_back_where_a_definition_accepts_it_and_refuses_the_accepted_edit() {
        acceptEditThatTheNextDefinitionRefuses();
        try (EmbeddedEngine engine = follow(grouped(5, 1))) {
            requireOnlyTheEdit(engine, false);
        }
    }

    @Test
    void a_letter_whose_edit_was_accepted_is_redriven_as_that_edit() {
        acceptEditThatTheNextDefinitionRefuses();
        try (EmbeddedEngine engine = follow(grouped(3, 1))) {
            DeadLetter letter = engine.deadLetters().list(0, 1).getFirst();
            assertThat(engine.deadLetters().record(letter.id())).asString().isEqualTo(EDIT);
            assertThat(engine.deadLetters().redrive(letter.id(), null, DeadLetters.Keys.SAME))
                    .isEqualTo(Redriven.REJECTED);
        }
        try (EmbeddedEngine engine = follow(grouped(18, 3))) {
            requireOnlyTheEdit(engine, true);
        }
    }

    @Test
    void an_edit_that_was_no_event_does_not_count_because_later_definitions_would_accept_it() {
        List<String> lines = List.of("{\"id\":1,\"v\":1,\"x\":50,\"y\":7}", "{\"id\":1,\"v\":1,\"x\":10,\"y\":7}");
        try (EmbeddedEngine engine = kept(xy(2))) {
            engine.append("s", lines);
            assertThat(redrive(engine, "{\"id\":1,\"v\":1,\"x\":5000,\"y\":7}")).isEqualTo(Redriven.REJECTED);
        }
        requireAlike(xy(9), "[50, 7]");
        requireAlike(xy(12), "[50, 7]");
    }

    @Test
    void an_edit_that_lost_a_conflict_counts_also_after_another_edit_was_no_event() {
        List<String> lines = List.of("{\"id\":1,\"v\":1,\"x\":50,\"y\":7}", "{\"id\":2,\"v\":1,\"x\":5000,\"y\":7}");
        try (EmbeddedEngine engine = kept(xy(2))) {
            engine.append("s", lines);
            assertThat(redrive(engine, "{\"id\":1,\"v\":1,\"x\":10,\"y\":7}")).isEqualTo(Redriven.CONFLICTING);
            assertThat(redrive(engine, "{\"id\":1,\"v\":1,\"x\":7000,\"y\":7}")).isEqualTo(Redriven.REJECTED);
        }
        requireAlike(xy(9), "[50, 7]");
        requireAlike(xy(12), "[50, 7]");
    }

    private EmbeddedEngine kept(Pipeline definition) {
        EmbeddedEngine engine = EmbeddedEngine.open(directory, definition, SETTINGS.withKeepJournal(true));
        engine.fillView(_ -> null, true);
        return engine;
    }

    private void requireAlike(Pipeline definition, String totals) {
        try (EmbeddedEngine engine = kept(definition)) {
            assertThat(totals(engine, "main")).isEqualTo(Map.of(List.of(), totals));
            assertThat(engine.counts().conflicting()).isEqualTo(1);
            assertThat(engine.counts().rejected()).isZero();
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(engine.verify(_ -> null).isEqual()).isTrue();
        }
    }
}
