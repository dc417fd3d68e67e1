package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.Truth;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.keyed.Steps;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The decisions of a person about the dead letters of a function, and a fold of all sources afterwards.
class RedrivenSourcesTest {
    private static final Settings SETTINGS = Settings.defaults().withShards(2).withKeepJournal(true);
    private static final int WIDE = 20;

    @TempDir
    Path folder;

    /// @param digits of the sum in the roll-up: with 3 of them no event fits that adds 99,999
    private static LoadedFunction steps(int keep, int digits) {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\""
                + Steps.class.getName() + "\",\"order\":\"in-order\",\"keep\":" + keep
                + ",\"tables\":{\"latest\":\"k\",\"buckets\":[\"k\",\"bucket\"]}},"
                + "\"rollups\":{\"trails\":{\"of\":\"buckets\",\"levels\":[],\"measures\":{\"sum\":\"sum(trail) decimal("
                + digits + ",0)\"}}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> LoadedFunction.of(read, new Steps());
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static String line(int version, int add, String what) {
        return "{\"k\":\"k\",\"v\":%d,\"add\":%d,\"what\":\"%s:k\"}".formatted(version, add, what);
    }

    private EmbeddedEngine open(String directory, LoadedFunction function) {
        EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve(directory), function, SETTINGS);
        engine.fillView(_ -> null, false);
        return engine;
    }

    private static String state(EmbeddedEngine engine) {
        return engine.state(List.of("k")).orElseThrow().context().toJson() + " " + engine.counts() + " "
                + engine.deadLetters().list(0, 100).stream()
                        .map(DeadLetter::reason)
                        .toList();
    }

    private String fresh(List<String> lines, int keep) {
        try (EmbeddedEngine engine = open("fresh" + System.nanoTime(), steps(keep, WIDE))) {
            lines.forEach(line -> engine.append("in", List.of(line)));
            return state(engine);
        }
    }

    private static FileSource file(List<String> lines) {
        byte[] content = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
        return new FileSource("in", () -> new ByteArrayInputStream(content), false);
    }

    private static List<Redriven> redriveAll(EmbeddedEngine engine) {
        return engine.deadLetters().list(0, 100).stream()
                .map(letter -> engine.deadLetters().redrive(letter.id(), null))
                .toList();
    }

    @Test
    void events_that_failed_and_were_too_late_for_a_redrive_are_in_when_the_sources_are_folded_again() {
        List<String> lines = List.of(line(3, 99_999, "put"), line(1, 99_999, "put"), line(2, 99_999, "put"));
        try (EmbeddedEngine engine = open("all", steps(1, 3))) {
            engine.append("in", lines);
            assertThat(engine.counts()).isEqualTo(new Counts(0, 0, 0, 0, 3));
        }
        try (EmbeddedEngine engine = open("all", steps(1, WIDE))) {
            assertThat(redriveAll(engine)).contains(Redriven.REJECTED);
            assertThat(engine.verify(new Truth.Sources()).isEqual()).isFalse();
            engine.rebuild(new Truth.Sources());
            assertThat(state(engine)).isEqualTo(fresh(lines, 1));
            assertThat(engine.verify(new Truth.Sources()).isEqual()).isTrue();
        }
    }

    @Test
    void an_accepted_edit_stands_in_the_place_of_its_record_and_is_not_too_late_when_the_sources_are_folded_again() {
        List<String> lines = new ArrayList<>(List.of("{\"k\":\"k\",\"v\":1,\"add\":\"?\",\"what\":\"put:k\"}"));
        String edit = line(1, 5, "put");
        try (EmbeddedEngine engine = open("edit", steps(1, WIDE))) {
            engine.fold(file(lines), FoldListener.silent());
            long letter = engine.deadLetters().list(0, 1).getFirst().id();
            assertThat(engine.deadLetters().redrive(letter, edit.getBytes(StandardCharsets.UTF_8)))
                    .isEqualTo(Redriven.ACCEPTED);
            for (int version = 2; version < 8; version++) {
                lines.add(line(version, version, "put"));
            }
            engine.fold(file(lines), FoldListener.silent());
            String before = state(engine);
            FileSource again = file(lines);
            assertThat(engine.verify(_ -> again).isEqual()).isTrue();
            engine.rebuild(_ -> again);
            assertThat(state(engine)).isEqualTo(before);
            lines.set(0, edit);
            assertThat(before).isEqualTo(fresh(lines, 1));
        }
    }

    @Test
    void an_edit_at_which_the_function_fails_changes_nothing_and_stays_beside_the_record() {
        String failing = line(2, 1, "throw");
        List<String> lines = List.of(line(3, 4, "put"), failing);
        try (EmbeddedEngine engine = open("no-edit", steps(100, WIDE))) {
            engine.append("in", lines);
            assertThat(engine.counts()).isEqualTo(new Counts(1, 0, 0, 0, 1));
            String before = state(engine);
            long letter = engine.deadLetters().list(0, 1).getFirst().id();
            byte[] edit = line(2, 3, "throw").getBytes(StandardCharsets.UTF_8);
            assertThat(engine.deadLetters().redrive(letter, edit)).isEqualTo(Redriven.REJECTED);
            assertThat(state(engine)).isEqualTo(before);
            assertThat(engine.deadLetters().edited(letter)).hasValue(edit);
            engine.append("in", List.of(line(1, 2, "put"))); // Behind it the edit would not fail.
            String after = state(engine);
            engine.rebuild(new Truth.Sources());
            assertThat(state(engine)).isEqualTo(after);
            assertThat(after).isEqualTo(fresh(List.of(lines.get(0), lines.get(1), line(1, 2, "put")), 100));
        }
    }

    @Test
    void a_purged_event_at_which_the_function_failed_does_not_come_back_by_any_refold_of_the_sources() {
        try (EmbeddedEngine engine = open("purged", steps(100, 3))) {
            engine.append("in", List.of(line(3, 99_999, "put"), line(2, 4, "put")));
            assertThat(engine.counts().rejected()).isEqualTo(1);
            engine.deadLetters()
                    .purge(List.of(engine.deadLetters().list(0, 1).getFirst().id()));
        }
        try (EmbeddedEngine engine = open("purged", steps(100, WIDE))) {
            engine.rebuild(new Truth.Sources());
            assertThat(engine.state(List.of("k")).orElseThrow().context().toJson())
                    .contains("\"count\":1");
            engine.append("in", List.of(line(1, 4, "put")));
            assertThat(engine.state(List.of("k")).orElseThrow().context().toJson())
                    .contains("\"count\":2");
            assertThat(engine.counts()).isEqualTo(new Counts(2, 0, 0, 0, 1));
            assertThat(engine.deadLetters().size()).isZero();
        }
    }

    @Test
    void an_answer_says_what_its_own_records_came_to_and_no_count_of_it_is_below_zero() {
        try (EmbeddedEngine engine = open("counts", steps(100, WIDE))) {
            assertThat(engine.append("in", List.of(line(1, 1, "throw"))).counts())
                    .isEqualTo(new Counts(0, 0, 0, 0, 1));
            assertThat(engine.append("in", List.of(line(1, 3, "put"))).counts()).isEqualTo(new Counts(0, 0, 0, 1, 0));
            assertThat(engine.append("in", List.of(line(1, 7, "throw"))).counts())
                    .isEqualTo(new Counts(0, 0, 0, 0, 1));
            assertThat(engine.counts()).isEqualTo(new Counts(0, 0, 0, 2, 1));
            assertThat(engine.deadLetters().list(0, 9))
                    .extracting(DeadLetter::reason)
                    .containsExactlyInAnyOrder(Reason.CONFLICT, Reason.CONFLICT, Reason.FAILED);
        }
    }
}
