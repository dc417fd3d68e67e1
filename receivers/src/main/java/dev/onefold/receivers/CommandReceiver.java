package dev.onefold.receivers;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching.Destination;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Runs a command for each batch, with the content on its standard input. Its standard output is discarded,
/// its standard error is read to the end and the last part of it kept. Whatever it does, it ends with its
/// time.
final class CommandReceiver implements Receiver {
    static final Duration TIMEOUT_DEFAULT = Duration.ofHours(1);
    static final int ERROR_LENGTH_MAX = 2_000;

    /// By the convention of sysexits.h: try again later.
    private static final int TRY_AGAIN = 75;

    /// A process that a signal ended has this exit code and the signal's number.
    private static final int SIGNAL = 128;

    private static final int SIGNALS = 64;
    private static final int BUFFER_BYTES = 1 << 16;

    /// For what a child that was left behind may still write to standard error.
    private static final Duration ERROR_WAIT = Duration.ofSeconds(1);

    private final Destination destination;
    private final Path folder;
    private final Duration timeout;

    CommandReceiver(Destination destination, Path folder) {
        this.destination = destination;
        this.folder = folder;
        this.timeout = Receivers.time(destination, "timeout", TIMEOUT_DEFAULT);
    }

    @Override
    public Outcome deliver(Handover handover) throws InterruptedException {
        handover.verify(); // A command may act on what it has read before it sees the end.
        Process process;
        try {
            process = start(handover);
        } catch (IOException e) {
            return new Outcome.NotNow(cannotStart(e), null);
        }
        try {
            Input input = new Input(handover, process);
            Thread feeding = Thread.ofVirtual().start(input);
            Errors errors = new Errors(process);
            Thread reading = Thread.ofVirtual().start(errors);
            boolean ended = process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS);
            if (!ended) {
                kill(process);
            }
            feeding.join(ERROR_WAIT);
            reading.join(ERROR_WAIT);
            input.check();
            String said = errors.last();
            return ended
                    ? outcome(process.exitValue(), said)
                    : new Outcome.Unknown(
                            "The command was killed, because it ran longer than " + timeout.toSeconds() + " s" + said);
        } finally {
            kill(process);
        }
    }

    private Process start(Handover handover) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(destination.target())
                .directory(folder.toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        Manifest manifest = handover.manifest();
        Map<String, String> environment = builder.environment();
        environment.put("ONEFOLD_BATCH", manifest.id());
        environment.put("ONEFOLD_NUMBER", manifest.number().toString());
        environment.put("ONEFOLD_RECORDS", Long.toString(manifest.records()));
        environment.put("ONEFOLD_BYTES", Long.toString(manifest.bytes()));
        environment.put("ONEFOLD_SHA256", manifest.sha256());
        environment.put("ONEFOLD_ATTEMPT", Integer.toString(handover.attempt()));
        return builder.start();
    }

    private String cannotStart(IOException e) {
        String command = destination.target().getFirst();
        return Files.isDirectory(folder)
                ? "The command " + command + " cannot be started: " + e.getMessage()
                        + ". Install it, or correct its path"
                : "The command " + command + " cannot be started, because there is no folder " + folder;
    }

    private static Outcome outcome(int code, String said) {
        if (code == 0) {
            return new Outcome.Done();
        }
        if (code == TRY_AGAIN) {
            return new Outcome.NotNow("The command asks to try again later (exit code 75)" + said, null);
        }
        return code > SIGNAL && code <= SIGNAL + SIGNALS
                ? new Outcome.Unknown("The command was ended by signal " + (code - SIGNAL) + said)
                : new Outcome.Refused("The command ended with exit code " + code + said);
    }

    /// Ends a process with its children.
    private static void kill(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    /// Writes the content to the standard input of a process.
    private static final class Input implements Runnable {
        private final Handover handover;
        private final Process process;
        private volatile @Nullable RuntimeException failure;

        Input(Handover handover, Process process) {
            this.handover = handover;
            this.process = process;
        }

        @Override
        public void run() {
            try (InputStream content = handover.open()) {
                feed(content);
            } catch (EngineException e) {
                failure = e;
                kill(process);
            } catch (IOException e) {
                failure = new IllegalStateException("The content of a batch could not be closed", e);
                kill(process);
            }
        }

        /// A command need not read its input: its exit code alone says what came of it.
        private void feed(InputStream content) throws IOException {
            byte[] buffer = new byte[BUFFER_BYTES];
            OutputStream out = process.getOutputStream();
            for (int count = content.read(buffer); count >= 0; count = content.read(buffer)) {
                try {
                    out.write(buffer, 0, count);
                } catch (IOException closedByCommand) {
                    break;
                }
            }
            try {
                out.close();
            } catch (IOException closedByCommand) {
                return;
            }
        }

        void check() {
            RuntimeException failed = failure;
            if (failed != null) {
                throw failed;
            }
        }
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
