package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.DefinitionChange;
import dev.onefold.core.EngineException;
import dev.onefold.core.Truth;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Directories that a Java with other rules of Europe/Madrid has made. In front of them, the running Java is that one.
class OtherZoneRulesTest {
    private static final String ZONE = "Europe/Madrid";
    private static final String ONE = "{\"id\":1,\"at\":\"2026-03-31 23:30:00\"}";
    private static final String TWO = "{\"id\":2,\"at\":\"2026-04-01 00:30:00\"}";
    private static final String OTHER_RULES = "this Java has other rules for zone " + ZONE;

    @TempDir
    Path directory;

    private static Pipeline pipeline(String fold) {
        String text = "{\"pipeline\":\"days\",\"input\":{\"id\":\"id\",\"time\":\"at\",\"zone\":\"" + ZONE + "\"},"
                + fold + "}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new AssertionError(problems);
        };
    }

    private static Pipeline days() {
        return pipeline("\"rollup\":{\"levels\":[\"bucket(at, 1d)\"],\"measures\":{\"n\":\"count()\"}}");
    }

    private static Pipeline ofOtherJava(Pipeline pipeline) {
        return pipeline.withZones(new TreeMap<>(Map.of(ZONE, "0123456789abcdef")));
    }

    private static FileSource file() {
        byte[] content = (ONE + "\n" + TWO + "\n").getBytes(StandardCharsets.UTF_8);
        return new FileSource("in", () -> new ByteArrayInputStream(content), false);
    }

    private EmbeddedEngine open(Pipeline pipeline) {
        return EmbeddedEngine.open(directory, pipeline, Settings.defaults());
    }

    private static String totals(EmbeddedEngine engine) {
        StringBuilder totals = new StringBuilder();
        engine.query(Query.all("main"))
                .lines()
                .forEach(line -> totals.append(line.group())
                        .append(line.values().getFirst())
                        .append(' '));
        return totals.toString().strip();
    }

    private static void assertFoldsNothing(EmbeddedEngine engine) {
        assertThat(engine.status().definitionPending()).isTrue();
        assertThat(totals(engine)).isEqualTo("[]1 [2026-03-31]1");
        assertThat(engine.verify(new Truth.Rows(1)).isEqual()).isTrue();
        assertThatThrownBy(() -> engine.append("log", List.of(TWO)))
                .isInstanceOfSatisfying(
                        EngineException.class,
                        refused -> assertThat(refused.kind()).isEqualTo(EngineException.Kind.DEFINITION_CHANGED))
                .hasMessageContaining(OTHER_RULES)
                .hasMessageContaining("what came as log was not kept")
                .hasMessageContaining("Queries go on. Run this with the Java (or the tzdata) of before");
        assertThat(totals(engine)).isEqualTo("[]1 [2026-03-31]1");
    }

    @Test
    void where_the_sources_are_gone_nothing_is_folded_by_other_rules_and_queries_go_on() {
        try (EmbeddedEngine engine = open(ofOtherJava(days()))) {
            engine.append("log", List.of(ONE));
        }
        try (EmbeddedEngine engine = open(days())) {
            assertThat(engine.change(days(), _ -> null))
                    .isInstanceOfSatisfying(
                            DefinitionChange.Impossible.class,
                            change -> assertThat(change.reason()).contains(OTHER_RULES));
            assertFoldsNothing(engine);
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, Settings.defaults())) {
            assertFoldsNothing(engine);
        }
        try (EmbeddedEngine engine = EmbeddedEngine.read(directory, Settings.defaults())) {
            assertThat(totals(engine)).isEqualTo("[]1 [2026-03-31]1");
            assertThatThrownBy(() -> engine.verify(new Truth.Sources())).hasMessageContaining(OTHER_RULES);
        }
        try (EmbeddedEngine engine = open(ofOtherJava(days()))) {
            engine.append("log", List.of(TWO));
            assertThat(totals(engine)).isEqualTo("[]2 [2026-03-31]1 [2026-04-01]1");
        }
    }

    @Test
    void where_the_sources_can_be_read_again_they_are_read_by_the_rules_of_this_java() {
        try (EmbeddedEngine engine = open(ofOtherJava(days()))) {
            engine.fold(file(), FoldListener.silent());
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, Settings.defaults())) {
            assertThat(engine.pipeline().otherRules()).isPresent();
            assertThatThrownBy(() -> engine.append("log", List.of(ONE)))
                    .hasMessageContaining("source in cannot be read again");
            engine.fillView(_ -> file(), false);
            assertThat(engine.pipeline().otherRules()).isEmpty();
            assertThat(totals(engine)).isEqualTo("[]2 [2026-03-31]1 [2026-04-01]1");
        }
        try (EmbeddedEngine engine = open(days())) {
            assertThat(engine.status().definitionPending()).isFalse();
            engine.append("log", List.of(ONE));
            assertThat(engine.counts().duplicate()).isEqualTo(1);
        }
    }

    @Test
    void a_kept_journal_is_read_again_at_the_first_record() {
        Settings settings = Settings.defaults().withKeepJournal(true);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, ofOtherJava(days()), settings)) {
            engine.append("log", List.of(ONE));
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, days(), settings)) {
            engine.append("log", List.of(TWO));
            assertThat(totals(engine)).isEqualTo("[]2 [2026-03-31]1 [2026-04-01]1");
            assertThat(engine.pipeline().otherRules()).isEmpty();
        }
    }

    @Test
    void records_that_only_the_journal_has_wait_for_the_java_that_took_them() throws IOException {
        Path copy = directory.resolveSibling(directory.getFileName() + "-copy");
        try (EmbeddedEngine engine = open(ofOtherJava(days()))) {
            engine.append("log", List.of(ONE));
            copy(copy); // As a crash would leave it.
        }
        directory = copy;
        assertThatThrownBy(() -> open(days()))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("1 entries of the journal of " + copy + " are not in a checkpoint yet, and ")
                .hasMessageContaining(OTHER_RULES);
        try (EmbeddedEngine engine = EmbeddedEngine.read(directory, Settings.defaults())) {
            assertThat(totals(engine)).isEqualTo("[]0");
        }
    }

    private void copy(Path to) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(each -> Files.isDirectory(each) || Files.isRegularFile(each))
                    .toList()) {
                Files.copy(file, to.resolve(directory.relativize(file)));
            }
        }
    }

    @Test
    void batches_are_not_continued_by_other_rules() {
        Pipeline batches = pipeline("\"batch\":{\"size\":10,\"deliver\":{\"file\":\"out/{number}\"}}");
        try (EmbeddedEngine engine = open(ofOtherJava(batches))) {
            engine.append("log", List.of(ONE));
        }
        try (EmbeddedEngine engine = open(batches)) {
            assertThatThrownBy(() -> engine.append("log", List.of(TWO)))
                    .hasMessageContaining("what is sealed cannot be sealed again, and " + OTHER_RULES);
        }
    }
}
