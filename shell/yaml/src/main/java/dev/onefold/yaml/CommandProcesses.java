package dev.onefold.yaml;

import dev.onefold.core.process.CommandFunction.NoAnswerException;
import dev.onefold.core.process.CommandFunction.Processes;
import dev.onefold.core.process.CommandFunction.ProgramException;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/// The processes of a function that is a command. Each thread that asks takes an idle process, or starts one. A
/// process that does not answer, or answers wrongly, is killed with all that it has started, and another one is
/// started for the next line: the function is pure, so nothing is lost with it. A process sees the end of its
/// standard input when this one ends.
final class CommandProcesses implements Processes {
    /// Greatest time between two lines of an answer. A program answers sooner where one call does not take as long.
    private static final Duration CALL_MAX = Duration.ofSeconds(1);

    /// Greatest time that one wait counts for. During a longer wait this process was stopped, and perhaps the child
    /// too, or the child has answered meanwhile.
    private static final long WAIT_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(100);

    /// For the time that a process has to end by itself.
    private static final Duration END_MAX = Duration.ofMillis(200);

    /// For what it has still written to standard error.
    private static final Duration ERROR_WAIT = Duration.ofSeconds(1);

    /// A context of 90,000 bytes and rows of 2,000,000 bytes, each byte of them as an escape of JSON.
    private static final int LINE_BYTES_MAX = 16 << 20;

    private static final int START_TRIES = 3; // After the first process.
    private static final int ERROR_LINES_MAX = 100; // Of one process.
    private static final int ERROR_LENGTH_MAX = 500;
    private static final System.Logger LOG = System.getLogger("dev.onefold.function");
    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();
    private static final ThreadFactory PIPES =
            Thread.ofPlatform().daemon().name("onefold-function-pipes").factory();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(CommandProcesses::kill)));
    }

    private final List<String> words;
    private final Path folder;
    private final Duration startMax;
    private final String sha256;
    private final byte[] hello;
    private final Deque<Child> idle = new ArrayDeque<>();

    /// Starts a process.
    ///
    /// @param startMax greatest time until its first line
    /// @throws IllegalArgumentException if it cannot be started, or does not say anything
    CommandProcesses(List<String> words, Path folder, Duration startMax) {
        this.words = words;
        this.folder = folder;
        this.startMax = startMax;
        sha256 = CommandFiles.sha256(words, folder);
        Child first;
        try {
            first = new Child();
        } catch (NoAnswerException e) {
            throw new IllegalArgumentException(cannotStart(e), e);
        }
        hello = first.hello;
        requireUnchanged(first);
        idle.push(first);
    }

    /// The hash of the command's files, which each process has started from.
    String sha256() {
        return sha256;
    }

    /// Refuses a process of other code than the first one's: the events of a key would be folded by two functions.
    private void requireUnchanged(Child child) {
        if (!CommandFiles.sha256(words, folder).equals(sha256) || !Arrays.equals(child.hello, hello)) {
            child.end();
            throw new ProgramException(
                    "The command " + String.join(" ", words) + ", in the folder " + folder
                            + ", has changed since it was started first. Start Onefold again, so that it takes the new one"
                            + " from one event on",
                    null);
        }
    }

    private String cannotStart(NoAnswerException e) {
        return "The command " + String.join(" ", words) + ", in the folder " + folder + ", " + e.getMessage()
                + ". Start it there by hand to see what is wrong";
    }

    @Override
    public byte[] hello() {
        return hello.clone();
    }

    @Override
    public void ask(byte[] line, Predicate<byte[]> isWhole) {
        Child child = take();
        boolean answered = false;
        try {
            child.ask(line, isWhole);
            answered = true;
        } finally {
            if (answered) {
                give(child);
            } else {
                child.end();
            }
        }
    }

    private Child take() {
        synchronized (idle) {
            Child child = idle.poll();
            while (child != null && !child.process.isAlive()) {
                child.end();
                child = idle.poll();
            }
            if (child != null) {
                return child;
            }
        }
        for (int i = 1; ; i++) {
            try {
                Child child = new Child();
                requireUnchanged(child);
                return child;
            } catch (NoAnswerException e) {
                if (i == START_TRIES) {
                    throw new ProgramException(cannotStart(e), e);
                }
            }
        }
    }

    private void give(Child child) {
        synchronized (idle) {
            idle.push(child);
        }
    }

    @Override
    public void release() {
        synchronized (idle) {
            idle.forEach(Child::end);
            idle.clear();
        }
    }

    private static void kill(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    /// A process. One thread at a time uses it, and another one reads and writes the pipes: a program that the
    /// process has started may hold them open, and no call of its own can end a read or a write.
    private final class Child {
        final Process process;
        final byte[] hello;
        private final OutputStream in;
        private final InputStream out;
        private final byte[] read = new byte[1 << 16];
        private int from;
        private int to;
        private long waitedNanos; // For the line.
        private final ExecutorService pipes = Executors.newSingleThreadExecutor(PIPES);
        private final Thread log;
        private volatile String lastError = "";

        /// @throws NoAnswerException if it says nothing in time
        Child() {
            ProcessBuilder builder = new ProcessBuilder(words).directory(folder.toFile());
            builder.environment().put("PYTHONHASHSEED", "0"); // The order of a set is the same in each process.
            try {
                process = builder.start();
            } catch (IOException e) {
                throw new NoAnswerException("cannot be started: " + e.getMessage(), false);
            }
            RUNNING.add(process);
            in = process.getOutputStream();
            out = process.getInputStream();
            log = Thread.ofPlatform().daemon().name("onefold-function-log").start(this::log);
            boolean begun = false;
            try {
                hello = line(startMax);
                begun = true;
            } finally {
                if (!begun) {
                    end();
                }
            }
        }

        void ask(byte[] line, Predicate<byte[]> isWhole) {
            if (from < to || available() > 0) {
                throw new NoAnswerException("has written more than its answers", false);
            }
            waitedNanos = 0;
            await(
                    () -> {
                        in.write(line);
                        in.write('\n');
                        in.flush();
                        return 0;
                    },
                    CALL_MAX);
            boolean whole = false;
            while (!whole) {
                whole = isWhole.test(line(CALL_MAX));
            }
        }

        private int available() {
            try {
                return out.available();
            } catch (IOException closed) {
                throw gone();
            }
        }

        /// The next line that it writes.
        private byte[] line(Duration most) {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            waitedNanos = 0;
            while (true) {
                int end = from;
                while (end < to && read[end] != '\n') {
                    end++;
                }
                line.write(read, from, end - from);
                boolean whole = end < to;
                from = whole ? end + 1 : end;
                if (whole) {
                    return line.toByteArray();
                }
                if (line.size() > LINE_BYTES_MAX) {
                    throw new NoAnswerException("has written a line of more than " + LINE_BYTES_MAX + " bytes", false);
                }
                from = 0;
                to = 0;
                to = await(() -> out.read(read), most);
                if (to < 0) {
                    throw gone();
                }
            }
        }

        /// Reads or writes a pipe, until the waits for the line have taken some time.
        private int await(Callable<Integer> some, Duration most) {
            Future<Integer> done = pipes.submit(some);
            while (waitedNanos < most.toNanos()) {
                long begun = System.nanoTime();
                try {
                    return done.get(WAIT_NANOS_MAX, TimeUnit.NANOSECONDS);
                } catch (TimeoutException _) { // The next wait, if there is one, finds an answer that came meanwhile.
                } catch (ExecutionException closed) {
                    throw gone();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException(
                            "The function's process was not awaited: the thread was interrupted", e);
                } finally {
                    waitedNanos += Math.min(WAIT_NANOS_MAX, System.nanoTime() - begun);
                }
            }
            throw process.isAlive()
                    ? new NoAnswerException("has not answered within " + most.toMillis() + " ms", true)
                    : gone();
        }

        private NoAnswerException gone() {
            try {
                boolean ended = process.waitFor(END_MAX.toMillis(), TimeUnit.MILLISECONDS);
                kill(process);
                log.join(ERROR_WAIT);
                String said = lastError.isEmpty() ? "" : "; it said: " + lastError;
                return ended
                        ? new NoAnswerException("has ended with exit code " + process.exitValue() + said, false)
                        : new NoAnswerException("has closed its output" + said, false);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return new NoAnswerException("has ended", false);
            }
        }

        /// Passes on what it says on standard error, which is always read, so that it is never full.
        private void log() {
            try (BufferedReader error = process.errorReader(StandardCharsets.UTF_8)) {
                char[] buffer = new char[ERROR_LENGTH_MAX];
                StringBuilder line = new StringBuilder();
                int lines = 0;
                for (int count = error.read(buffer); count >= 0; count = error.read(buffer)) {
                    for (int i = 0; i < count; i++) {
                        if (buffer[i] == '\n') {
                            lines = say(line, lines);
                            line.setLength(0);
                        } else if (line.length() < ERROR_LENGTH_MAX) {
                            line.append(Character.isISOControl(buffer[i]) ? ' ' : buffer[i]);
                        }
                    }
                }
                say(line, lines);
            } catch (IOException endedWithTheProcess) {
                LOG.log(System.Logger.Level.DEBUG, "The standard error of a function's process was closed");
            }
        }

        private int say(StringBuilder line, int lines) {
            if (line.isEmpty()) {
                return lines;
            }
            lastError = line.toString();
            if (lines < ERROR_LINES_MAX) {
                LOG.log(System.Logger.Level.INFO, "Function: " + line);
            } else if (lines == ERROR_LINES_MAX) {
                LOG.log(System.Logger.Level.INFO, "Function: more lines of this process are not logged");
            }
            return lines + 1;
        }

        void end() {
            RUNNING.remove(process);
            kill(process);
            pipes.shutdownNow();
        }
    }
}
