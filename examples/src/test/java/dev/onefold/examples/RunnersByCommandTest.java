package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.FunctionJar;
import dev.onefold.embedded.Settings;
import dev.onefold.test.FunctionCheck;
import dev.onefold.yaml.PipelineFunction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The example in Python and in Node comes to the tables that it comes to in Java, whatever happens to its processes.
/// Without the program a test says that it was skipped, and `ONEFOLD_PYTHON_REQUIRED=true`, or
/// `ONEFOLD_NODE_REQUIRED=true`, makes that a failure.
class RunnersByCommandTest {
    private static final Path FOLDER = Clone.root().resolve("examples/runners");

    @TempDir
    private Path data;

    @BeforeAll
    static void build() {
        FunctionJars.build("runners");
    }

    private static void require(String program, String language) {
        boolean isThere = Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
        if (Boolean.parseBoolean(System.getenv("ONEFOLD_" + language.toUpperCase(Locale.ROOT) + "_REQUIRED"))) {
            assertThat(isThere).as("there is a program " + program).isTrue();
        }
        assumeTrue(isThere, program + " is not installed");
    }

    @ParameterizedTest
    @CsvSource({"python3, python", "node, node"})
    void tables_contexts_and_totals_are_those_of_the_function_in_java(String program, String language)
            throws IOException {
        require(program, language);
        List<String> lines =
                Clone.text("examples/runners/sample.ndjson").lines().toList();
        Map<String, String> right = folded("runs.yaml", lines, data.resolve("java"));
        for (int seed = 0; seed < 3; seed++) {
            List<String> sent = new ArrayList<>(lines);
            if (seed > 0) {
                sent.addAll(lines);
                Collections.shuffle(sent, new Random(seed));
            }
            assertThat(folded("runs-" + language + ".yaml", sent, data.resolve(language + "-" + seed)))
                    .as("seed %d", seed)
                    .isEqualTo(right);
        }
    }

    @Test
    void without_the_function_the_data_are_read_and_not_said_to_be_right() {
        require("python3", "python");
        folded(
                "runs-python.yaml",
                Clone.text("examples/runners/sample.ndjson").lines().toList(),
                data);
        try (EmbeddedEngine engine = EmbeddedEngine.open(data, Settings.defaults())) {
            assertThat(engine.query(Query.all("by-club")).lines()).isNotEmpty();
            for (ThrowingCallable recomputation : List.<ThrowingCallable>of(engine::verify, engine::rebuild)) {
                assertThatThrownBy(recomputation)
                        .hasMessageContaining("is not here: give the pipeline file instead of its name");
            }
        }
    }

    @Test
    void processes_that_are_killed_leave_no_trace() throws Exception {
        require("python3", "python");
        List<String> lines = new ArrayList<>();
        for (String line : Clone.text("examples/runners/sample.ndjson").lines().toList()) {
            for (int i = 0; i < 40; i++) {
                lines.add(line.replace("\"user_id\":\"", "\"user_id\":\"" + i + "-"));
            }
        }
        Collections.shuffle(lines, new Random(4));
        Map<String, String> right = folded("runs.yaml", lines, data.resolve("java"));
        AtomicInteger killed = new AtomicInteger();
        Random random = new Random(5);
        Thread killer = Thread.ofPlatform().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                try {
                    Thread.sleep(300 + random.nextInt(700));
                } catch (InterruptedException e) {
                    return;
                }
                Instant young = Instant.now().minusSeconds(2); // It has not begun, perhaps.
                ProcessHandle.current().children().forEach(child -> {
                    if (child.info().startInstant().orElseThrow().isBefore(young) && child.destroyForcibly()) {
                        killed.incrementAndGet();
                    }
                });
            }
        });
        try {
            for (int round = 0; killed.get() < 3; round++) {
                assertThat(folded("runs-python.yaml", lines, data.resolve("python-" + round)))
                        .isEqualTo(right);
            }
        } finally {
            killer.interrupt();
            killer.join();
        }
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({"python3, python", "node, node"})
    void the_test_kit_checks_it_with_disorder_crashes_and_two_processes_at_once(String program, String language) {
        require(program, language);
        FunctionCheck.of(FOLDER.resolve("runs-" + language + ".yaml"))
                .events(FOLDER.resolve("sample.ndjson"))
                .runs(3)
                .check();
    }

    private static Map<String, String> folded(String file, List<String> lines, Path directory) {
        PipelineFunction function = PipelineFunction.load(FOLDER.resolve(file));
        Map<String, String> answers = new TreeMap<>();
        try (EmbeddedEngine engine = function.jar()
                .map(jar ->
                        EmbeddedEngine.open(directory, new FunctionJar(function.function(), jar), Settings.defaults()))
                .orElseGet(() -> EmbeddedEngine.open(directory, function.function(), Settings.defaults()))) {
            for (int from = 0; from < lines.size(); from += 170) {
                engine.append("watches", lines.subList(from, Math.min(from + 170, lines.size())));
            }
            TableQuery all = new TableQuery(List.of("stats", "tendency", "messages"), Optional.empty(), Long.MAX_VALUE);
            engine.tables(all, answer -> {
                answer.tables()
                        .forEach(table -> answers.put(
                                table.name(),
                                table.rows().stream()
                                        .map(Value::toJson)
                                        .sorted()
                                        .toList()
                                        .toString()));
                return true;
            });
            for (String rollup : List.of("by-club", "by-run")) {
                answers.put(
                        rollup,
                        engine.query(Query.all(rollup)).lines().stream()
                                .map(line -> line.group() + " " + line.values())
                                .toList()
                                .toString());
            }
            answers.put(
                    "u8", engine.verify().isEqual() + " " + engine.deadLetters().size());
        }
        return answers;
    }
}
