package dev.onefold.api.sync;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// A file that one thread of one process holds, until it closes this or the process ends, in whatever way.
///
/// A system may release all locks that a process has on a file when the process closes any channel of that
/// file. So no second channel of a held file is opened: within the process a set of paths decides.
final class LockFile implements Closeable {
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final FileChannel channel;

    private LockFile(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    /// Makes the file if it is missing, and holds it; `null` if somebody else holds it.
    static @Nullable LockFile take(Path file) throws IOException {
        Path known = file.toAbsolutePath().normalize();
        if (!HELD.add(known)) {
            return null;
        }
        FileChannel channel = null;
        boolean isTaken = false;
        try {
            channel = FileChannel.open(known, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = channel.tryLock();
            isTaken = lock != null;
            return isTaken ? new LockFile(known, channel) : null;
        } finally {
            if (!isTaken) {
                if (channel != null) {
                    channel.close();
                }
                HELD.remove(known);
            }
        }
    }

    @Override
    public void close() throws IOException {
        if (channel.isOpen()) { // Closed again, it would end the turn of the next holder.
            try {
                channel.close();
            } finally {
                HELD.remove(file);
            }
        }
    }
}
