package dev.onefold.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Processing.Code;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PipelineFunctionTest {
    private static final String SOURCE = """
            import dev.onefold.process.*;

            public final class Sums implements Processor<Sums.Sum, Sums.Add> {
                public record Sum(long sum) {}
                public record Add(String user, %s amount) {}
                public record Total(String user, long total) {}

                public Sum start() {
                    return new Sum(0);
                }

                public Step<Sum> step(Sum sum, Add add) {
                    long total = sum.sum() + (long) add.amount();
                    return Step.to(new Sum(total)).put("totals", new Total(add.user(), total));
                }
            }
            """;

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = pipeline("Sums\n  jar: sums.jar");
    }

    private Path pipeline(String name) throws IOException {
        return Files.writeString(
                folder.resolve("pipeline.yaml"),
                "pipeline: sums\ninput: {key: user, version: n}\nprocess:\n  class: " + name
                        + "\n  order: every\n  tables: {totals: [user]}\n");
    }

    @Test
    void the_jar_beside_the_file_has_the_function_and_its_hash_is_recorded() throws IOException {
        Path jar = folder.resolve("sums.jar");
        Jars.write(jar, "Sums", SOURCE.formatted("long"));
        PipelineFunction loaded = PipelineFunction.load(file);

        assertThat(loaded.jar()).hasValueSatisfying(bytes -> assertThat(bytes).isEqualTo(readAll(jar)));
        Code code = Objects.requireNonNull(loaded.function().processing().code());
        assertThat(code.sha256()).isEqualTo(Sha256.hex(readAll(jar)));
        assertThat(code.event()).hasToString("{user: text, amount: long}");
        String text = PipelineText.write(loaded.function().pipeline());
        assertThat(PipelineText.read(text))
                .isEqualTo(new Reading.Read(loaded.function().pipeline()));
    }

    private static byte[] readAll(Path path) {
        try {
            return Files.readAllBytes(path);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void a_second_jar_with_classes_of_the_same_names_is_loaded_beside_the_first_one() throws IOException {
        Path jar = folder.resolve("sums.jar");
        for (String kind : List.of("ADD", "ADD, SUBTRACT")) {
            Jars.write(
                    jar,
                    "Sums",
                    SOURCE.formatted("long")
                            .replace(
                                    "public record Sum(long sum) {}",
                                    "public enum Kind {" + kind + "}\n"
                                            + "public record Inner(Kind kind) {}\n"
                                            + "public record Sum(long sum, java.util.Optional<Inner> inner, Kind kind) {}")
                            .replace("new Sum(0)", "new Sum(0, java.util.Optional.empty(), Kind.ADD)")
                            .replace("new Sum(total)", "new Sum(total, sum.inner(), sum.kind())"));
            Code code = Objects.requireNonNull(
                    PipelineFunction.load(file).function().processing().code());
            assertThat(code.context().toString()).contains(kind.replace(", ", "|"));
        }
    }

    @Test
    void a_jar_that_is_written_over_does_not_change_a_function_that_is_loaded() throws IOException {
        Path jar = folder.resolve("sums.jar");
        Jars.write(jar, "Sums", SOURCE.formatted("long").replace("public Sum start()", """
                private static int made;

                static final class Late {
                    static void read() throws java.io.IOException {
                        try (var in = Sums.class.getResource("Sums.class").openStream()) {
                            if (in.readAllBytes().length == 0 || Sums.class.getResource("Other.class") != null) {
                                throw new java.io.IOException("Other resources");
                            }
                        }
                    }
                }

                public Sums() throws java.io.IOException {
                    if (made++ > 0) {
                        Late.read();
                    }
                }

                public Sum start()"""));
        LoadedFunction function = PipelineFunction.load(file).function();
        Files.write(jar, new byte[10_000]);
        assertThat(function.renewed())
                .describedAs("a second object, for which another class is needed")
                .isNotSameAs(function);
    }

    @Test
    void a_function_sees_its_jar_and_the_jdk_and_no_class_of_the_application() throws IOException {
        Jars.write(
                folder.resolve("sums.jar"),
                "Sums",
                SOURCE.formatted("long")
                        .replace("new Sum(0)", "new Sum(dev.onefold.yaml.PipelineFile.class.hashCode())"));
        assertThatThrownBy(() -> PipelineFunction.load(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("start() threw java.lang.NoClassDefFoundError: dev/onefold/yaml/PipelineFile");
    }

    @Test
    void hazard_69_a_start_that_does_not_return_is_refused_in_time() throws IOException {
        Jars.write(
                folder.resolve("sums.jar"),
                "Sums",
                SOURCE.formatted("long").replace("return new Sum(0);", "while (true) {}"));
        assertThatThrownBy(() -> PipelineFunction.load(file, PipelineFile.pipeline(file), Duration.ofMillis(500)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("Class Sums was not ready within 500 ms", "start() does not return");
    }

    @Test
    void a_jar_that_is_not_there_or_is_none_and_a_class_that_is_not_in_it_are_refused() throws IOException {
        assertThatThrownBy(() -> PipelineFunction.load(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("There is no jar " + folder.resolve("sums.jar")
                        + ". Build it, or correct 'jar', which is relative to the pipeline file");
        Files.writeString(folder.resolve("sums.jar"), "not a jar");
        assertThatThrownBy(() -> PipelineFunction.load(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(folder.resolve("sums.jar") + " is not a jar (");
        Jars.write(folder.resolve("sums.jar"), "Other", "public class Other {}");
        assertThatThrownBy(() -> PipelineFunction.load(file)).hasMessage("There is no class Sums in sums.jar");
        pipeline("Other\n  jar: sums.jar");
        assertThatThrownBy(() -> PipelineFunction.load(file))
                .hasMessage("Class Other does not implement dev.onefold.process.Processor");
    }

    @Test
    void an_inexact_type_is_refused_by_its_name() throws IOException {
        Jars.write(folder.resolve("sums.jar"), "Sums", SOURCE.formatted("double"));
        assertThatThrownBy(() -> PipelineFunction.load(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("Sums", "amount", "double");
    }

    @Test
    void without_a_jar_the_function_is_on_the_class_path() throws IOException {
        pipeline(Counting.class.getName());
        PipelineFunction loaded = PipelineFunction.load(file);
        assertThat(loaded.jar()).isEmpty();
        assertThat(Objects.requireNonNull(loaded.function().processing().code()).sha256())
                .isEmpty();
    }

    @Test
    void a_pipeline_without_a_function_is_refused() throws IOException {
        Files.writeString(file, "pipeline: sums\ninput: {}\nrollup: {levels: [], measures: {n: count()}}\n");
        assertThatThrownBy(() -> PipelineFunction.load(file)).hasMessage("Pipeline sums has no process section");
    }

    /// On the class path.
    public static final class Counting implements Processor<Counting.Count, Counting.Any> {
        /// How many events came.
        public record Count(long count) {}

        /// An event.
        public record Any(String user) {}

        @Override
        public Count start() {
            return new Count(0);
        }

        @Override
        public Step<Count> step(Count count, Any event) {
            return Step.to(new Count(count.count() + 1));
        }
    }
}
