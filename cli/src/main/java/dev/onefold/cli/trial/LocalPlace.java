package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.demo.LocalParts;
import dev.onefold.cli.show.Words;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// An empty account on this machine, in a process of its own: see `TrialProcess` of the module `local`. It ends when we
/// do, because its standard input is a pipe of ours.
final class LocalPlace implements AutoCloseable {
    private static final String MAIN = "dev.onefold.local.demo.TrialProcess";
    private static final String PREFIX = "trial ";
    private static final String OPENED = PREFIX + "opened ";
    private static final String SETSID = "setsid";
    private static final String REGION = "eu-central-1";
    private static final int LINES_MAX = 20;
    private static final int SECONDS_MAX = 20;

    private final Process process;
    private final URI endpoint;

    private LocalPlace(Process process, URI endpoint) {
        this.process = process;
        this.endpoint = endpoint;
    }

    /// Starts it.
    static LocalPlace open(Caller caller) throws IOException {
        LocalParts parts = LocalParts.of(caller, "aws trial --local");
        List<String> command = new ArrayList<>(alone());
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "-XX:+UseParallelGC",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                parts.classPath(),
                MAIN,
                parts.node().toString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Deque<String> lines = new ArrayDeque<>();
        BufferedReader said = process.inputReader();
        for (String line = said.readLine(); line != null; line = said.readLine()) {
            if (line.startsWith(OPENED)) {
                Thread.ofVirtual().start(() -> ignore(said));
                System.setProperty("aws.accessKeyId", "OPERATOR"); // What the SDK looks for first.
                System.setProperty("aws.secretAccessKey", "secret");
                System.setProperty("aws.cborEnabled", "false"); // The stand-in for Kinesis speaks JSON.
                return new LocalPlace(process, URI.create(line.substring(OPENED.length())));
            }
            lines.addLast(line.startsWith(PREFIX) ? line.substring(PREFIX.length()) : line);
            if (lines.size() > LINES_MAX) {
                lines.removeFirst();
            }
        }
        throw new CommandFailure(
                ExitCode.DIRECTORY,
                "What stands in for AWS cannot be started: " + Words.visible(String.join("\n", lines)));
    }

    /// Reads and discards the later output of the process, which would block if its output were not read.
    private static void ignore(BufferedReader said) {
        try {
            said.transferTo(Writer.nullWriter());
        } catch (IOException closed) {
            // Its process was ended, and with it what it says.
        }
    }

    /// Ctrl-C in a terminal goes to all processes of its group, and what stands in for AWS must still be there when the
    /// trial deletes what it has made. So it gets a session of its own, where there is the program for that.
    private static List<String> alone() {
        boolean isThere = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, SETSID)));
        return isThere ? List.of(SETSID) : List.of();
    }

    Connection.Place place() {
        return new Connection.Place(REGION, null, endpoint);
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }
}
