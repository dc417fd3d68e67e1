package dev.onefold.embedded.disk;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// A file of checked frames that grows at its end. How much of it counts, a checkpoint says; what stands
/// behind is written over. One thread writes; any may read what was appended.
///
///     header 32 = magic 8 (ASCII), format 4, identity of the data directory 8, CRC-32C of these 4, zeros
///     frame     = length of the payload 4, CRC-32C of length and payload 4, payload
public final class FramedLog implements AutoCloseable {
    private static final int HEADER_BYTES = 32;
    private static final int FRAME_HEADER_BYTES = 8;

    /// What a log holds.
    ///
    /// @param magic of eight letters
    /// @param format of its entries
    record Kind(String magic, int format) {}

    private final Path file;
    private final FileChannel channel;
    private @Nullable FileChannel writing; // Opened by the first append: who only reads may not be allowed to write.
    private long length;
    private boolean closed;

    private FramedLog(Path file, FileChannel channel, long length) {
        this.file = file;
        this.channel = channel;
        this.length = length;
    }

    /// Creates an empty log; a file of that name that no checkpoint names is replaced.
    public static FramedLog create(Path file, Kind kind, long identity) throws OutOfSpaceException {
        Disk.allocate(file, HEADER_BYTES);
        FramedLog log = new FramedLog(file, Disk.openToRead(file), HEADER_BYTES);
        Disk.write(log.writing(), file, header(kind, identity), 0);
        return log;
    }

    /// Opens a log of which a checkpoint says how much counts.
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
    public long append(byte[] payload, int payloadLength) throws OutOfSpaceException {
        ByteBuffer frame =
                ByteBuffer.allocate(FRAME_HEADER_BYTES + payloadLength).order(ByteOrder.LITTLE_ENDIAN);
        frame.putInt(payloadLength)
                .putInt(checksum(payload, payloadLength))
                .put(payload, 0, payloadLength)
                .flip();
        long at = length;
        Disk.write(writing(), file, frame, at);
        length += FRAME_HEADER_BYTES + payloadLength;
        return at;
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
    public void force() {
        if (writing != null) {
            Disk.force(writing, file);
        }
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
        if (at + FRAME_HEADER_BYTES > length || !Disk.read(channel, file, header, at)) {
            throw Disk.corrupt(file, at, "a frame is cut off");
        }
        int payloadLength = header.getInt(0);
        if (payloadLength < 0 || at + FRAME_HEADER_BYTES + payloadLength > length) {
            throw Disk.corrupt(file, at, "a frame has the impossible length " + payloadLength);
        }
        byte[] payload = new byte[payloadLength];
        if (!Disk.read(channel, file, ByteBuffer.wrap(payload), at + FRAME_HEADER_BYTES)
                || header.getInt(4) != checksum(payload, payloadLength)) {
            throw Disk.corrupt(file, at, "the checksum of the frame is wrong");
        }
        return payload;
    }

    /// Told of each frame.
    public interface Visitor {
        void frame(long at, byte[] payload);
    }

    /// Visits all frames, checked.
    public void forEach(Visitor visitor) {
        for (long at = HEADER_BYTES; at < length; ) {
            byte[] payload = read(at);
            visitor.frame(at, payload);
            at += FRAME_HEADER_BYTES + payload.length;
        }
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
