package dev.onefold.embedded.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// A log whose end a second file beside it names, `NAME-mark`. A crash may cut or mix the frames that were
/// appended after the last force, so a damaged frame is the end of the log; but no frame that the mark names may
/// be missing or another one. An effect that depends on a frame begins after [#mark], which forces the log first
/// and the mark second: the log may be longer than its mark, never shorter. A checkpoint names an [Extent], too,
/// so that older copies of both files are refused.
///
///     log   = header 32 (magic 8, format 4, identity of the data directory 8, number of the log 8,
///             CRC-32C of these 4), frames
///     frame = length of the payload 4, CRC-32C of all that follows 4, how much was forced before it 8, payload
///     mark  = header 32 (magic "ONEFTAIL" 8, format 4, identity 8, CRC-32C of these 4, zeros), zeros to 4096,
///             two slots of 4096 that are written in turns, so that a torn one leaves the other
///     slot  = turn 8, number of the log 8, its length 8, CRC-32C of these bytes of the log 4,
///             CRC-32C of the slot 4, zeros
///
/// A log that is rewritten gets the next number. A log of format 1 has none, counts as number 0, and had no mark.
/// Not thread-safe.
public final class TailLog implements AutoCloseable {
    private static final int HEADER_BYTES = 32;
    private static final int FORMAT_WITHOUT_NUMBER = 1;
    private static final int FORMAT_AT = 8;
    private static final int NUMBER_AT = 20;
    private static final int FRAME_HEADER_BYTES = 16;
    private static final int PAYLOAD_BYTES_MAX = 1 << 28;
    private static final String MARK_MAGIC = "ONEFTAIL";
    private static final int MARK_FORMAT = 1;
    private static final int SLOT_BYTES = 4096;
    private static final int SLOT_USED_BYTES = 32;

    private final Where where;
    private final CRC32C checksum = new CRC32C(); // Of the whole log.
    private @Nullable FileChannel channel;
    private @Nullable FileChannel markChannel;
    private long number;
    private long length;
    private long forced;
    private @Nullable Extent marked;
    private long turn;
    private boolean isBroken;

    private TailLog(Where where) {
        this.where = where;
    }

    /// The file, kind and directory of a log.
    ///
    /// @param identity of the data directory
    public record Where(Path file, FramedLog.Kind kind, long identity) {
        Path markFile() {
            return file.resolveSibling(file.getFileName() + "-mark");
        }

        private ByteBuffer header(long number) {
            byte[] field = ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(number)
                    .array();
            return FileHeader.of(kind.magic(), kind.format(), identity, HEADER_BYTES, field);
        }

        private ByteBuffer headerWithoutNumber() {
            return FileHeader.of(kind.magic(), FORMAT_WITHOUT_NUMBER, identity, HEADER_BYTES);
        }

        private ByteBuffer markHeader() {
            return FileHeader.of(MARK_MAGIC, MARK_FORMAT, identity, HEADER_BYTES);
        }
    }

    /// The durable part of a log.
    ///
    /// @param number of the log: one more each time it is rewritten
    /// @param length bytes from its beginning
    /// @param checksum CRC-32C of these bytes
    public record Extent(long number, long length, int checksum) {}

    /// Begins a log with these entries; durable when this returns.
    public static TailLog create(Where where, List<byte[]> payloads) throws OutOfSpaceException {
        TailLog log = new TailLog(where);
        log.rewrite(payloads);
        return log;
    }

    /// Opens a log, and gives its entries to the reader in their order.
    ///
    /// @param named the extent that a checkpoint names; `null`: none
    /// @param isOwner whether a rest of a crash behind the end may be cut off
    /// @return `null` if there is no log, and no sign that there was one
    public static @Nullable TailLog open(
            Where where, @Nullable Extent named, boolean isOwner, Consumer<byte[]> reader) {
        TailLog log = new TailLog(where);
        boolean isOpened = false;
        try {
            log.openMark(named, isOwner); // Before the log: the log of an owner that is at work is never behind it.
            List<byte[]> payloads = log.openLog(named, isOwner);
            payloads.forEach(reader);
            isOpened = log.channel != null;
            return isOpened ? log : null;
        } finally {
            if (!isOpened) {
                log.close();
            }
        }
    }

    private List<byte[]> openLog(@Nullable Extent named, boolean isOwner) {
        Path file = where.file;
        if (!Disk.exists(file)) {
            if (named != null || marked != null) {
                throw Disk.corrupt(
                        file, 0, "the file is gone, but the checkpoint or " + where.markFile() + " names it");
            }
            return List.of();
        }
        FileChannel open = isOwner ? Disk.open(file) : Disk.openToRead(file);
        channel = open;
        List<byte[]> payloads = read(open, named);
        if (isOwner) {
            // Frames behind the end would be found whole behind a frame of today. Entries of a killed process may be
            // covered by no force, and new entries build upon them.
            Disk.cut(open, file, length);
        }
        return payloads;
    }

    private List<byte[]> read(FileChannel open, @Nullable Extent named) {
        Path file = where.file;
        ByteBuffer bytes = ByteBuffer.allocate((int) Disk.size(open, file)).order(ByteOrder.LITTLE_ENDIAN);
        Disk.read(open, file, bytes, 0);
        bytes.clear();
        boolean isNumbered = bytes.limit() < HEADER_BYTES || bytes.getInt(FORMAT_AT) != FORMAT_WITHOUT_NUMBER;
        number = isNumbered && bytes.limit() >= HEADER_BYTES ? bytes.getLong(NUMBER_AT) : 0;
        FileHeader.require(isNumbered ? where.header(number) : where.headerWithoutNumber(), open, file);
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
        require(named, "the checkpoint", bytes, end);
        require(marked, String.valueOf(where.markFile().getFileName()), bytes, end);
        checksum.update(bytes.slice(0, end));
        length = end;
        forced = end;
        return payloads;
    }

    /// Requires that the log holds the named extent, unless it was rewritten since.
    private void require(@Nullable Extent named, String by, ByteBuffer bytes, int end) {
        if (named == null || named.number < number) {
            return;
        }
        if (named.number > number) {
            throw Disk.corrupt(
                    where.file, NUMBER_AT, "it is log " + number + ", an older one: " + by + " names " + named.number);
        }
        if (named.length > end) {
            throw Disk.corrupt(
                    where.file, end, "the log ends there, and " + by + " says that " + named.length + " were durable");
        }
        CRC32C found = new CRC32C();
        found.update(bytes.slice(0, (int) named.length));
        if ((int) found.getValue() != named.checksum) {
            throw Disk.corrupt(where.file, 0, "it is another log than " + by + " names");
        }
    }

    private void openMark(@Nullable Extent named, boolean isOwner) {
        Path file = where.markFile();
        if (!Disk.exists(file)) {
            if (named != null) {
                throw Disk.corrupt(file, 0, "the file is gone, so nobody knows how much of the log was durable");
            }
            return;
        }
        FileChannel open = isOwner ? Disk.open(file) : Disk.openToRead(file);
        markChannel = open;
        FileHeader.require(where.markHeader(), open, file);
        for (int slot = 1; slot <= 2; slot++) {
            byte[] used = new byte[SLOT_USED_BYTES];
            ByteBuffer bytes = ByteBuffer.wrap(used).order(ByteOrder.LITTLE_ENDIAN);
            if (!Disk.read(open, file, bytes, (long) slot * SLOT_BYTES)) {
                throw Disk.corrupt(file, (long) slot * SLOT_BYTES, "the file ends too early");
            }
            long found = bytes.getLong(0);
            if (bytes.getInt(SLOT_USED_BYTES - 4) == checksum(used) && found > turn) {
                turn = found;
                marked = new Extent(bytes.getLong(8), bytes.getLong(16), bytes.getInt(24));
            }
        }
        if (turn == 0) {
            throw Disk.corrupt(file, SLOT_BYTES, "neither checksum is right, so nobody knows how much was durable");
        }
    }

    private static int checksum(byte[] slot) {
        CRC32C crc = new CRC32C();
        crc.update(slot, 0, SLOT_USED_BYTES - 4);
        return (int) crc.getValue();
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

    /// Whether an earlier version has written it: then it is to be rewritten before anything is appended.
    public boolean isOfEarlierVersion() {
        return number == 0;
    }

    /// Appends an entry. Not durable before [#force].
    public void append(byte[] payload) throws OutOfSpaceException {
        ByteBuffer frame = frame(payload, forced);
        Disk.write(java.util.Objects.requireNonNull(channel), where.file, frame, length);
        length += frame.limit();
        checksum.update(frame.flip());
    }

    /// Makes all that was appended durable. If a frame behind the mark is damaged later, it may be taken for one that
    /// a crash has torn, and be left out.
    public void force() {
        if (forced < length) {
            requireUnbroken();
            isBroken = true; // After a failed force, a later one does not cover earlier writes.
            Disk.force(java.util.Objects.requireNonNull(channel), where.file);
            isBroken = false;
            forced = length;
        }
    }

    private void requireUnbroken() {
        if (isBroken) {
            throw Disk.failed("forcing", where.file, new IOException("it has failed before"));
        }
    }

    /// Makes all that was appended durable, and then the mark that names it: from now on no loss of it can go
    /// unnoticed.
    ///
    /// @return the durable extent
    public Extent mark() throws OutOfSpaceException {
        force();
        requireUnbroken();
        Extent extent = new Extent(number, length, (int) checksum.getValue());
        if (extent.equals(marked)) {
            return extent;
        }
        byte[] slot = slot(extent);
        FileChannel open = markChannel;
        if (open == null) {
            ByteBuffer whole = ByteBuffer.allocate(3 * SLOT_BYTES).put(where.markHeader());
            Disk.replace(where.markFile(), whole.put(slotAt(), slot).clear());
            markChannel = Disk.open(where.markFile());
        } else {
            Disk.write(open, where.markFile(), ByteBuffer.wrap(slot), slotAt());
            isBroken = true;
            Disk.force(open, where.markFile());
            isBroken = false;
        }
        turn++;
        marked = extent;
        return extent;
    }

    private byte[] slot(Extent extent) {
        byte[] slot = new byte[SLOT_USED_BYTES];
        ByteBuffer fields = ByteBuffer.wrap(slot).order(ByteOrder.LITTLE_ENDIAN);
        fields.putLong(turn + 1).putLong(extent.number).putLong(extent.length).putInt(extent.checksum);
        fields.putInt(checksum(slot));
        return slot;
    }

    private int slotAt() {
        return (1 + (int) (turn % 2)) * SLOT_BYTES;
    }

    /// Writes a log with these entries in place of this one, and continues with it; durable and marked when
    /// this returns.
    public void rewrite(List<byte[]> payloads) throws OutOfSpaceException {
        ByteBuffer whole = ByteBuffer.allocate(HEADER_BYTES
                + payloads.stream()
                        .mapToInt(payload -> FRAME_HEADER_BYTES + payload.length)
                        .sum());
        whole.put(where.header(number + 1));
        payloads.forEach(payload -> whole.put(frame(payload, 0)));
        Disk.replace(where.file, whole.flip());
        close(channel, where.file);
        channel = Disk.open(where.file);
        number++;
        length = whole.limit();
        forced = length;
        checksum.reset();
        checksum.update(whole.clear());
        mark();
    }

    /// Bytes of the log.
    public long length() {
        return length;
    }

    private static void close(@Nullable FileChannel open, Path file) {
        if (open != null) {
            Disk.close(open, file);
        }
    }

    @Override
    public void close() {
        close(channel, where.file);
        close(markChannel, where.markFile());
        channel = null;
        markChannel = null;
    }
}
