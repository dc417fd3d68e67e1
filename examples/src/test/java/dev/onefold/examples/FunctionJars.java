package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// The jars of examples with a function, built as their pages say.
public final class FunctionJars {
    private FunctionJars() {}

    /// Builds the jar of an example in its folder.
    public static void build(String example) {
        Path script = Clone.root().resolve("examples").resolve(example).resolve("build.sh");
        ProcessBuilder building = new ProcessBuilder(script.toString()).redirectErrorStream(true);
        building.environment().put("JAVA_HOME", System.getProperty("java.home"));
        try {
            Process process = building.start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(said).isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("Interrupted while a jar was built", e);
        }
    }
}
