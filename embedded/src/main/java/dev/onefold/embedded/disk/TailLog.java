package dev.onefold.embedded.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// A log that is its own witness of how much of it counts: no checkpoint names its end. A crash may cut or mix what was
/// appended after the last force; so a frame that is damaged is the end, unless a frame behind it says that the log was
/// forced beyond that place: then bytes were damaged that were durable, and nothing is guessed.
///
///     header 32 = magic 8, format 4, identity of the data directory 8, CRC-32C of these 4, zeros
///     frame     = length of the payload 4, CRC-32C of all that follows 4, how much was forced before it 8, payload
///
/// Not thread-safe.
public final class TailLog implements AutoCloseable {
    private static final int HEADER_BYTES = 32;
    private static final int FRAME_HEADER_BYTES = 16;
    private static final int PAYLOAD_BYTES_MAX = 1 << 28;

    private final Path file;
    private final FileChannel channel;
    private long length;
    private long forced;
    private boolean isBroken;
    private boolean closed;

    private TailLog(Path file, FileChannel channel, long length) {
        this.file = file;
        this.channel = channel;
        this.length = length;
        forced = length;
    }

    /// Writes a log with these entries in place of the one of that name, if there is one; durable when this returns.
    public static TailLog create(Path file, FramedLog.Kind kind, long identity, List<byte[]> payloads)
            throws OutOfSpaceException {
        int bytes = HEADER_BYTES;
        for (byte[] payload : payloads) {
            bytes += FRAME_HEADER_BYTES + payload.length;
        }
        ByteBuffer whole = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        whole.put(FileHeader.of(kind.magic(), kind.format(), identity, HEADER_BYTES));
        for (byte[] payload : payloads) {
            whole.put(frame(payload, 0));
        }
        Disk.replace(file, whole.flip());
        return new TailLog(file, Disk.open(file), bytes);
    }

    /// Opens a log, and gives its entries to the reader in their order.
    ///
    /// @param isOwner whether what a crash has left behind the end may be cut off
    public static TailLog open(
            Path file, FramedLog.Kind kind, long identity, boolean isOwner, Consumer<byte[]> reader) {
        FileChannel channel = isOwner ? Disk.open(file) : Disk.openToRead(file);
        FileHeader.require(FileHeader.of(kind.magic(), kind.format(), identity, HEADER_BYTES), channel, file);
        ByteBuffer bytes = ByteBuffer.wrap(Disk.readAll(file)).order(ByteOrder.LITTLE_ENDIAN);
        List<byte[]> payloads = new ArrayList<>();
        int end = HEADER_BYTES;
        for (byte[] payload = payload(bytes, end); payload != null; payload = payload(bytes, end)) {
            payloads.add(payload);
            end += FRAME_HEADER_BYTES + payload.length;
        }
        for (int at = end + 1; at + FRAME_HEADER_BYTES <= bytes.limit(); at++) {
            if (bytes.getLong(at + 8) > end && payload(bytes, at) != null) {
                throw Disk.corrupt(file, end, "the checksum of the frame is wrong, and it was durable");
            }
        }
        if (isOwner) {
            // What stands behind the end would be found whole behind a frame of today, and entries that a killed
            // process
            // has left are covered by no force: they are about to be built upon.
            Disk.cut(channel, file, end);
        }
        payloads.forEach(reader);
        return new TailLog(file, channel, end);
    }

    private static byte @Nullable [] payload(ByteBuffer bytes, int at) {
        if (at + FRAME_HEADER_BYTES > bytes.limit()) {
            return null;
        }
        int payloadLength = bytes.getInt(at);
        if (payloadLength < 0
                || payloadLength > PAYLOAD_BYTES_MAX
                || at + FRAME_HEADER_BYTES + payloadLength > bytes.limit()
                || bytes.getInt(at + 4) != checksum(bytes, at, payloadLength)) {
            return null;
        }
        byte[] payload = new byte[payloadLength];
        bytes.get(at + FRAME_HEADER_BYTES, payload);
        return payload;
    }

    private static int checksum(ByteBuffer bytes, int at, int payloadLength) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.slice(at, 4));
        crc.update(bytes.slice(at + 8, FRAME_HEADER_BYTES - 8 + payloadLength));
        return (int) crc.getValue();
    }

    private static ByteBuffer frame(byte[] payload, long forced) {
        ByteBuffer frame =
                ByteBuffer.allocate(FRAME_HEADER_BYTES + payload.length).order(ByteOrder.LITTLE_ENDIAN);
        frame.putInt(payload.length).putInt(0).putLong(forced).put(payload).flip();
        return frame.putInt(4, checksum(frame, 0, payload.length));
    }

    /// Appends an entry. Not durable before [#force].
    public void append(byte[] payload) throws OutOfSpaceException {
        ByteBuffer frame = frame(payload, forced);
        int bytes = frame.remaining();
        Disk.write(channel, file, frame, length);
        length += bytes;
    }

    /// Makes all that was appended durable.
    public void force() {
        if (forced < length) {
            if (isBroken) {
                throw Disk.failed("forcing", file, new IOException("it has failed before"));
            }
            isBroken = true; // After a force that failed, a later one says nothing of what was written before.
            Disk.force(channel, file);
            isBroken = false;
            forced = length;
        }
    }

    /// Bytes of the log.
    public long length() {
        return length;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Disk.close(channel, file);
        }
    }

    /// Whether there is a log.
    public static boolean exists(Path file) {
        return Files.exists(file);
    }
}
