package dev.onefold.cli.trial;

import dev.onefold.cli.data.AtExit;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The same program as this one, by the same Java, in a process that can be killed and does not outlive this one.
record OwnProcess(Process process, AtExit killing) implements AutoCloseable {
    /// Starts it. Its standard output is discarded.
    ///
    /// @param errors the destination of its standard error
    static OwnProcess start(ProcessBuilder.Redirect errors, String... words) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", classPath(), "dev.onefold.cli.Main"));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(errors)
                .start();
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
