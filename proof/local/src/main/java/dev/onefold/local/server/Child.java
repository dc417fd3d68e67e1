package dev.onefold.local.server;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// A process that does not outlive this one. What it says is read all the time, and the last of it is kept.
public final class Child implements AutoCloseable {
    private static final String SETSID = "setsid";
    private static final int LINES_MAX = 200;
    private static final int SECONDS_MAX = 10;

    private final Process process;
    private final Thread atExit;
    private final Thread reader;
    private final Deque<String> lines = new ArrayDeque<>();
    private volatile boolean killed;

    private Child(Process process, Consumer<String> line) {
        this.process = process;
        atExit = new Thread(this::kill);
        Runtime.getRuntime().addShutdownHook(atExit);
        reader = Thread.ofVirtual().start(() -> read(line));
    }

    /// Starts it. Its standard input is a pipe of ours, which closes even if we are killed.
    ///
    /// @param line gets each line that it writes, from one thread
    public static Child start(ProcessBuilder builder, Consumer<String> line) throws IOException {
        builder.command(
                Stream.concat(alone().stream(), builder.command().stream()).toList());
        return new Child(builder.redirectErrorStream(true).start(), line);
    }

    /// Ctrl-C in a terminal goes to all processes of its group, and a command that deletes the resources that it
    /// has made still needs its servers then. So they get a session of their own, where there is the program for
    /// that.
    private static List<String> alone() {
        boolean isThere = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, SETSID)));
        return isThere ? List.of(SETSID) : List.of();
    }

    private void read(Consumer<String> line) {
        try (BufferedReader said = process.inputReader()) {
            for (String text = said.readLine(); text != null; text = said.readLine()) {
                synchronized (lines) {
                    lines.addLast(text);
                    if (lines.size() > LINES_MAX) {
                        lines.removeFirst();
                    }
                }
                line.accept(text);
            }
        } catch (IOException e) {
            if (!killed) { // Killing closes its streams, and may do so while one is read.
                throw new UncheckedIOException("Output of process " + process.pid() + " cannot be read", e);
            }
        }
    }

    /// The process itself.
    public Process process() {
        return process;
    }

    /// The last lines that it wrote.
    public String said() {
        synchronized (lines) {
            return String.join("\n", lines);
        }
    }

    /// Ends it at once (`kill -9`).
    public void kill() {
        killed = true;
        process.destroyForcibly();
    }

    /// Asks it to end (`kill`), and waits until it has.
    public void end() throws InterruptedException {
        process.toHandle().destroy(); // Of the process itself, this would close the streams that it may still write to.
        process.waitFor();
    }

    @Override
    public void close() {
        kill();
        try {
            process.waitFor(SECONDS_MAX, TimeUnit.SECONDS);
            reader.join(SECONDS_MAX * 1_000L);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException exiting) {
            // Then it runs, and kills what is dead already.
        }
    }
}
