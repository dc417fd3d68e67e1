package dev.onefold.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// `onefold` in a process of its own. Its standard error lies in a file.
public final class OnefoldProcess implements AutoCloseable {
    private static final Duration WAIT_MAX = Duration.ofSeconds(60);

    private final Process process;
    private final Path err;

    private OnefoldProcess(Process process, Path err) {
        this.process = process;
        this.err = err;
    }

    public static OnefoldProcess start(Path folder, String... arguments) throws IOException {
        return start(folder, Map.of(), arguments);
    }

    /// With these variables besides those of this process.
    public static OnefoldProcess start(Path folder, Map<String, String> variables, String... arguments)
            throws IOException {
        return start(ProcessBuilder.Redirect.PIPE, folder, variables, arguments);
    }

    /// With its standard output in a file.
    public static OnefoldProcess startInto(Path out, Path folder, String... arguments) throws IOException {
        return start(ProcessBuilder.Redirect.to(out.toFile()), folder, Map.of(), arguments);
    }

    private static OnefoldProcess start(
            ProcessBuilder.Redirect out, Path folder, Map<String, String> variables, String... arguments)
            throws IOException {
        Path err = Files.createTempFile(folder, "err", ".txt");
        List<String> command = new ArrayList<>(List.of(
                "env",
                "--default-signal=INT", // A script that runs the build in its background ignores it, and so would a
                // child.
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.onefold.cli.Main"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectError(err.toFile())
                .redirectOutput(out);
        builder.environment().putAll(variables);
        Process process = builder.start();
        return new OnefoldProcess(process, err);
    }

    public Process process() {
        return process;
    }

    public String err() {
        try {
            return Files.readString(err);
        } catch (IOException e) {
            return e.toString();
        }
    }

    public String out() throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    /// SIGKILL.
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        assertThat(process.waitFor(WAIT_MAX.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    public void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                .start()
                .waitFor();
    }

    public int exitCode() throws InterruptedException {
        assertThat(process.waitFor(WAIT_MAX.toSeconds(), TimeUnit.SECONDS))
                .as(err())
                .isTrue();
        return process.exitValue();
    }

    /// Waits until something is so.
    public static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + WAIT_MAX.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waiting until " + what).isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(WAIT_MAX.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
