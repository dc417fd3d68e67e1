package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.examples.sample.Sample;
import dev.onefold.oracle.Oracle;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Each example on the sample that lies beside it.
class SampleTest {
    @TempDir
    private Path data;

    static List<String> examples() {
        return Clone.examples();
    }

    @Test
    void the_samples_are_what_their_generator_makes() {
        for (Sample sample : Sample.all()) {
            assertThat(Clone.text("examples/" + sample.file()))
                    .as(sample.file() + " is made by Sample.java; run it again")
                    .isEqualTo(sample.text());
        }
    }

    @Test
    void the_sample_of_trade_risk_is_what_the_command_in_its_readme_makes() {
        Path made = data.resolve("made.ndjson");
        new Shell(data)
                .run("./onefold generate trade-risk --workload demo --events 160 --seed 7 --deletes 5 --malformed 2"
                        + " --output " + made);
        assertThat(made).hasContent(Clone.text("examples/trade-risk/sample.ndjson"));
    }

    @ParameterizedTest
    @MethodSource("examples")
    void the_commands_give_the_expected_answers(String example) {
        Shell shell = new Shell(data);
        String pipeline = "examples/" + example + "/pipeline.yaml";
        assertThat(shell.run("./onefold check " + pipeline).code()).isZero();
        Shell.Said folded = shell.run("./onefold run " + pipeline + " --input " + Clone.sample(example));
        assertThat(folded.code()).as(folded.err()).isZero();
        StringBuilder answers = new StringBuilder();
        for (Rollup rollup : Rollups.of(Clone.pipeline(example)).all()) {
            Shell.Said answer =
                    shell.run("./onefold query " + pipeline + " --rollup " + rollup.name() + " --format csv");
            answers.append("# ").append(rollup.name()).append('\n').append(answer.out());
        }
        assertThat(answers.toString()).isEqualTo(Clone.text("examples/" + example + "/expected.txt"));
        assertThat(shell.run("./onefold verify " + pipeline).code()).isZero();
    }

    @ParameterizedTest
    @MethodSource("examples")
    void the_answers_are_those_of_the_oracle(String example) throws IOException {
        String text = Clone.text(Clone.sample(example));
        Oracle oracle = Oracle.of(Clone.pipelineFile(example));
        oracle.accept("sample", new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
        Map<String, Map<List<String>, List<@Nullable String>>> right = new TreeMap<>();
        for (Rollup rollup : Rollups.of(Clone.pipeline(example)).all()) {
            Map<List<String>, List<@Nullable String>> groups = new TreeMap<>(SampleTest::compare);
            oracle.totals(rollup.name())
                    .forEach((group, values) -> groups.put(group, new ArrayList<>(values.values())));
            right.put(rollup.name(), groups);
        }
        assertThat(answers(example, text)).isEqualTo(right);
    }

    @ParameterizedTest
    @MethodSource("examples")
    void the_order_of_arrival_and_a_second_delivery_change_no_answer(String example) {
        String text = Clone.text(Clone.sample(example));
        Map<String, Map<List<String>, List<@Nullable String>>> inOrder = answers(example, text);
        for (int seed = 1; seed <= 3; seed++) {
            assertThat(answers(example, shuffled(example, text, seed), shuffled(example, text, -seed)))
                    .as("shuffled with seed %d", seed)
                    .isEqualTo(inOrder);
        }
    }

    private static String shuffled(String example, String text, int seed) {
        List<String> lines = new ArrayList<>(text.lines().toList());
        int header = Clone.sample(example).endsWith(".csv") ? 1 : 0;
        Collections.shuffle(lines.subList(header, lines.size()), new Random(seed));
        return String.join("\n", lines) + "\n";
    }

    /// The answers after these texts were folded, each as a source of its own, into data that begin with nothing.
    private Map<String, Map<List<String>, List<@Nullable String>>> answers(String example, String... texts) {
        Pipeline pipeline = Clone.pipeline(example);
        Map<String, Map<List<String>, List<@Nullable String>>> answers = new TreeMap<>();
        Path directory = data.resolve(String.valueOf(System.nanoTime()));
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline, Settings.defaults())) {
            for (int i = 0; i < texts.length; i++) {
                byte[] bytes = texts[i].getBytes(StandardCharsets.UTF_8);
                FileSource source = new FileSource("text-" + i, () -> new ByteArrayInputStream(bytes), false);
                engine.fold(source, FoldListener.silent());
            }
            for (Rollup rollup : Rollups.of(pipeline).all()) {
                Map<List<String>, List<@Nullable String>> groups = new TreeMap<>(SampleTest::compare);
                engine.query(Query.all(rollup.name()))
                        .lines()
                        .forEach(line -> groups.put(
                                line.group(),
                                line.values().stream().map(SampleTest::plain).toList()));
                answers.put(rollup.name(), groups);
            }
        }
        return answers;
    }

    private static @Nullable String plain(@Nullable BigDecimal value) {
        return value == null ? null : value.toPlainString();
    }

    private static int compare(List<String> one, List<String> other) {
        return String.join("\u0001", one).compareTo(String.join("\u0001", other));
    }
}
