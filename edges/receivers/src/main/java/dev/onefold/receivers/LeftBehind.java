package dev.onefold.receivers;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/// Commands that a process had started when it was killed. They continue by themselves. So before any batch
/// is delivered again they are ended: otherwise a batch would be in two commands at a time.
///
/// A command is known by a variable in its environment, which it has from its first instruction on and its
/// children inherit, unless they clear it; a note of its process number would be made too late. Only Linux
/// shows the environment of processes.
final class LeftBehind {
    /// Of all files that are made for commands.
    static final String PREFIX = "command-";

    private static final String VARIABLE = "ONEFOLD_HANDOVER";
    private static final AtomicLong ATTEMPTS = new AtomicLong();
    private static final Path PROCESSES = Path.of("/proc");
    private static final Duration END_MAX = Duration.ofSeconds(10);
    private static final Duration LOOK_EVERY = Duration.ofMillis(20);

    private LeftBehind() {}

    /// Marks a command that is about to be started; the mark ends it with all that it has started.
    static Mark mark(ProcessBuilder command, Path spool) throws IOException {
        String attempt = id(spool) + "." + ATTEMPTS.incrementAndGet();
        command.environment().put(VARIABLE, attempt);
        return new Mark("\0" + VARIABLE + "=" + attempt + "\0");
    }

    /// The mark that a command and its children have in their environments.
    record Mark(String text) {
        void kill(ProcessHandle process) {
            LeftBehind.kill(process);
            marked(text).forEach(LeftBehind::kill); // Also children that have left it.
        }
    }

    /// The identity of the folder in letters that each locale has. A folder that is moved keeps its identity,
    /// unless the file system knows none.
    private static String id(Path spool) throws IOException {
        Object key = Files.readAttributes(spool, BasicFileAttributes.class).fileKey();
        String identity = key == null ? spool.toRealPath().toString() : key.toString();
        return UUID.nameUUIDFromBytes(identity.getBytes(UTF_8)).toString();
    }

    /// Ends the commands that were left behind, and deletes their files.
    ///
    /// @param spool the folder of this process alone
    static void end(Path spool) {
        if (!Files.isDirectory(spool)) {
            return;
        }
        try {
            endProcesses(spool);
            try (DirectoryStream<Path> files = Files.newDirectoryStream(spool, PREFIX + "*")) {
                for (Path file : files) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The folder " + spool + " cannot be emptied", e);
        }
    }

    private static void endProcesses(Path spool) throws IOException {
        String mark = "\0" + VARIABLE + "=" + id(spool) + ".";
        long deadline = System.nanoTime() + END_MAX.toNanos();
        for (List<ProcessHandle> left = marked(mark); !left.isEmpty(); left = marked(mark)) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("The command with process number "
                        + left.getFirst().pid() + " of an earlier run cannot be ended. End it first");
            }
            left.forEach(LeftBehind::kill);
            LockSupport.parkNanos(TimeUnit.NANOSECONDS.convert(LOOK_EVERY));
        }
    }

    private static List<ProcessHandle> marked(String mark) {
        long own = ProcessHandle.current().pid();
        return ProcessHandle.allProcesses()
                .filter(process -> process.pid() != own && environment(process).contains(mark))
                .toList();
    }

    /// Its variables, each between two zeros; empty of a process that has ended or is another user's.
    private static String environment(ProcessHandle process) {
        try {
            return "\0" + Files.readString(PROCESSES.resolve(process.pid() + "/environ"), ISO_8859_1);
        } catch (IOException notToBeSeen) {
            return "";
        }
    }

    /// Ends a process with its children: it first, because it would continue when a child ends.
    static void kill(ProcessHandle process) {
        List<ProcessHandle> children = process.descendants().toList();
        process.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
    }
}
