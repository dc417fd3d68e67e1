package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.core.Engine;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.simulator.deployment.Deployment;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Each example gives the same answers on AWS, byte for byte, or is refused there with the reason.
class SameOnAwsTest {
    @TempDir
    private Path data;

    static List<String> examples() {
        return Clone.examples();
    }

    private static List<List<Answer.Line>> answers(Engine engine) {
        List<List<Answer.Line>> answers = new ArrayList<>();
        for (Rollup rollup : Rollups.of(engine.pipeline()).all()) {
            answers.add(engine.query(Query.all(rollup.name())).lines());
            answers.add(engine.query(new Query(
                            rollup.name(),
                            List.of(),
                            1,
                            new Query.Top(3, rollup.figures().getFirst().name())))
                    .lines());
        }
        return answers;
    }

    @ParameterizedTest
    @MethodSource("examples")
    void an_example_gives_the_same_answers_or_is_refused_with_the_reason(String example) {
        Pipeline pipeline = Clone.pipeline(example);
        Deployment deployment = Deployment.calm();
        if (pipeline.input().identity() instanceof Identity.ByPlace) {
            assertThatThrownBy(() -> deployment.engine(pipeline, 3, 4)).hasMessageContaining("neither key nor id");
            return;
        }
        if (Decoder.wantsHeader(pipeline)) {
            assertThatThrownBy(() -> deployment.engine(pipeline, 3, 4)).hasMessageContaining("List the columns");
            return;
        }
        String text = Clone.text(Clone.sample(example));
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try (EmbeddedEngine embedded = EmbeddedEngine.open(data, pipeline, Settings.defaults());
                AwsEngine aws = deployment.engine(pipeline, 3, 4)) {
            embedded.fold(
                    new FileSource("sample", () -> new ByteArrayInputStream(bytes), false), FoldListener.silent());
            deployment.feed(
                    aws,
                    text.lines()
                            .map(line -> line.getBytes(StandardCharsets.UTF_8))
                            .toList());
            assertThat(answers(aws)).isEqualTo(answers(embedded));
            assertThat(aws.verify().isEqual()).isTrue();
        }
    }
}
