package dev.onefold.receivers;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Runs a command for each batch, with the content on its standard input. The standard output of the command is
/// discarded. Its standard error is read to the end, and the last part of it is kept. A command that exceeds its
/// time limit is killed.
///
/// The standard input is a file that holds all of the content before the command is started. A pipe would end like a
/// whole content when this process is killed, and the command would take a part for all.
final class CommandReceiver implements Receiver {
    static final Duration TIMEOUT_DEFAULT = Duration.ofHours(1);
    static final int ERROR_LENGTH_MAX = 2_000;

    /// By the convention of sysexits.h: try again later.
    private static final int TRY_AGAIN = 75;

    /// By the convention of shells: a program is there and cannot be run, or is not there.
    private static final int NOT_EXECUTABLE = 126;

    private static final int NOT_FOUND = 127;

    /// A process that a signal ended has this exit code and the signal's number.
    private static final int SIGNAL = 128;

    private static final int SIGNALS = 64;
    private static final int KILL = 9;

    /// For the output that a child that was left behind may still write to standard error.
    private static final Duration ERROR_WAIT = Duration.ofSeconds(1);

    /// Runs a program in a session of its own. Linux only.
    private static final String SETSID = "setsid";

    private static final String CANNOT_START = ": setsid: failed to execute ";

    private final Destination destination;
    private final Path folder;
    private final Path spool;
    private final Duration timeout;
    private final boolean hasSetsid;
    private final boolean isOnce;

    CommandReceiver(Batching batching, Context context) {
        destination = batching.deliver();
        isOnce = batching.receiver() == Batching.Receiver.ONCE;
        folder = context.folder();
        spool = context.spool();
        LeftBehind.end(spool);
        hasSetsid = isOnPath(SETSID);
        this.timeout = Receivers.time(destination, "timeout", TIMEOUT_DEFAULT);
    }

    private static boolean isOnPath(String program) {
        String path = System.getenv().getOrDefault("PATH", "");
        return Stream.of(path.split(File.pathSeparator)).anyMatch(folder -> new File(folder, program).canExecute());
    }

    @Override
    public Optional<String> trouble() {
        String program = destination.target().getFirst();
        boolean isThere = program.contains("/") ? Files.isExecutable(folder.resolve(program)) : isOnPath(program);
        return isThere
                ? Optional.empty()
                : Optional.of(cannotStart("there is no program " + program + " that may be run"));
    }

    @Override
    public Outcome deliver(Handover handover) throws InterruptedException {
        Process process;
        LeftBehind.Mark mark;
        Path content = null;
        try {
            content = spooled(handover);
            ProcessBuilder command = command(handover, content);
            mark = LeftBehind.mark(command, spool);
            process = command.start();
        } catch (ClosedByInterruptException e) {
            throw Handover.interrupted(e);
        } catch (IOException e) {
            return new Outcome.NotNow(
                    content == null ? cannotSpool(e) : cannotStart(String.valueOf(e.getMessage())), null);
        } finally {
            delete(content); // The command has it open.
        }
        try {
            Errors errors = new Errors(process);
            Thread reading = Thread.ofVirtual().start(errors);
            boolean ended = process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS);
            if (!ended) {
                mark.kill(process.toHandle());
                // A command that had ended by itself, while this process was stopped, has an exit code of its own.
                ended = process.waitFor(ERROR_WAIT) && process.exitValue() != SIGNAL + KILL;
            }
            reading.join(ERROR_WAIT);
            String said = errors.last();
            return ended
                    ? outcome(process.exitValue(), said)
                    : new Outcome.Unknown(
                            "The command was killed, because it ran longer than " + timeout.toSeconds() + " s" + said);
        } finally {
            if (process.isAlive()) {
                mark.kill(process.toHandle());
            }
        }
    }

    /// A file with all of the content, which is the sealed one.
    private Path spooled(Handover handover) throws IOException {
        Path file = Files.createTempFile(spool, LeftBehind.PREFIX, ".content");
        try (InputStream in = handover.open();
                OutputStream out = Files.newOutputStream(file)) {
            in.transferTo(out);
        } catch (IOException | EngineException e) {
            delete(file);
            throw e;
        }
        return file;
    }

    private static void delete(@Nullable Path file) {
        if (file != null) {
            boolean _ = file.toFile().delete(); // A file that stays is deleted when the next process begins.
        }
    }

    private String cannotSpool(IOException e) {
        return "The content cannot be written to the folder " + spool + ", from where a command reads it: "
                + e.getMessage() + ". Make space there, or set its permissions";
    }

    /// In a session of its own, if there is the program for it: Ctrl-C at a terminal is meant for this
    /// process, which gives the command time.
    private ProcessBuilder command(Handover handover, Path content) {
        List<String> words = new ArrayList<>(hasSetsid ? List.of(SETSID) : List.of());
        words.addAll(destination.target());
        ProcessBuilder builder = new ProcessBuilder(words)
                .directory(folder.toFile())
                .redirectInput(content.toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        Manifest manifest = handover.manifest();
        Map<String, String> environment = builder.environment();
        environment.put("ONEFOLD_BATCH", manifest.id());
        environment.put("ONEFOLD_NUMBER", manifest.number().toString());
        environment.put("ONEFOLD_RECORDS", Long.toString(manifest.records()));
        environment.put("ONEFOLD_BYTES", Long.toString(manifest.bytes()));
        environment.put("ONEFOLD_SHA256", manifest.sha256());
        environment.put("ONEFOLD_ATTEMPT", Integer.toString(handover.attempt()));
        return builder;
    }

    private String cannotStart(String reason) {
        String command = destination.target().getFirst();
        return Files.isDirectory(folder)
                ? "The command " + command + " cannot be started: " + reason + ". Install it, or correct its path"
                : "The command " + command + " cannot be started, because there is no folder " + folder;
    }

    private Outcome outcome(int code, String said) {
        if (code == 0) {
            return new Outcome.Done();
        }
        if (code == TRY_AGAIN) {
            return new Outcome.NotNow("The command asks to try again later (exit code 75)" + said, null);
        }
        // The command itself may use the same program for another one.
        String own = CANNOT_START + destination.target().getFirst() + ":";
        if ((code == NOT_EXECUTABLE || code == NOT_FOUND) && said.startsWith(own)) {
            return new Outcome.NotNow(cannotStart(said.substring(CANNOT_START.length())), null);
        }
        if (code == NOT_EXECUTABLE || code == NOT_FOUND) {
            String reason = "The command could not start a program (exit code " + code
                    + "). Install it, or correct its path" + said;
            // A script may have done its work, and not find the last program that it starts.
            return isOnce ? new Outcome.Unknown(reason) : new Outcome.NotNow(reason, null);
        }
        if (code <= SIGNAL) {
            return new Outcome.Refused("The command ended with exit code " + code + said);
        }
        return new Outcome.Unknown(
                code <= SIGNAL + SIGNALS
                        ? "The command was ended by signal " + (code - SIGNAL) + said
                        : "The command ended with exit code " + code + said);
    }

    /// Reads the standard error of a process, and keeps its end.
    private static final class Errors implements Runnable {
        private final Process process;
        private final StringBuilder last = new StringBuilder();

        Errors(Process process) {
            this.process = process;
        }

        @Override
        public void run() {
            char[] buffer = new char[ERROR_LENGTH_MAX];
            try (Reader in = process.errorReader()) {
                for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                    keep(buffer, count);
                }
            } catch (IOException endedWithTheProcess) {
                keep(buffer, 0);
            }
        }

        private synchronized void keep(char[] buffer, int count) {
            last.append(buffer, 0, count);
            last.delete(0, Math.max(0, last.length() - ERROR_LENGTH_MAX));
        }

        synchronized String last() {
            String text = last.toString().strip();
            return text.isEmpty() ? "" : ": " + text;
        }
    }
}
