package dev.onefold.embedded.disk;

import dev.onefold.core.EngineException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/// File operations that tell failures apart. A full disk is waited for. Any other failure stops the engine,
/// because after a failed write or force nobody knows what the disk holds (Rebello et al., "Can Applications
/// Recover from fsync Failures?", 2020).
public final class Disk {
    private Disk() {}

    /// The failure of an operation that must not fail.
    public static EngineException failed(String what, Path file, IOException cause) {
        EngineException refused = OwnerOnly.refusal(what, file, cause);
        if (refused != null) {
            return refused;
        }
        return new EngineException(
                EngineException.Kind.STORAGE_FAILED,
                "Storage failed: " + what + " of " + file + " said '" + reason(cause)
                        + "'. Nothing since the last checkpoint was acknowledged as folded from files; what was"
                        + " acknowledged is in the journal. Check the disk, then start again: it goes on from the last"
                        + " checkpoint.",
                cause);
    }

    private static String reason(IOException cause) {
        String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }

    /// An operation on a file.
    private interface Operation<T> {
        T run() throws IOException;
    }

    /// Does an operation that needs no space.
    private static <T> T done(String what, Path file, Operation<T> operation) {
        try {
            return operation.run();
        } catch (IOException e) {
            throw failed(what, file, e);
        }
    }

    /// Does an operation that changes nothing if the disk is full.
    private static <T> T needingSpace(String what, Path file, Operation<T> operation) throws OutOfSpaceException {
        try {
            return operation.run();
        } catch (IOException e) {
            if (FullDisk.isReason(file, e)) {
                throw new OutOfSpaceException(file, e);
            }
            throw failed(what, file, e);
        }
    }

    /// Creates a file of zeros and forces it, so that writing into it later needs no space.
    ///
    /// @throws OutOfSpaceException and leaves no file
    public static void allocate(Path file, long bytes) throws OutOfSpaceException {
        Zeros zeros = new Zeros(file, bytes);
        try {
            make(zeros, file, bytes);
        } finally {
            close(zeros, file);
        }
        try {
            forceDirectory(directoryOf(file));
        } catch (EngineException e) {
            delete(file); // Its name is perhaps not on the disk, and no later force would bring it there.
            throw e;
        }
    }

    /// Makes more of a file of zeros.
    ///
    /// @throws OutOfSpaceException and leaves no file
    static void make(Zeros zeros, Path file, long upTo) throws OutOfSpaceException {
        try {
            needingSpace("allocation", file, () -> {
                zeros.make(upTo);
                return file;
            });
        } catch (OutOfSpaceException e) {
            delete(file);
            throw e;
        }
    }

    /// Creates a file that begins with a header and continues with zeros, or none: written beside it and
    /// forced, then renamed, directory forced. So a file of that name is whole from its first byte to its
    /// last.
    ///
    /// @throws OutOfSpaceException and leaves no file
    public static void create(Path file, ByteBuffer header, long bytes) throws OutOfSpaceException {
        allocate(beside(file), bytes);
        name(file, header);
    }

    /// Writes the header of a forced file of zeros beside it, and gives it its name.
    static void name(Path file, ByteBuffer header) throws OutOfSpaceException {
        Path beside = beside(file);
        FileChannel channel = open(beside);
        try {
            write(channel, beside, header, 0);
            force(channel, beside);
        } finally {
            close(channel, beside);
        }
        rename(beside, file);
        try {
            forceDirectory(directoryOf(file));
        } catch (EngineException e) {
            delete(file); // As above.
            throw e;
        }
    }

    static Path beside(Path file) {
        return file.resolveSibling(file.getFileName() + ".new");
    }

    private static void rename(Path beside, Path file) throws OutOfSpaceException {
        needingSpace(
                "renaming",
                beside,
                () -> Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING));
    }

    private static Path directoryOf(Path file) {
        Path parent = file.toAbsolutePath().getParent();
        if (parent == null) {
            throw new IllegalArgumentException(file + " is in no directory");
        }
        return parent;
    }

    /// Opens a file that exists, for reading and writing.
    public static FileChannel open(Path file) {
        return done("opening", file, () -> FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    /// Opens a file that exists, for reading.
    public static FileChannel openToRead(Path file) {
        return done("opening", file, () -> FileChannel.open(file, StandardOpenOption.READ));
    }

    /// Writes all of the buffer at a position.
    public static void write(FileChannel channel, Path file, ByteBuffer bytes, long position)
            throws OutOfSpaceException {
        needingSpace("writing", file, () -> writeAll(channel, bytes, position));
    }

    private static long writeAll(FileChannel channel, ByteBuffer bytes, long position) throws IOException {
        long at = position;
        while (bytes.hasRemaining()) {
            at += channel.write(bytes, at);
        }
        return at;
    }

    /// Fills the buffer from a position; whether the file was long enough.
    public static boolean read(FileChannel channel, Path file, ByteBuffer bytes, long position) {
        return done("reading", file, () -> {
            long at = position;
            while (bytes.hasRemaining()) {
                int read = channel.read(bytes, at);
                if (read < 0) {
                    return false;
                }
                at += read;
            }
            return true;
        });
    }

    /// How long a file is, in bytes.
    public static long size(FileChannel channel, Path file) {
        return done("measuring", file, () -> channel.size());
    }

    /// Cuts off all bytes behind the end; durable when this returns.
    public static void cut(FileChannel channel, Path file, long end) {
        done("cutting", file, () -> channel.truncate(end));
        force(channel, file);
    }

    /// Makes all writes durable.
    public static void force(FileChannel channel, Path file) {
        try {
            channel.force(false);
        } catch (IOException e) {
            throw failed("forcing", file, e);
        }
    }

    /// Closes a file that has nothing left to be forced.
    public static void close(FileChannel channel, Path file) {
        done("closing", file, () -> {
            channel.close();
            return file;
        });
    }

    /// As [#close(FileChannel, Path)].
    static void close(Zeros zeros, Path file) {
        done("closing", file, () -> {
            zeros.close();
            return file;
        });
    }

    /// Makes the entries of a directory durable: a file whose name is not forced is not there after a power cut.
    public static void forceDirectory(Path directory) {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        } catch (IOException e) {
            throw failed("forcing", directory, e);
        }
    }

    /// Creates a directory and those above it, each durable before the next. One that was there already is durable
    /// after [#forceAncestors] only.
    public static void createDirectories(Path directory) throws OutOfSpaceException {
        if (Files.isDirectory(directory)) {
            return;
        }
        Path above = directoryOf(directory);
        createDirectories(above);
        needingSpace("creating", directory, () -> {
            OwnerOnly.createDirectory(directory);
            return directory;
        });
        try {
            forceDirectory(above);
        } catch (EngineException e) {
            delete(directory); // As a file: the next start would find it, and no force would bring its name to the
            // disk.
            throw e;
        }
    }

    /// Makes a directory's name durable, and those of all above it: each may be as new as itself, perhaps created by a
    /// process that was killed before it could force them.
    public static void forceAncestors(Path directory) {
        Path above = directory.toAbsolutePath().getParent();
        while (above != null) {
            if (Files.isReadable(above)) { // If this user may not even read it, this user has not created it.
                forceDirectory(above);
            }
            above = above.getParent();
        }
    }

    /// Whether there is something of this name. [Files#exists] is false, too, where this user may not look.
    ///
    /// @throws EngineException if this user may not look
    public static boolean exists(Path path) {
        return attributes(path) != null;
    }

    /// Whether there is a folder of this name. [Files#isDirectory] is false, too, where this user may not
    /// look.
    ///
    /// @throws EngineException if this user may not look
    public static boolean isFolder(Path path) {
        BasicFileAttributes found = attributes(path);
        return found != null && found.isDirectory();
    }

    private static @Nullable BasicFileAttributes attributes(Path path) {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class);
        } catch (AccessDeniedException e) {
            throw failed("reading", path, e);
        } catch (IOException nothing) { // There is none, or a file is in place of a folder above it.
            return null;
        }
    }

    /// Deletes a file if it is there.
    public static void delete(Path file) {
        done("deleting", file, () -> Files.deleteIfExists(file));
    }

    /// Writes the content of a file.
    public interface Producer {
        void write(OutputStream out) throws IOException;
    }

    /// Makes a file, whole and durable or not at all: written beside it, forced, renamed, directory forced. The
    /// name may need space, too.
    ///
    /// @throws OutOfSpaceException and leaves no file
    public static void produce(Path file, Producer producer) throws OutOfSpaceException {
        Path beside = beside(file);
        try {
            needingSpace("writing", beside, () -> {
                try (FileChannel channel = OwnerOnly.create(beside)) {
                    producer.write(Channels.newOutputStream(channel));
                    channel.force(true);
                }
                return beside;
            });
            rename(beside, file);
        } catch (OutOfSpaceException | RuntimeException e) {
            deleteQuietly(beside, e); // A part of a large file would keep the disk full for everybody else.
            throw e;
        }
        forceDirectory(directoryOf(file));
    }

    private static void deleteQuietly(Path file, Exception reason) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            reason.addSuppressed(e);
        }
    }

    /// Replaces a file by bytes that are durable, or leaves it as it was: written beside it, forced, renamed,
    /// directory forced.
    public static void replace(Path file, ByteBuffer bytes) throws OutOfSpaceException {
        Path beside = beside(file);
        try (FileChannel channel = needingSpace("opening", beside, () -> OwnerOnly.create(beside))) {
            write(channel, beside, bytes, 0);
            channel.force(true);
        } catch (IOException e) {
            throw failed("writing", beside, e);
        }
        rename(beside, file);
        forceDirectory(directoryOf(file));
    }

    /// Bytes that can still be written below a directory; [Long#MAX_VALUE] if the system does not say. In a chroot
    /// without /proc, for example, Java does not find the file system.
    public static long usableBytes(Path directory) {
        try {
            return Files.getFileStore(directory).getUsableSpace();
        } catch (IOException unknown) {
            return Long.MAX_VALUE;
        }
    }

    /// The sizes of all files below a directory in sum. It may be a link to one. A file or a folder that somebody
    /// renames or deletes meanwhile is passed over.
    public static long bytes(Path directory) {
        long[] bytes = {0};
        done(
                "listing",
                directory,
                () -> Files.walkFileTree(directory.toRealPath(), new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        bytes[0] += attributes.isRegularFile() ? attributes.size() : 0;
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                        return passedOver(e);
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e) throws IOException {
                        return e == null ? FileVisitResult.CONTINUE : passedOver(e);
                    }

                    private FileVisitResult passedOver(IOException e) throws IOException {
                        if (e instanceof NoSuchFileException) {
                            return FileVisitResult.CONTINUE;
                        }
                        throw e;
                    }
                }));
        return bytes[0];
    }

    /// The bytes of a file.
    public static byte[] readAll(Path file) {
        return done("reading", file, () -> Files.readAllBytes(file));
    }

    /// The failure for a file whose bytes are not as they were written.
    public static EngineException corrupt(Path file, long at, String what) {
        return new EngineException(
                EngineException.Kind.CORRUPT,
                "File is corrupt: " + file + " at byte " + at + ": " + what
                        + ". Its totals cannot be trusted, so none are given."
                        + " Restore the data directory from a backup, or move it away and fold the input again.");
    }
}
