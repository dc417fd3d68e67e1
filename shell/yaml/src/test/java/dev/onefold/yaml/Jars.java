package dev.onefold.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/// Makes jars of Java sources, as a user's build does.
final class Jars {
    private Jars() {}

    /// A jar with the class of a source.
    ///
    /// @param name of the class, in no package
    static void write(Path jar, String name, String source) throws IOException {
        Path folder = Files.createTempDirectory(jar.toAbsolutePath().getParent(), "classes");
        Path file = Files.writeString(folder.resolve(name + ".java"), source);
        int code = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        List.of("-d", folder.toString(), file.toString()).toArray(String[]::new));
        assertThat(code).isZero();
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out);
                Stream<Path> classes = Files.list(folder)) {
            for (Path each : classes.filter(path -> path.toString().endsWith(".class"))
                    .sorted()
                    .toList()) {
                entries.putNextEntry(new JarEntry(each.getFileName().toString()));
                entries.write(Files.readAllBytes(each));
            }
        }
    }
}
