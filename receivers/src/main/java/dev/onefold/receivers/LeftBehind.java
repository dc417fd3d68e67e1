package dev.onefold.receivers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Commands that a process had started when it was killed. They go on by themselves; so before any batch is delivered
/// again they are ended, or a batch would be in two commands at a time.
final class LeftBehind {
    /// Of all files that are made for commands.
    static final String PREFIX = "command-";

    private static final String MARK = ".running";
    private static final Duration END_MAX = Duration.ofSeconds(10);

    private LeftBehind() {}

    /// Notes that a command runs, for a later process. It is to be deleted when the command has ended.
    static Path mark(Path spool, Process process) {
        Path mark = spool.resolve(PREFIX + process.pid() + MARK);
        try {
            return Files.writeString(mark, start(process.toHandle()));
        } catch (IOException e) {
            kill(process.toHandle());
            throw new UncheckedIOException("The mark " + mark + " of a command cannot be written", e);
        }
    }

    /// When it was started: another process may have its number now.
    private static String start(ProcessHandle process) {
        return process.info().startInstant().map(Object::toString).orElse("");
    }

    /// Ends what was left behind, and deletes its files.
    ///
    /// @param spool of this process alone
    static void end(Path spool) {
        if (!Files.isDirectory(spool)) {
            return;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(spool, PREFIX + "*")) {
            for (Path file : files) {
                String name = String.valueOf(file.getFileName());
                if (name.endsWith(MARK)) {
                    end(name.substring(PREFIX.length(), name.length() - MARK.length()), Files.readString(file));
                }
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The folder " + spool + " cannot be emptied", e);
        }
    }

    private static void end(String pid, String start) {
        Optional<ProcessHandle> left = pid.matches("[0-9]{1,18}")
                ? ProcessHandle.of(Long.parseLong(pid))
                        .filter(process -> start(process).equals(start))
                : Optional.empty();
        left.ifPresent(process -> {
            kill(process);
            try {
                process.onExit().get(END_MAX.toSeconds(), TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException | TimeoutException e) {
                throw new IllegalStateException(
                        "The command with process number " + pid + " of an earlier run cannot be ended. End it first",
                        e);
            }
        });
    }

    /// Ends a process with its children.
    static void kill(ProcessHandle process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
