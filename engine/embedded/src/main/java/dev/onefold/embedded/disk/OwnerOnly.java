package dev.onefold.embedded.disk;

import dev.onefold.core.EngineException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Permissions. Data hold whole records, so only the user who runs the engine may read new files and folders.
/// If this user lacks a permission, or the medium is read-only, the message says so: the disk has not failed.
final class OwnerOnly {
    private OwnerOnly() {}

    /// Opens a file to write it from its beginning, created if need be.
    static FileChannel create(Path file) throws IOException {
        return FileChannel.open(
                file,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE),
                attributes(file, "rw-------"));
    }

    /// Opens a file to write it, created if need be.
    static FileChannel createOrOpen(Path file) throws IOException {
        return FileChannel.open(
                file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), attributes(file, "rw-------"));
    }

    static void createDirectory(Path directory) throws IOException {
        Files.createDirectories(directory, attributes(directory, "rwx------"));
    }

    private static FileAttribute<?>[] attributes(Path path, String permissions) {
        boolean posix = path.getFileSystem().supportedFileAttributeViews().contains("posix");
        return posix
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : new FileAttribute<?>[0];
    }

    /// The failure of an operation that this user may not do; `null` if the reason is another one. The system
    /// is asked; the text of the failure is not read, because it may be in any language.
    static @Nullable EngineException refusal(String what, Path file, IOException failure) {
        boolean nowhere = failure instanceof NoSuchFileException;
        if (nowhere && !what.equals("creating")) {
            return null;
        }
        Path existing = file.toAbsolutePath();
        while (!Files.exists(existing) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        boolean readOnly = isReadOnly(existing);
        boolean denied = failure instanceof AccessDeniedException || !Files.isWritable(existing);
        if (!readOnly && !denied && !nowhere) {
            return null;
        }
        String reason = readOnly
                ? "the file system is read-only"
                : denied ? "this user lacks the permission" : "the system makes no folder there";
        return new EngineException(
                EngineException.Kind.INACCESSIBLE,
                "No access: " + what + " of " + file + " is not possible, because "
                        + reason + ". Nothing was changed there. Give the user access, or name another folder (--data)."
                        + " To query, verify or export a copy, permission to read is enough.",
                failure);
    }

    private static boolean isReadOnly(Path existing) {
        try {
            return Files.getFileStore(existing).isReadOnly();
        } catch (IOException unknown) {
            return false;
        }
    }
}
