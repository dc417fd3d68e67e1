package dev.onefold.embedded.disk;

import dev.onefold.core.EngineException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// A file of checked frames that grows at its end. A checkpoint names the valid length; bytes behind it are
/// overwritten. One thread writes; any may read forced bytes.
///
///     header 32 = magic 8 (ASCII), format 4, identity of the data directory 8, CRC-32C of these 4, zeros
///     frame     = length of the payload 4, CRC-32C of length and payload 4, payload
public final class FramedLog implements AutoCloseable {
    private static final int HEADER_BYTES = 32;
    private static final int FRAME_HEADER_BYTES = 8;
    private static final int BUFFER_BYTES = Scale.of(1 << 16);
    private static final int READ_BYTES = Scale.of(1 << 20);

    /// The kind of a log, written into its header.
    ///
    /// @param magic eight letters, the first bytes of the file
    /// @param format number of the format of its entries
    public record Kind(String magic, int format) {}

    private final Path file;
    private volatile FileChannel channel; // An interrupt of a thread that reads closes it; it is opened again.
    private @Nullable FileChannel writing; // Opened by the first append: a reader may not be allowed to write.
    private long length;
    private long forced; // Bytes behind it are in the file or the buffer, and are taken back when the disk is full.
    private @Nullable ByteBuffer buffer;
    private boolean closed;

    private FramedLog(Path file, FileChannel channel, long length) {
        this.file = file;
        this.channel = channel;
        this.length = length;
        forced = length;
    }

    /// Creates an empty log; a file of that name that no checkpoint names is replaced.
    public static FramedLog create(Path file, Kind kind, long identity) throws OutOfSpaceException {
        Disk.allocate(file, HEADER_BYTES);
        FramedLog log = new FramedLog(file, Disk.openToRead(file), HEADER_BYTES);
        Disk.write(log.writing(), file, header(kind, identity), 0);
        return log;
    }

    /// Opens a log whose valid length a checkpoint names.
    public static FramedLog open(Path file, Kind kind, long identity, long length) {
        if (!Files.exists(file)) {
            throw Disk.corrupt(file, 0, "the file is gone, but the checkpoint names it");
        }
        FileChannel channel = Disk.openToRead(file);
        FileHeader.require(header(kind, identity), channel, file);
        if (length < HEADER_BYTES || Disk.size(channel, file) < length) {
            throw Disk.corrupt(file, Disk.size(channel, file), "the file ends there, the checkpoint says " + length);
        }
        return new FramedLog(file, channel, length);
    }

    private static ByteBuffer header(Kind kind, long identity) {
        return FileHeader.of(kind.magic, kind.format, identity, HEADER_BYTES);
    }

    /// How long the log is, in bytes.
    public long length() {
        return length;
    }

    public Path file() {
        return file;
    }

    /// Appends a frame and returns where it begins. Not durable before [#force].
    ///
    /// @throws OutOfSpaceException with all taken back that was appended since the last force
    public long append(byte[] payload, int payloadLength) throws OutOfSpaceException {
        int frameLength = FRAME_HEADER_BYTES + payloadLength;
        ByteBuffer waiting = buffer;
        if (waiting != null && waiting.remaining() < frameLength) {
            flush();
            waiting = buffer;
        }
        if (waiting == null || waiting.capacity() < frameLength) {
            waiting = ByteBuffer.allocate(Math.max(BUFFER_BYTES, frameLength)).order(ByteOrder.LITTLE_ENDIAN);
            buffer = waiting;
        }
        waiting.putInt(payloadLength).putInt(checksum(payload, payloadLength)).put(payload, 0, payloadLength);
        long at = length;
        length += frameLength;
        return at;
    }

    private void flush() throws OutOfSpaceException {
        ByteBuffer waiting = buffer;
        if (waiting == null || waiting.position() == 0) {
            return;
        }
        try {
            waiting.flip();
            Disk.write(writing(), file, waiting, length - waiting.remaining());
        } catch (OutOfSpaceException e) {
            length = forced;
            throw e;
        } finally {
            waiting.clear();
        }
        if (waiting.capacity() > BUFFER_BYTES) {
            buffer = null;
        }
    }

    private static int checksum(byte[] payload, int payloadLength) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(payloadLength)
                .flip());
        crc.update(payload, 0, payloadLength);
        return (int) crc.getValue();
    }

    /// Makes all that was appended durable.
    ///
    /// @throws OutOfSpaceException with all taken back that was appended since the last force
    public void force() throws OutOfSpaceException {
        flush();
        buffer = null;
        if (writing != null) {
            Disk.force(writing, file);
        }
        forced = length;
    }

    private FileChannel writing() {
        FileChannel open = writing;
        if (open == null) {
            open = Disk.open(file);
            writing = open;
        }
        return open;
    }

    /// The payload of the frame that begins at `at`, checked.
    public byte[] read(long at) {
        ByteBuffer header = ByteBuffer.allocate(FRAME_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        if (at + FRAME_HEADER_BYTES > length || !read(header, at)) {
            throw Disk.corrupt(file, at, "a frame is cut off");
        }
        byte[] payload = new byte[payloadLength(header.getInt(0), at)];
        if (!read(ByteBuffer.wrap(payload), at + FRAME_HEADER_BYTES)) {
            throw wrongChecksum(at);
        }
        return checked(payload, header.getInt(4), at);
    }

    /// A fold's round, which is on the thread of its caller, reads the loser of a conflict that comes again.
    private boolean read(ByteBuffer into, long at) {
        boolean interrupted = false;
        try {
            while (true) {
                FileChannel open = channel;
                try {
                    return Disk.read(open, file, into, at);
                } catch (EngineException e) {
                    if (closed || open.isOpen()) {
                        throw e;
                    }
                    interrupted |= Thread.interrupted();
                    reopen(open);
                    into.clear();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private synchronized void reopen(FileChannel gone) {
        if (channel.equals(gone)) {
            channel = Disk.openToRead(file);
        }
    }

    private int payloadLength(int found, long at) {
        if (found < 0 || at + FRAME_HEADER_BYTES + found > length) {
            throw Disk.corrupt(file, at, "a frame has the impossible length " + found);
        }
        return found;
    }

    private byte[] checked(byte[] payload, int checksum, long at) {
        if (checksum != checksum(payload, payload.length)) {
            throw wrongChecksum(at);
        }
        return payload;
    }

    private EngineException wrongChecksum(long at) {
        return Disk.corrupt(file, at, "the checksum of the frame is wrong");
    }

    /// Called for each frame.
    public interface Visitor {
        void frame(long at, byte[] payload);
    }

    /// Visits all frames, checked. Many are read at once.
    public void forEach(Visitor visitor) {
        ByteBuffer block = ByteBuffer.allocate(0);
        long blockAt = HEADER_BYTES;
        for (long at = HEADER_BYTES; at < length; ) {
            int from = (int) (at - blockAt);
            if (block.limit() - from < FRAME_HEADER_BYTES) {
                block = block(at, READ_BYTES);
                blockAt = at;
                from = 0;
            }
            if (block.limit() - from < FRAME_HEADER_BYTES) {
                throw Disk.corrupt(file, at, "a frame is cut off");
            }
            int payloadLength = payloadLength(block.getInt(from), at);
            if (block.limit() - from < FRAME_HEADER_BYTES + payloadLength) {
                block = block(at, Math.max(READ_BYTES, FRAME_HEADER_BYTES + payloadLength));
                blockAt = at;
                from = 0;
            }
            byte[] payload = new byte[payloadLength];
            block.get(from + FRAME_HEADER_BYTES, payload);
            visitor.frame(at, checked(payload, block.getInt(from + 4), at));
            at += FRAME_HEADER_BYTES + payloadLength;
        }
    }

    private ByteBuffer block(long at, int bytes) {
        ByteBuffer block =
                ByteBuffer.allocate((int) Math.min(bytes, length - at)).order(ByteOrder.LITTLE_ENDIAN);
        if (!read(block, at)) {
            throw Disk.corrupt(file, at, "a frame is cut off");
        }
        return block.clear();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Disk.close(channel, file);
            if (writing != null) {
                Disk.close(writing, file);
            }
        }
    }
}
