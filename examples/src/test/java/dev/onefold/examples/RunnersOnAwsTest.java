package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.core.Engine;
import dev.onefold.core.form.CsvForm;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.json.Json;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableQuery;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.FunctionJar;
import dev.onefold.embedded.Settings;
import dev.onefold.simulator.deployment.Deployment;
import dev.onefold.yaml.PipelineFunction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The example with a function gives the same answers on both runtimes, byte for byte, each with an order of arrival of
/// its own.
class RunnersOnAwsTest {
    private static final int WATCHES = 9;

    @TempDir
    private Path data;

    private static List<String> shuffled(int seed) {
        List<String> lines = new ArrayList<>();
        lines.addAll(Clone.text("examples/runners/sample.ndjson").lines().toList());
        lines.addAll(lines.subList(0, lines.size() / 2));
        Collections.shuffle(lines, new Random(seed));
        return lines;
    }

    private static String answers(Engine engine) {
        StringBuilder text = new StringBuilder();
        for (String rollup : List.of("by-club", "by-run")) {
            CsvForm.write(engine.query(Query.all(rollup)), false, text::append);
            Query top = new Query(rollup, List.of(), 1, new Query.Top(2, "metres"));
            CsvForm.write(engine.query(top), false, text::append);
        }
        for (int watch = 1; watch <= WATCHES; watch++) {
            List<String> key = List.of("u" + watch);
            text.append(Json.of(JsonForm.state(engine.state(key).orElseThrow(), List.of())))
                    .append('\n');
            engine.tables(
                    new TableQuery(List.of("stats", "tendency", "messages"), Optional.of(key), Long.MAX_VALUE),
                    answer -> {
                        answer.tables().forEach(table -> CsvForm.write(table, false, text::append));
                        return true;
                    });
        }
        return text.toString();
    }

    @Test
    @Tag("campaign")
    void totals_tables_and_contexts_are_byte_equal_on_both_runtimes() {
        FunctionJars.build("runners");
        PipelineFunction found = PipelineFunction.load(Clone.root().resolve("examples/runners/runs.yaml"));
        LoadedFunction function = found.function();
        Deployment deployment = Deployment.calm();
        deployment.makeTables(function);
        deployment.release(function);
        FunctionJar jar = new FunctionJar(function, found.jar().orElseThrow());
        try (EmbeddedEngine embedded = EmbeddedEngine.open(data, jar, Settings.defaults());
                AwsEngine aws = deployment.engine(function.pipeline(), 3, 4)) {
            embedded.append("watches", shuffled(1));
            deployment.feed(
                    aws,
                    shuffled(2).stream()
                            .map(line -> line.getBytes(StandardCharsets.UTF_8))
                            .toList());
            assertThat(answers(aws)).isEqualTo(answers(embedded)).hasLineCount(198);
            assertThat(aws.verify().isEqual()).isTrue();
        }
    }
}
