package dev.onefold.embedded;

import dev.onefold.embedded.directory.Current;
import dev.onefold.embedded.directory.DirectoryReset;
import dev.onefold.embedded.disk.Disk;
import java.nio.file.Path;

/// The state of a data directory, read without opening it. Nothing is reported of a directory to which this
/// user has no access.
public final class DataFolder {
    private DataFolder() {}

    /// Whether there is such a folder.
    ///
    /// @throws dev.onefold.core.EngineException of kind INACCESSIBLE if this user may not look
    public static boolean exists(Path directory) {
        return Disk.isFolder(directory);
    }

    /// Whether there is such a folder, and an engine has had data there. The rest of data whose deletion was
    /// interrupted does not count.
    ///
    /// @throws dev.onefold.core.EngineException of kind INACCESSIBLE if this user may not look; of kind
    ///     CORRUPT if only the file that names the data is gone
    public static boolean hasData(Path directory) {
        return Disk.isFolder(directory) && DirectoryReset.begun(directory).isEmpty() && Current.read(directory) != null;
    }

    /// Whether the journal of the directory is kept for ever, as requested when the directory was made.
    public static boolean isJournalKept(Path directory) {
        Current current = Current.read(directory);
        return current != null && current.journalKept();
    }
}
