package dev.onefold.examples;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.api.RemoteEngine;
import dev.onefold.core.Engine;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.process.Processor;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An application that is a Java module embeds the engine: it has the exported packages, and no others.
class ModulePathTest {
    private static final String MODULE = """
            module application {
                requires dev.onefold.embedded;
            }
            """;
    private static final String MAIN = """
            package dev.onefold.examples;

            import dev.onefold.core.EngineException;
            import dev.onefold.core.builder.PipelineBuilder;
            import dev.onefold.embedded.EmbeddedEngine;
            import dev.onefold.embedded.Settings;
            import dev.onefold.embedded.source.FileSource;
            import dev.onefold.embedded.source.FoldListener;
            import java.nio.file.Files;
            import java.nio.file.Path;

            final class Main {
                public static void main(String[] arguments) throws Exception {
                    Path folder = Path.of(arguments[0]);
                    Path plain = Files.writeString(folder.resolve("plain.ndjson"), "{}\\n");
                    Path zst = Files.writeString(folder.resolve("compressed.ndjson.zst"), "{}");
                    var pipeline = PipelineBuilder.named("lines").rollup(r -> r.count("lines")).build();
                    try (var engine = EmbeddedEngine.open(folder.resolve("lines"), pipeline, Settings.defaults())) {
                        System.out.println(engine.fold(FileSource.of(plain), FoldListener.silent()));
                        System.out.println(engine.fold(FileSource.of(zst), FoldListener.silent()));
                    } catch (EngineException missing) {
                        System.out.println(missing.getMessage());
                    }
                    System.out.println(EmbedInTenLines.run(folder.resolve("data"),
                            "{\\"TradeID\\":\\"a\\",\\"Version\\":1,\\"Desk\\":\\"FXSpot\\",\\"Value\\":100.10}",
                            "{\\"TradeID\\":\\"b\\",\\"Version\\":1,\\"Desk\\":\\"FXSpot\\",\\"Value\\":0.20}"));
                }
            }
            """;

    @TempDir
    Path folder;

    /// What an application needs, and nothing else: no annotations, no jar of others.
    private static String modulePath() {
        return Stream.of(Processor.class, Engine.class, RemoteEngine.class, EmbeddedEngine.class)
                .map(ModulePathTest::place)
                .collect(joining(System.getProperty("path.separator")));
    }

    private static String place(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static String readmeExample(String name) {
        return Clone.text("examples/src/test/java/dev/onefold/examples/" + name);
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    /// What the compiler says of these files; empty if all is well.
    private String compile(Path... files) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter said = new StringWriter();
        try (var manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            List<String> options = List.of(
                    "--module-path",
                    modulePath(),
                    "--class-path",
                    "",
                    "-d",
                    folder.resolve("classes").toString(),
                    "-Xlint:all",
                    "-Werror");
            compiler.getTask(said, manager, null, options, null, manager.getJavaFileObjects(files))
                    .call();
        }
        return said.toString();
    }

    @Test
    void a_module_embeds_the_engine_through_the_exported_packages() throws Exception {
        assertThat(compile(
                        write("module-info.java", MODULE),
                        write("EmbedInTenLines.java", readmeExample("EmbedInTenLines.java")),
                        write("FollowAFile.java", readmeExample("FollowAFile.java")),
                        write("Main.java", MAIN)))
                .isEmpty();

        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--module-path",
                        modulePath() + System.getProperty("path.separator") + folder.resolve("classes"),
                        "--module",
                        "application/dev.onefold.examples.Main",
                        folder.toString())
                .redirectErrorStream(true)
                .start();
        assertThat(new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("Folded[records=1, bytes=3]", "Add com.github.luben:zstd-jni to the class path")
                .contains("Line[group=[], ", "Line[group=[FXSpot], ", "100.30");
        assertThat(program.waitFor()).isZero();
    }

    @Test
    void the_compiler_refuses_a_hidden_package_and_a_fast_form() throws Exception {
        String refused = compile(
                write("module-info.java", MODULE),
                write("Hidden.java", "import dev.onefold.embedded.rows.Rows;\nclass Hidden { Rows rows; }\n"),
                write("Fast.java", "import dev.onefold.core.map.Groups;\nclass Fast { Groups groups; }\n"));
        assertThat(refused)
                .contains(
                        "package dev.onefold.embedded.rows is declared in module dev.onefold.embedded, which does not export it",
                        "package dev.onefold.core.map is declared in module dev.onefold.core, which does not export it to module application");
    }
}
