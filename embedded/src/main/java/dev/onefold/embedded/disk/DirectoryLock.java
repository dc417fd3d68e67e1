package dev.onefold.embedded.disk;

import dev.onefold.embedded.EngineException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/// One process owns a data directory. The operating system lets go of the lock when the process dies, however it
/// dies.
///
/// The holder's name stands in a file of its own: to close any channel of a locked file drops the lock (POSIX), so
/// nobody opens LOCK just to read it.
public final class DirectoryLock implements AutoCloseable {
    private final FileChannel channel;

    private DirectoryLock(FileChannel channel) {
        this.channel = channel;
    }

    /// Takes the lock, or says who holds it.
    public static DirectoryLock take(Path directory, String holder) {
        Path file = directory.resolve("LOCK");
        Path holderFile = directory.resolve("LOCK.holder");
        FileChannel channel = null;
        try {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (tryLock(channel) == null) {
                channel.close();
                throw new EngineException(
                        EngineException.Kind.IN_USE,
                        "Data directory " + directory + " is in use by " + read(holderFile)
                                + ". Stop that process, or use another directory.");
            }
            Files.writeString(holderFile, holder);
            return new DirectoryLock(channel);
        } catch (IOException e) {
            closeQuietly(channel, e);
            throw Disk.failed("locking", file, e);
        }
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

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw Disk.failed("unlocking", Path.of("LOCK"), e);
        }
    }
}
