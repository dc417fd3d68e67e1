package dev.onefold.embedded.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.EngineException;
import dev.onefold.core.Truth;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Version;
import dev.onefold.core.form.RowLine;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Editions, and the kinds of records, with directories that the version before them has made. Both keep their journal:
///
/// - `towns` has the changes of [#CHANGES], a seeding of town C, and a row of that seeding that was rejected;
/// - `own` has the rows a and b, and a removal of a that came among the records of the input.
class BeforeEditionsTest {
    /// Debezium's record of an insert that waited at a unique index while its key was deleted.
    private static final List<String> CHANGES = List.of(
            change("d", "before", row(1, "A"), "null", 22_472_424),
            change("c", "after", row(1, "A"), "\\\"22472592\\\"", 22_472_360),
            change("c", "after", row(2, "B"), "\\\"22472592\\\"", 22_472_500));

    private static final String REMOVAL = "{\"$onefold\":{\"removed\":true,\"version\":\"9\"},\"row\":{\"id\":\"a\"}}";

    @TempDir
    Path directory;

    private static String row(int id, String town) {
        return "{\"id\":%d,\"town\":\"%s\",\"people\":5}".formatted(id, town);
    }

    private static String change(String op, String image, String row, String commit, long lsn) {
        return "{\"op\":\"%s\",\"%s\":%s,\"source\":{\"table\":\"t\",\"lsn\":%d,\"sequence\":\"[%s,\\\"%4$d\\\"]\"}}"
                .formatted(op, image, row, lsn, commit);
    }

    private static PipelineBuilder towns() {
        return PipelineBuilder.named("towns")
                .debezium("t")
                .key("id")
                .rollup(r -> r.levels("town").count("n").sum("people", "people", 9, 0));
    }

    private static Pipeline own() {
        return PipelineBuilder.named("own")
                .key("id")
                .version("v")
                .rollup(r -> r.levels("g").count("n"))
                .build();
    }

    private EmbeddedEngine open(Pipeline pipeline) {
        return EmbeddedEngine.open(directory, pipeline, Settings.defaults());
    }

    private void unpack(String name) throws IOException {
        String resource = "before/" + name + ".zip.gz";
        try (InputStream in = Objects.requireNonNull(BeforeEditionsTest.class.getResourceAsStream(resource));
                ZipInputStream zip = new ZipInputStream(new GZIPInputStream(in))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                Path file = directory.resolve(entry.getName());
                Files.createDirectories(Objects.requireNonNull(file.getParent()));
                Files.copy(zip, file);
            }
        }
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

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void an_insert_that_was_logged_before_the_removal_of_its_key_and_committed_behind_it_counts() {
        try (EmbeddedEngine engine = open(towns().build())) {
            engine.append("log", CHANGES);
            assertThat(totals(engine)).isEqualTo("[]2 [A]1 [B]1");
            assertThat(engine.counts().stale()).isZero();
            engine.append("log", CHANGES.reversed());
            assertThat(totals(engine)).isEqualTo("[]2 [A]1 [B]1");
            assertThat(engine.pipeline().input().edition()).isEqualTo(Edition.NEWEST);
        }
    }

    @Test
    void data_from_before_keeps_its_edition_until_the_file_names_another() throws IOException {
        unpack("towns");
        try (EmbeddedEngine engine = open(towns().build())) {
            assertThat(totals(engine)).isEqualTo("[]2 [B]1 [C]1");
            assertThat(engine.pipeline().input().edition()).isEqualTo(Edition.FIRST);
            engine.append("more", CHANGES);
            assertThat(totals(engine)).isEqualTo("[]2 [B]1 [C]1");
            Pipeline raised = towns().edition(2).build();
            assertThat(engine.change(towns().build())).isInstanceOf(DefinitionChange.None.class);
            assertThat(engine.change(raised))
                    .isInstanceOfSatisfying(
                            DefinitionChange.FromSources.class,
                            sources -> assertThat(sources.reason()).contains("edition 2", "source.sequence"));
            assertThat(engine.verify(new Truth.Sources()).differences()).isEmpty();
        }
        try (EmbeddedEngine engine = open(towns().edition(2).build())) {
            engine.fillView(_ -> null, false);
            assertThat(totals(engine)).isEqualTo("[]3 [A]1 [B]1 [C]1");
        }
        try (EmbeddedEngine engine = open(towns().build())) {
            assertThat(engine.pipeline().input().edition()).isEqualTo(2);
            assertThat(totals(engine)).isEqualTo("[]3 [A]1 [B]1 [C]1");
        }
    }

    @Test
    void where_the_sources_are_gone_another_edition_is_refused() {
        try (EmbeddedEngine engine = open(towns().edition(1).build())) {
            engine.append("log", CHANGES);
            assertThat(totals(engine)).isEqualTo("[]1 [B]1");
        }
        try (EmbeddedEngine engine = open(towns().edition(2).build())) {
            assertThatThrownBy(() -> engine.append("log", CHANGES))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("source.sequence");
        }
    }

    @Test
    void a_journal_and_letters_from_before_are_read_as_they_were_meant() throws IOException {
        unpack("own");
        try (EmbeddedEngine engine = open(own())) {
            assertThat(totals(engine)).isEqualTo("[]1 [x]1");
            assertThat(engine.verify(new Truth.Sources()).differences()).isEmpty();
        }
        Path other = Files.createDirectories(directory.resolve("other"));
        directory = other;
        unpack("towns");
        try (EmbeddedEngine engine = open(towns().build())) {
            assertThat(engine.deadLetters().redrive(1, null, DeadLetters.Keys.SAME))
                    .isEqualTo(Redriven.REJECTED);
            assertThat(engine.deadLetters().list(0, 1).getFirst().message()).contains("people is 'many'");
        }
    }

    @Test
    void a_line_that_is_sent_removes_no_row_and_its_letter_neither() {
        byte[] line = utf8(REMOVAL + "\n");
        String row = "{\"id\":\"a\",\"v\":5,\"g\":\"x\"}";
        try (EmbeddedEngine engine = open(own())) {
            engine.append("people", List.of(row, REMOVAL));
            assertThat(engine.counts().rejected()).isEqualTo(1);
            assertThat(engine.deadLetters().redrive(1, null, DeadLetters.Keys.SAME))
                    .isEqualTo(Redriven.REJECTED);
            assertThat(engine.deadLetters().redrive(1, utf8(REMOVAL), DeadLetters.Keys.ANY))
                    .isEqualTo(Redriven.REJECTED);
            assertThat(totals(engine)).isEqualTo("[]1 [x]1");
            engine.appendRows("seed/1", 1, line, line.length);
            assertThat(totals(engine)).isEqualTo("[]0");
        }
        try (EmbeddedEngine engine = open(own())) {
            assertThat(totals(engine)).isEqualTo("[]0");
        }
    }

    @Test
    void a_row_that_lost_is_a_row_when_the_sources_are_folded_again_also_behind_an_edit_of_it() {
        String edit = "{\"id\":\"a\",\"v\":5,\"g\":\"b\"}";
        byte[] row =
                utf8(new String(RowLine.of(utf8("{\"id\":\"a\",\"v\":5,\"g\":\"c\"}")), StandardCharsets.UTF_8) + "\n");
        Settings settings = Settings.defaults().withKeepJournal(true);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, own(), settings)) {
            engine.append("people", List.of("{\"id\":\"a\",\"v\":5,\"g\":\"z\"}"));
            engine.appendRows("seed/1", 1, row, row.length);
            long letter = engine.deadLetters().list(0, 1).getFirst().id();
            assertThat(engine.deadLetters().redrive(letter, utf8(edit), DeadLetters.Keys.SAME))
                    .isEqualTo(Redriven.CONFLICTING);
            assertThat(engine.deadLetters().redrive(letter, null, DeadLetters.Keys.SAME))
                    .isEqualTo(Redriven.CONFLICTING);
            Counts before = engine.counts();
            assertThat(before.conflicting()).isEqualTo(1);
            engine.rebuild(new Truth.Sources());
            assertThat(engine.counts()).isEqualTo(before);
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(DeadLetter::reason)
                    .containsExactly(Reason.CONFLICT);
        }
    }

    @Test
    void a_row_that_was_rejected_is_a_row_when_it_is_redriven_and_its_edit_is_a_record() {
        Version seed = Version.of(0, BigInteger.ZERO, 7);
        byte[] bad = RowLine.of(seed, utf8("{\"id\":3,\"town\":\"C\",\"people\":\"many\"}"));
        byte[] good = RowLine.of(seed, utf8("{\"id\":3,\"town\":\"C\",\"people\":1}"));
        byte[] lines = (new String(bad, StandardCharsets.UTF_8) + "\n").getBytes(StandardCharsets.UTF_8);
        try (EmbeddedEngine engine = open(towns().build())) {
            engine.appendRows("seed/7", 1, lines, lines.length);
            assertThat(engine.deadLetters().list(0, 1).getFirst().message()).contains("people is 'many'");
        }
        try (EmbeddedEngine engine = open(towns().build())) {
            assertThat(engine.deadLetters().redrive(1, null, DeadLetters.Keys.SAME))
                    .isEqualTo(Redriven.REJECTED);
            assertThat(engine.deadLetters().list(0, 1).getFirst().message()).contains("people is 'many'");
            assertThat(engine.deadLetters().redrive(1, good, DeadLetters.Keys.ANY))
                    .isEqualTo(Redriven.REJECTED);
            assertThat(totals(engine)).isEqualTo("[]0");
            assertThat(engine.deadLetters().redrive(1, utf8(CHANGES.getLast()), DeadLetters.Keys.ANY))
                    .isEqualTo(Redriven.ACCEPTED);
            assertThat(totals(engine)).isEqualTo("[]1 [B]1");
        }
    }
}
