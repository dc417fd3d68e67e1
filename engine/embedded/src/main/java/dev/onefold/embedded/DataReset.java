package dev.onefold.embedded;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.directory.DirectoryReset;
import dev.onefold.embedded.disk.DirectoryLock;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.guard.Space;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Empties a data directory for the next run. It owns the directory from [#own] to [#close].
///
/// All that Onefold has made there is deleted: rows, totals, dead letters, batches, positions of sources, the
/// journal, answers to requests, progress of seedings. Files of somebody else stay. If the process is killed
/// at any instant, the directory is as it was, or its next owner deletes the rest first.
public final class DataReset implements AutoCloseable {
    private final Path root;
    private final DirectoryLock lock;
    private final Space space;

    private DataReset(Path root, DirectoryLock lock, Settings settings) {
        this.root = root;
        this.lock = lock;
        space = new Space(
                settings.machine().pause(),
                settings.machine().clock(),
                settings.machine().spaceListener());
    }

    /// The pipeline of a directory whose reset was interrupted; empty if none was.
    ///
    /// @throws EngineException if the folder is somebody else's
    public static Optional<String> interrupted(Path directory) {
        FileNames.requireFolder(directory);
        FileNames.requireOurs(directory);
        return DirectoryReset.begun(directory);
    }

    /// The state of the data, as a text that changes when an engine has run.
    public static String state(Path directory) {
        StringBuilder state = new StringBuilder();
        FileNames.list(directory, FileNames::isView).forEach(view -> state.append(files(view)));
        return state.append(files(directory)).toString();
    }

    private static String files(Path folder) {
        StringBuilder state = new StringBuilder();
        List<Path> files = FileNames.list(
                folder,
                path -> Files.isRegularFile(path)
                        && !String.valueOf(path.getFileName()).startsWith("LOCK"));
        for (Path file : files) {
            try {
                state.append(file)
                        .append(' ')
                        .append(Files.size(file))
                        .append(' ')
                        .append(Files.getLastModifiedTime(file))
                        .append('\n');
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return state.toString();
    }

    /// Owns the directory.
    ///
    /// @throws EngineException if an engine runs on it, the folder is somebody else's, a file in it is a link,
    ///     or this user may not delete all of it
    public static DataReset own(Path directory, Settings settings) {
        FileNames.requireFolder(directory);
        FileNames.requireOurs(directory);
        FileNames.requireDeletable(directory);
        String holder = "process " + ProcessHandle.current().pid() + ", which empties it, since "
                + settings.machine().clock().instant();
        return new DataReset(directory, DirectoryLock.take(directory, holder), settings);
    }

    /// Deletes all data.
    ///
    /// @param pipeline name of the pipeline that the data are of
    public void empty(String pipeline) {
        DirectoryReset.empty(root, pipeline, lock, space);
    }

    /// Deletes the rest of the data, if a reset was interrupted.
    ///
    /// @return whether one was
    public boolean finish() {
        return DirectoryReset.finish(root, lock, space);
    }

    /// Owns the directory for a moment and deletes the rest of its data, if a reset was interrupted.
    ///
    /// @return whether one was
    public static boolean finishInterrupted(Path directory, Settings settings) {
        if (!DataFolder.exists(directory) || interrupted(directory).isEmpty()) {
            return false;
        }
        try (DataReset reset = own(directory, settings)) {
            return reset.finish();
        }
    }

    @Override
    public void close() {
        lock.close();
    }
}
