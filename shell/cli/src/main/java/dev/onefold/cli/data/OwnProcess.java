package dev.onefold.cli.data;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The same program as this one, by the same Java, in a process that can be killed and does not outlive this
/// one.
public record OwnProcess(Process process, AtExit killing) implements AutoCloseable {
    /// Starts it. Its standard output is discarded.
    ///
    /// @param errors the destination of its standard error
    public static OwnProcess start(ProcessBuilder.Redirect errors, String... words) throws IOException {
        return start(
                new ProcessBuilder()
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(errors),
                List.of(),
                List.of(words));
    }

    /// Starts it.
    ///
    /// @param builder has the destinations of its output
    /// @param options options of Java beside those of this process
    public static OwnProcess start(ProcessBuilder builder, List<String> options, List<String> words)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(options);
        command.addAll(List.of("-cp", classPath(), "dev.onefold.cli.Main"));
        command.addAll(words);
        Process process = builder.command(command).start();
        return new OwnProcess(
                process, new AtExit(() -> process.destroyForcibly().onExit().join()));
    }

    private static String classPath() {
        return System.getProperty("java.class.path", ".")
                .replace(File.pathSeparator + File.pathSeparator, File.pathSeparator);
    }

    /// Kills it, unless it has ended.
    @Override
    public void close() {
        killing.close();
    }
}
