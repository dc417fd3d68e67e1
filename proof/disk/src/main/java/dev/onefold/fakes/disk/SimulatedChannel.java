package dev.onefold.fakes.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A channel on a file or, to force it, a directory of a simulated disk. As the JDK's own it is closed when its thread
/// is interrupted.
final class SimulatedChannel extends FileChannel {
    private static final int TRANSFER_BYTES = 65_536;

    record Mode(boolean read, boolean write, boolean append) {}

    @FunctionalInterface
    private interface Action<T> {
        T perform() throws IOException;
    }

    private final SimulatedPath path;
    private final SimulatedDisk disk;
    private final Node node;
    private final Mode mode;
    private long position;

    SimulatedChannel(SimulatedPath path, Node node, Mode mode) {
        this.path = path;
        this.disk = path.disk();
        this.node = node;
        this.mode = mode;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        return (int) read(new ByteBuffer[] {target}, 0, 1);
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        return perform(() -> {
            ensureReadable();
            int count = readAt(position, targets, offset, length);
            position += Math.max(0, count);
            return count;
        });
    }

    @Override
    public int read(ByteBuffer target, long from) throws IOException {
        checkNotNegative(from);
        return perform(() -> {
            ensureReadable();
            return readAt(from, new ByteBuffer[] {target}, 0, 1);
        });
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        return (int) write(new ByteBuffer[] {source}, 0, 1);
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        return perform(() -> {
            ensureWritable();
            long from = mode.append ? file().current().size() : position;
            int count = writeAt(from, sources, offset, length);
            position = count > 0 ? from + count : position;
            return count;
        });
    }

    @Override
    public int write(ByteBuffer source, long to) throws IOException {
        checkNotNegative(to);
        return perform(() -> {
            ensureWritable();
            // Linux appends, whatever the position.
            return writeAt(mode.append ? file().current().size() : to, new ByteBuffer[] {source}, 0, 1);
        });
    }

    @Override
    public long position() throws IOException {
        return perform(() -> mode.append ? file().current().size() : position);
    }

    @Override
    public FileChannel position(long newPosition) throws IOException {
        checkNotNegative(newPosition);
        return perform(() -> {
            position = newPosition;
            return this;
        });
    }

    @Override
    public long size() throws IOException {
        return perform(() -> SimulatedAttributes.sizeOf(node));
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
        checkNotNegative(size);
        return perform(() -> {
            ensureWritable();
            disk.truncate(file(), path, size);
            position = Math.min(position, size);
            return this;
        });
    }

    /// Data and size alike, whatever `metaData` says: without the size the data could not be read back.
    @Override
    public void force(boolean metaData) throws IOException {
        perform(() -> {
            disk.force(node, path);
            return this;
        });
    }

    @Override
    public long transferTo(long from, long count, WritableByteChannel target) throws IOException {
        long done = 0;
        while (done < count) {
            ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(TRANSFER_BYTES, count - done));
            if (read(buffer, from + done) <= 0) {
                break;
            }
            buffer.flip();
            int written = target.write(buffer);
            done += written;
            if (buffer.hasRemaining()) {
                break;
            }
        }
        return done;
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long to, long count) throws IOException {
        long done = 0;
        while (done < count && to <= size()) {
            ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(TRANSFER_BYTES, count - done));
            if (source.read(buffer) <= 0) {
                break;
            }
            buffer.flip();
            while (buffer.hasRemaining()) {
                done += write(buffer, to + done);
            }
        }
        return done;
    }

    @Override
    public MappedByteBuffer map(MapMode mapMode, long from, long size) {
        throw new UnsupportedOperationException("A simulated file cannot be mapped.");
    }

    @Override
    public FileLock lock(long from, long size, boolean shared) throws IOException {
        @Nullable FileLock lock = tryLock(from, size, shared);
        if (lock == null) {
            throw new IOException(
                    "Another process holds the lock of " + path + ", and a simulation cannot wait for it.");
        }
        return lock;
    }

    @Override
    public @Nullable FileLock tryLock(long from, long size, boolean shared) throws IOException {
        SimulatedLock lock = new SimulatedLock(this, new SimulatedLock.Region(from, size, shared));
        boolean locked = perform(() -> {
            if (shared) {
                ensureReadable();
            } else {
                ensureWritable();
            }
            StoredFile file = file();
            disk.before(Operation.LOCK, path);
            if (file.locks().stream().anyMatch(other -> other.overlaps(from, size))) {
                throw new OverlappingFileLockException();
            }
            if (file.isLockedElsewhere()) {
                return false;
            }
            file.setLockedByProcess(true);
            return file.locks().add(lock);
        });
        return locked ? lock : null;
    }

    boolean holds(SimulatedLock lock) {
        synchronized (disk) {
            return node instanceof StoredFile file && file.locks().contains(lock);
        }
    }

    void release(SimulatedLock lock) {
        synchronized (disk) {
            if (node instanceof StoredFile file
                    && file.locks().remove(lock)
                    && file.locks().isEmpty()) {
                file.setLockedByProcess(false);
            }
        }
    }

    @Override
    protected void implCloseChannel() {
        synchronized (disk) {
            if (node instanceof StoredFile file) {
                file.locks().removeIf(lock -> lock.acquiredBy() == this);
                disk.closed(file);
            }
        }
    }

    private int readAt(long from, ByteBuffer[] targets, int offset, int length) throws IOException {
        long wanted = 0;
        for (int i = offset; i < offset + length; i++) {
            if (targets[i].isReadOnly()) {
                throw new IllegalArgumentException("Read-only buffer");
            }
            wanted += targets[i].remaining();
        }
        if (wanted == 0) {
            return 0;
        }
        StoredFile file = file();
        byte[] bytes =
                new byte[(int) Math.min(wanted, Math.max(0, file.current().size() - from))];
        int count = disk.read(file, path, from, bytes);
        for (int i = offset, done = 0; i < offset + length && done < count; i++) {
            int piece = Math.min(targets[i].remaining(), count - done);
            targets[i].put(bytes, done, piece);
            done += piece;
        }
        return count;
    }

    private int writeAt(long to, ByteBuffer[] sources, int offset, int length) throws IOException {
        int given = 0;
        for (int i = offset; i < offset + length; i++) {
            given = Math.addExact(given, sources[i].remaining());
        }
        if (given == 0) {
            return 0;
        }
        byte[] bytes = new byte[given];
        for (int i = offset, done = 0; i < offset + length; i++) {
            int piece = sources[i].remaining();
            sources[i].get(sources[i].position(), bytes, done, piece);
            done += piece;
        }
        int count = disk.write(file(), path, to, bytes);
        for (int i = offset, left = count; left > 0; i++) {
            int piece = Math.min(sources[i].remaining(), left);
            sources[i].position(sources[i].position() + piece);
            left -= piece;
        }
        return count;
    }

    private StoredFile file() throws IOException {
        if (node instanceof StoredFile file) {
            return file;
        }
        throw new IOException("Is a directory");
    }

    private void ensureReadable() {
        if (!mode.read) {
            throw new NonReadableChannelException();
        }
    }

    private void ensureWritable() {
        if (!mode.write) {
            throw new NonWritableChannelException();
        }
    }

    private static void checkNotNegative(long value) {
        if (value < 0) {
            throw new IllegalArgumentException("Negative position or size: " + value);
        }
    }

    private <T> T perform(Action<T> action) throws IOException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
        boolean completed = false;
        try {
            begin();
            synchronized (disk) {
                if (!isOpen()) {
                    throw new ClosedChannelException();
                }
                disk.ensureRunning();
                T result = action.perform();
                completed = true;
                return result;
            }
        } finally {
            end(completed);
        }
    }
}
