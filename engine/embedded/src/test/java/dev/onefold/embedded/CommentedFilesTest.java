package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// CSV with comments between its records.
class CommentedFilesTest {
    private static final Settings SETTINGS = Settings.defaults().withShards(2);
    private static final List<String> LINES =
            List.of("# head", "k,v", "a,1", "# one", "#", "b,xx", "c,3", "# two", "d,4", "# tail");

    @TempDir
    Path folder;

    private static Pipeline pipeline(String measure) {
        return PipelineBuilder.named("commented")
                .csv()
                .comment('#')
                .rollup(rollup -> rollup.count("n").sum(measure, "v", 18, 2))
                .build();
    }

    private static FileSource file(int lines) {
        byte[] bytes = Utf8.encode("The file", String.join("\n", LINES.subList(0, lines)) + "\n");
        return new FileSource("commented.csv", () -> new ByteArrayInputStream(bytes), false);
    }

    private static String total(EmbeddedEngine engine) {
        return engine.query(
                Query.all("main"), answer -> answer.lines().getFirst().values().toString());
    }

    @Test
    void lines_that_are_sent_again_in_a_longer_request_are_known_wherever_the_shorter_one_ended() {
        for (int cut = 2; cut < LINES.size(); cut++) {
            try (EmbeddedEngine engine =
                    EmbeddedEngine.open(folder.resolve("sent-" + cut), pipeline("sum"), SETTINGS)) {
                for (int lines : List.of(cut, LINES.size(), LINES.size())) {
                    byte[] sent = Utf8.encode("Lines", String.join("\n", LINES.subList(0, lines)) + "\n");
                    assertThat(engine.append("in", 1, sent, sent.length).acknowledged())
                            .isEqualTo(lines);
                }
                assertThat(total(engine)).as("cut %s", cut).isEqualTo("[3, 8.00]");
                assertThat(engine.deadLetters().list(0, 10)).hasSize(1);
            }
        }
    }

    @Test
    void comments_without_a_record_behind_them_are_known_again_from_each_of_their_lines_on() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("known"), pipeline("sum"), SETTINGS)) {
            List<String> lines = List.of("k,v", "a,1", "# one", "# two", "# three");
            byte[] all = Utf8.encode("Lines", String.join("\n", lines.subList(0, 4)) + "\n");
            engine.append("in", 1, all, all.length);
            for (int from = 1; from <= lines.size(); from++) {
                for (int to = Math.max(from, 4); to <= lines.size(); to++) {
                    byte[] sent = Utf8.encode("Lines", String.join("\n", lines.subList(from - 1, to)) + "\n");
                    assertThat(engine.append("in", from, sent, sent.length).acknowledged())
                            .as("from %s to %s", from, to)
                            .isGreaterThanOrEqualTo(to);
                }
            }
            assertThat(total(engine)).isEqualTo("[1, 1.00]");
        }
    }

    @Test
    void wherever_a_file_ended_before_it_grew_an_edit_of_its_record_is_found_again() {
        for (int cut = 2; cut <= LINES.size(); cut++) {
            Path directory = folder.resolve("cut-" + cut);
            String right;
            try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline("sum"), SETTINGS)) {
                engine.fold(file(cut), FoldListener.silent());
                engine.fold(file(LINES.size()), FoldListener.silent());
                DeadLetter letter = engine.deadLetters().list(0, 10).getFirst();
                assertThat(letter.place().toString()).as("cut %s", cut).contains("6");
                engine.deadLetters().redrive(letter.id(), "b,2".getBytes(StandardCharsets.UTF_8));
                right = total(engine);
                assertThat(right).as("cut %s", cut).isEqualTo("[4, 10.00]");
            }
            try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline("other"), SETTINGS)) {
                engine.fillView(_ -> file(LINES.size()), false);
                assertThat(total(engine)).as("cut %s", cut).isEqualTo(right);
                assertThat(engine.counts().rejected()).as("cut %s", cut).isZero();
            }
        }
    }
}
