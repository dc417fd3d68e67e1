package dev.onefold.embedded.disk;

import dev.onefold.core.EngineException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// One process owns a data directory. The operating system releases the lock when the process dies, for
/// whatever reason.
///
/// The holder's name is in a file of its own: to close any channel of a locked file drops the lock (POSIX),
/// so nobody opens LOCK just to read it.
public final class DirectoryLock implements AutoCloseable {
    private static final Set<Held> HELD = ConcurrentHashMap.newKeySet();

    /// A directory, without a reference to its file system.
    private record Held(int fileSystem, String path) {}

    private final FileChannel channel;
    private final Path file;
    private final Held held;
    private final @Nullable Object key;

    private DirectoryLock(FileChannel channel, Path file, Held held) throws IOException {
        key = key(file);
        this.channel = channel;
        this.file = file;
        this.held = held;
    }

    /// By its real path: a caller that has another path to it must not open and close LOCK.
    private static Held held(Path directory) {
        try {
            return new Held(
                    System.identityHashCode(directory.getFileSystem()),
                    directory.toRealPath().toString());
        } catch (IOException e) {
            throw Disk.failed("reading", directory, e);
        }
    }

    /// Takes the lock, or says who holds it.
    public static DirectoryLock take(Path directory, String holder) {
        Path file = directory.resolve("LOCK");
        Path holderFile = directory.resolve("LOCK.holder");
        Held held = held(directory);
        if (!HELD.add(held)) {
            throw inUse(directory);
        }
        FileChannel channel = null;
        boolean taken = false;
        try {
            channel = OwnerOnly.createOrOpen(file);
            if (tryLock(channel) == null) {
                channel.close();
                throw inUse(directory);
            }
            try (FileChannel named = OwnerOnly.create(holderFile)) {
                named.write(ByteBuffer.wrap(holder.getBytes(StandardCharsets.UTF_8)));
            }
            DirectoryLock lock = new DirectoryLock(channel, file, held);
            taken = true;
            return lock;
        } catch (IOException e) {
            closeQuietly(channel, e);
            throw Disk.failed("locking", file, e);
        } finally {
            if (!taken) {
                HELD.remove(held);
            }
        }
    }

    /// Whether an owner has the directory. Creates nothing; the lock is asked for an instant, and shared.
    public static boolean isHeld(Path directory) {
        Path file = directory.resolve("LOCK");
        Held held = held(directory);
        if (!Files.exists(file)) {
            return false;
        }
        if (!HELD.add(held)) {
            return true;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return channel.tryLock(0, Long.MAX_VALUE, true) == null;
        } catch (OverlappingFileLockException heldByThisProcess) {
            return true;
        } catch (IOException e) {
            return false; // The failure comes below, from the files that have to be read.
        } finally {
            HELD.remove(held);
        }
    }

    /// A directory that another process owns.
    public static EngineException inUse(Path directory) {
        Path holderFile = directory.resolve("LOCK.holder");
        return new EngineException(
                EngineException.Kind.IN_USE,
                "Data directory " + directory + " is in use by " + read(holderFile)
                        + ". Stop that process, or use another directory.");
    }

    private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException heldByThisProcess) {
            return null;
        }
    }

    private static String read(Path holderFile) {
        try {
            return Files.readString(holderFile);
        } catch (IOException notYetWritten) {
            return "another process";
        }
    }

    private static void closeQuietly(@Nullable FileChannel channel, IOException first) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException second) {
                first.addSuppressed(second);
            }
        }
    }

    /// The identity that the system has for the file, not its name.
    private static @Nullable Object key(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    /// Requires that LOCK is the file that was locked: if somebody deletes it, another process can own the
    /// directory, too.
    public void requireHeld() {
        try {
            if (Objects.equals(key, key(file))) {
                return;
            }
        } catch (NoSuchFileException deleted) {
            // As if it were another one.
        } catch (IOException e) {
            throw Disk.failed("reading", file, e);
        }
        throw new EngineException(
                EngineException.Kind.CORRUPT,
                "The file " + file + " was deleted or replaced while this process had it locked; another process may"
                        + " own the directory now. This process stops before its next checkpoint. Start one process"
                        + " again: it goes on from the last checkpoint and the journal.");
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw Disk.failed("unlocking", file, e);
        } finally {
            HELD.remove(held);
        }
    }
}
