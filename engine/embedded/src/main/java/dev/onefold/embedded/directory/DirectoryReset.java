package dev.onefold.embedded.directory;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.disk.DirectoryLock;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.guard.Space;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The file `RESET` of a data directory that is being emptied, or that was emptied and has not been used since.
/// It is a line of text:
///
///     onefold-reset 1 begun|done PIPELINE
///
/// `begun` is on the disk before the first file is deleted, and `done` replaces it when the last one is
/// deleted for good. The first deleted file is `CURRENT`, and it is deleted for good before the next. So if
/// it is there, the data are whole, also those of a copy that was put here meanwhile, and the reset has not
/// begun. If it is not there, nobody reads the directory, and its next owner deletes the rest before anything
/// else. So no engine ever opens a part of the data. `done` stays until `CURRENT` is durable again: it says
/// whose folder this is, if files of somebody else are in it.
public final class DirectoryReset {
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");
    private static final int FORMAT = 1;
    private static final Pattern LINE = Pattern.compile("onefold-reset " + FORMAT + " (begun|done) ([a-z0-9-]+)\n");

    private DirectoryReset() {}

    /// The pipeline of a directory that was not emptied to the end; empty if this is not such a directory.
    public static Optional<String> begun(Path root) {
        Path file = FileNames.reset(root);
        if (!Disk.exists(file) || FileNames.hasData(root)) {
            return Optional.empty();
        }
        byte[] bytes;
        try {
            bytes = Disk.readAll(file);
        } catch (EngineException e) {
            if (e.getCause() instanceof NoSuchFileException) {
                return Optional.empty(); // The next owner has deleted it meanwhile.
            }
            throw e;
        }
        Matcher line = LINE.matcher(new String(bytes, StandardCharsets.US_ASCII));
        if (!line.matches()) {
            throw Disk.corrupt(file, 0, "it does not say how far a reset is");
        }
        return line.group(1).equals("begun") ? Optional.of(line.group(2)) : Optional.empty();
    }

    /// Empties a directory, as its owner. If this user may not delete one of its files, nothing is noted and
    /// nothing is deleted. If a later step fails, [#finish] completes it.
    public static void empty(Path root, String pipeline, DirectoryLock lock, Space space) {
        FileNames.requireDeletable(root);
        lock.requireHeld();
        write(root, "begun", pipeline, space);
        try {
            FileNames.deleteData(root);
            lock.requireHeld();
            write(root, "done", pipeline, space);
        } catch (EngineException e) {
            throw e.getCause() instanceof IOException cause ? halfDone(root, e.kind(), cause) : e;
        }
    }

    private static EngineException halfDone(Path root, EngineException.Kind kind, IOException cause) {
        return new EngineException(
                kind,
                "The reset of " + root + " stopped half way, and a part of the data may be deleted: "
                        + (kind == EngineException.Kind.INACCESSIBLE ? "this user may not delete " : "the disk said ")
                        + cause.getMessage() + ". Mend that, and run 'onefold reset' again, which deletes the rest; so"
                        + " does the next 'onefold run'.",
                cause);
    }

    /// Deletes the rest of a directory that was not emptied to the end, as its owner, and logs that.
    ///
    /// @return whether there was a rest
    public static boolean finish(Path root, DirectoryLock lock, Space space) {
        Optional<String> pipeline = begun(root);
        pipeline.ifPresent(name -> {
            empty(root, name, lock, space);
            LOG.log(
                    System.Logger.Level.WARNING,
                    "A reset of " + root + " was interrupted; the rest of its data was deleted first.");
        });
        return pipeline.isPresent();
    }

    private static void write(Path root, String state, String pipeline, Space space) {
        String line = "onefold-reset " + FORMAT + " " + state + " " + pipeline + "\n";
        ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII));
        space.change(() -> Disk.replace(FileNames.reset(root), bytes.duplicate()));
    }
}
