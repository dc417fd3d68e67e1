package dev.onefold.embedded.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// A file of zeros that is made and forced a part at a time, so that writing into it later needs no space. Not
/// thread-safe.
final class Zeros implements AutoCloseable {
    private static final int AT_ONCE = 1 << 20;

    private final Path file;
    private final long bytes;
    private final ByteBuffer zeros;
    private @Nullable FileChannel channel;
    private long at;

    /// A file of this many bytes. Nothing is done yet; a file of that name will be overwritten.
    Zeros(Path file, long bytes) {
        this.file = file;
        this.bytes = bytes;
        zeros = ByteBuffer.allocateDirect((int) Math.min(AT_ONCE, bytes));
    }

    /// Bytes that are written.
    long at() {
        return at;
    }

    /// Writes more, up to this many bytes in all, and forces them.
    ///
    /// @throws IOException perhaps because the disk is full
    void make(long upTo) throws IOException {
        FileChannel open = channel;
        if (open == null) {
            open = OwnerOnly.create(file);
            channel = open;
        }
        long until = Math.min(upTo, bytes);
        while (at < until) {
            zeros.clear().limit((int) Math.min(zeros.capacity(), until - at));
            at += open.write(zeros, at);
        }
        open.force(true);
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
    }
}
