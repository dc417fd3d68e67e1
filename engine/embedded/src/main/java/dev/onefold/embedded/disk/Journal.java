package dev.onefold.embedded.disk;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The journal holds changes that cannot be read again; each is forced before it is acknowledged. Segments
/// `journal-N` are filled with zeros from end to end and forced before they get their name. So an entry needs
/// no space and no change of the file's size, and a segment that does not begin with its header was damaged.
/// One thread writes.
///
///     header 32 = magic "ONEFJRNL" 8, format 4, identity of the data directory 8, segment 8, CRC-32C of these 4
///     entry     = magic "ENTR" 4, length of the payload 4, number 8, CRC-32C 4, zeros 4, payload
///
/// Entries are numbered 1, 2, 3 … over all segments, and the checksum of each is over that of the entry
/// before, the fields in front of it and the payload. So when a crash has torn an entry, one behind it that
/// happened to survive can never follow the entry that is written in its place. The journal ends at the
/// first entry that is not whole. A torn end was never acknowledged. To tell it from an acknowledged entry
/// that was damaged later, `journal-mark` holds the number of the last forced entry; it is written without
/// force, so it may be behind, never ahead.
///
///     mark = header 32 (magic "ONEFMARK" 8, format 4, identity 8, CRC-32C of these 4, zeros), number 8,
///            CRC-32C of it 4, zeros 4
public final class Journal implements AutoCloseable {
    /// Bytes of a segment; an entry that is larger gets a segment of its own size.
    public static final int SEGMENT_BYTES = Scale.of(16 << 20);

    private static final String MARK = "journal-mark";
    private static final String MARK_MAGIC = "ONEFMARK";
    private static final int FORMAT = 4;
    private static final int SEGMENT_HEADER_BYTES = 32;
    private static final int MARK_AT = 32;
    private static final int MARK_BYTES = 16;
    private static final int MAGIC = 0x52544e45; // "ENTR", little-endian.
    private static final int HEADER_BYTES = 24;

    private final Path directory;
    private final long identity;
    private final boolean reading;
    private final @Nullable FileChannel mark; // None for a reader who finds none.
    private @Nullable FileChannel channel;
    private long segment;
    private long segmentBytes;
    private long at;
    private long number;
    private int chain;
    private long last;
    private int entryChecksum;
    private long spare = -1; // The segment behind this one, if it is there already.
    private final Ahead ahead = new Ahead();
    private long forces;
    private long forcesNanos;
    private volatile boolean kept;

    /// The place of the next entry.
    ///
    /// @param segment number of the file
    /// @param at offset in it
    /// @param number of the next entry
    /// @param chain checksum of the entry before, and by it of all entries before
    /// @param last offset of the entry before, which is in the same file; 0 if there is none
    public record Position(long segment, long at, long number, int chain, long last) {
        /// The beginning of a journal.
        public static final Position START = new Position(1, SEGMENT_HEADER_BYTES, 1, 0, 0);
    }

    private Journal(Path directory, long identity, Position position, boolean reading) {
        this.directory = directory;
        this.identity = identity;
        this.reading = reading;
        segment = position.segment();
        at = position.at();
        number = position.number();
        chain = position.chain();
        last = position.last();
        Path markFile = markFile();
        mark = reading && !Files.exists(markFile) ? null : open(markFile);
        if (mark != null) {
            FileHeader.require(markHeader(identity), mark, markFile);
        }
    }

    private FileChannel open(Path file) {
        return reading ? Disk.openToRead(file) : Disk.open(file);
    }

    private static ByteBuffer markHeader(long identity) {
        return FileHeader.of(MARK_MAGIC, FORMAT, identity, MARK_AT);
    }

    private ByteBuffer segmentHeader(long segmentNumber) {
        ByteBuffer number =
                ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(segmentNumber);
        return FileHeader.of("ONEFJRNL", FORMAT, identity, SEGMENT_HEADER_BYTES, number.array());
    }

    private Path markFile() {
        return directory.resolve(MARK);
    }

    private Path file(long segmentNumber) {
        return directory.resolve("journal-" + segmentNumber);
    }

    /// The identity that the journal of a directory bears; `null` if there is none.
    public static @Nullable Long identity(Path directory) {
        Path markFile = directory.resolve(MARK);
        return Files.exists(markFile) ? FileHeader.identity(MARK_MAGIC, FORMAT, markFile) : null;
    }

    /// Requires that the mark is there. It is made before a directory has its name, and stays.
    public static void requireMark(Path directory) {
        Path markFile = directory.resolve(MARK);
        if (!Files.exists(markFile)) {
            throw Disk.corrupt(markFile, 0, "the file is gone, so nobody knows which entries were acknowledged");
        }
    }

    /// Whether [#release] deletes nothing.
    public boolean isKept() {
        return kept;
    }

    /// Keeps all segments from now on, or no longer. Guarded by the engine's lock.
    public void keep(boolean all) {
        kept = all;
    }

    /// Called for each entry.
    public interface Visitor {
        void entry(byte[] payload);
    }

    /// Opens the journal, visits the entries from a position on, and is ready for the next.
    public static Journal open(Path directory, long identity, Position from, Visitor visitor)
            throws OutOfSpaceException {
        Path markFile = directory.resolve(MARK);
        if (!Files.exists(markFile)) {
            Disk.create(markFile, markHeader(identity), MARK_AT + MARK_BYTES);
        }
        FileNames.list(directory, FileNames::isUnfinishedJournal).forEach(Disk::delete);
        return replayed(new Journal(directory, identity, from, false), visitor);
    }

    /// Visits the entries from a position on and changes nothing. Nothing can be appended.
    public static Journal read(Path directory, long identity, Position from, Visitor visitor) {
        try {
            return replayed(new Journal(directory, identity, from, true), visitor);
        } catch (OutOfSpaceException e) {
            throw new IllegalStateException("Reading needs no space", e);
        }
    }

    private static Journal replayed(Journal journal, Visitor visitor) throws OutOfSpaceException {
        boolean isReplayed = false;
        try {
            journal.replay(visitor);
            isReplayed = true;
            return journal;
        } finally {
            if (!isReplayed) {
                journal.close();
            }
        }
    }

    private void replay(Visitor visitor) throws OutOfSpaceException {
        long forced = readMark();
        if (number > 1 && !Files.exists(file(segment))) {
            throw Disk.corrupt(file(segment), 0, "the file is gone, but the checkpoint names it");
        }
        if (Files.exists(file(segment))) {
            if (!reading) {
                Disk.forceDirectory(directory); // A segment that was just begun when its process was killed.
            }
            openSegment();
            requireLast();
        }
        while (channel != null) {
            byte[] payload = entry();
            if (payload != null) {
                if (number > forced && !reading) {
                    write(payload, entryChecksum);
                }
                visitor.entry(payload);
                chain = entryChecksum;
                last = at;
                at += HEADER_BYTES + payload.length;
                number++;
            } else if (Files.exists(file(segment + 1))) {
                // Entries continue in the next segment, if there are more; a spare one holds none of this
                // number.
                long endedSegment = segment;
                long endedAt = at;
                if (!reading) {
                    Disk.force(channel, file(segment));
                }
                closeSegment();
                segment++;
                at = SEGMENT_HEADER_BYTES;
                openSegment();
                if (entry() == null) {
                    closeSegment();
                    spare = segment;
                    segment = endedSegment;
                    at = endedAt;
                    openSegment();
                    break;
                }
            } else {
                break;
            }
        }
        if (forced >= number) {
            throw Disk.corrupt(
                    file(segment), at, "entry " + number + " is not whole, but entry " + forced + " was acknowledged");
        }
        if (forced < number - 1 && !reading) {
            forceEntries();
        }
    }

    private void openSegment() {
        FileChannel opened = open(file(segment));
        channel = opened;
        FileHeader.require(segmentHeader(segment), opened, file(segment));
        segmentBytes = Disk.size(opened, file(segment));
    }

    private void closeSegment() {
        if (channel != null) {
            Disk.close(channel, file(segment));
            channel = null;
        }
    }

    /// Requires that the last entry that the checkpoint covers is at its place. Otherwise the file is an
    /// older one, or was cut, and appended entries could not be found again: they are numbered from that
    /// entry on.
    private void requireLast() {
        if (last == 0) {
            return;
        }
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        boolean isThere = at <= segmentBytes
                && Disk.read(java.util.Objects.requireNonNull(channel), file(segment), header, last)
                && header.getInt(0) == MAGIC
                && header.getInt(4) == at - last - HEADER_BYTES
                && header.getLong(8) == number - 1
                && header.getInt(16) == chain;
        if (!isThere) {
            throw Disk.corrupt(
                    file(segment),
                    last,
                    "entry " + (number - 1)
                            + ", which the checkpoint covers, is not there: the file is an older one, or"
                            + " was cut or replaced");
        }
    }

    private byte @Nullable [] entry() {
        FileChannel open = java.util.Objects.requireNonNull(channel);
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        if (at + HEADER_BYTES > segmentBytes || !Disk.read(open, file(segment), header, at)) {
            return null;
        }
        int length = header.getInt(4);
        if (header.getInt(0) != MAGIC
                || header.getLong(8) != number
                || length < 0
                || length > segmentBytes - at - HEADER_BYTES) {
            return null;
        }
        byte[] payload = new byte[length];
        if (!Disk.read(open, file(segment), ByteBuffer.wrap(payload), at + HEADER_BYTES)) {
            return null;
        }
        entryChecksum = checksum(header, ByteBuffer.wrap(payload));
        return header.getInt(16) == entryChecksum ? payload : null;
    }

    private int checksum(ByteBuffer header, ByteBuffer payload) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(4).putInt(chain).flip());
        crc.update(header.duplicate().limit(16).position(0));
        crc.update(payload.duplicate());
        return (int) crc.getValue();
    }

    /// The place of the next entry; all earlier entries are covered by a checkpoint that names it.
    public Position position() {
        return new Position(segment, at, number, chain, last);
    }

    /// Whether it still holds all entries since the first.
    public boolean isWhole() {
        return number == 1 || Files.exists(file(1));
    }

    /// Requires of a journal that is kept that each of its files is there.
    public void requireWhole() {
        for (long each = 1; number > 1 && each < segment; each++) {
            if (!Files.exists(file(each))) {
                throw Disk.corrupt(file(each), 0, "the file is gone, but the data directory keeps its journal");
            }
        }
    }

    /// Appends an entry; durable after [#force] only.
    ///
    /// @throws OutOfSpaceException with nothing changed; call again when there is space
    public void append(ByteBuffer payload) throws OutOfSpaceException {
        int length = payload.remaining();
        if (channel == null || at + HEADER_BYTES + length > segmentBytes) {
            nextSegment(Math.max(SEGMENT_BYTES, SEGMENT_HEADER_BYTES + HEADER_BYTES + length));
        }
        int checksum = checksum(header(length, 0), payload);
        FileChannel open = java.util.Objects.requireNonNull(channel);
        Disk.write(open, file(segment), header(length, checksum), at);
        Disk.write(open, file(segment), payload, at + HEADER_BYTES);
        last = at;
        at += HEADER_BYTES + length;
        number++;
        chain = checksum;
    }

    private ByteBuffer header(int length, int checksum) {
        return ByteBuffer.allocate(HEADER_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(MAGIC)
                .putInt(length)
                .putLong(number)
                .putInt(checksum)
                .putInt(0)
                .flip();
    }

    /// Writes an entry again at its place. An entry of a process that was killed, or whose force failed, can be
    /// read and may yet not be on the disk; after a failed force, not even the next force brings it there. All
    /// later entries are behind it.
    private void write(byte[] payload, int checksum) throws OutOfSpaceException {
        FileChannel open = java.util.Objects.requireNonNull(channel);
        Disk.write(open, file(segment), header(payload.length, checksum), at);
        Disk.write(open, file(segment), ByteBuffer.wrap(payload), at + HEADER_BYTES);
    }

    private void nextSegment(long bytes) throws OutOfSpaceException {
        long next = channel == null ? segment : segment + 1;
        if (next != spare || bytes != SEGMENT_BYTES) {
            ahead.end();
            Disk.create(file(next), segmentHeader(next), bytes);
        }
        if (channel != null) {
            forceEntries(); // Nothing may be unforced in a file that is no longer open.
            closeSegment();
        }
        spare = -1;
        segment = next;
        at = SEGMENT_HEADER_BYTES;
        last = 0; // Until an entry is in: there may be no space for it, and a checkpoint before there is.
        openSegment();
    }

    /// Makes all appended entries durable: they may be acknowledged.
    public void force() {
        forceEntries();
        ahead.makeMore();
    }

    private void forceEntries() {
        if (channel != null) {
            long began = System.nanoTime();
            Disk.force(channel, file(segment));
            writeMark();
            forces++;
            forcesNanos += System.nanoTime() - began;
        }
    }

    /// How often entries were forced since the journal was opened.
    public long forces() {
        return forces;
    }

    /// The time of all these forces, in nanoseconds.
    public long forcesNanos() {
        return forcesNanos;
    }

    private void writeMark() {
        ByteBuffer bytes =
                ByteBuffer.allocate(MARK_BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(number - 1);
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), 0, 8);
        bytes.putInt((int) crc.getValue()).putInt(0).flip();
        try {
            Disk.write(java.util.Objects.requireNonNull(mark), markFile(), bytes, MARK_AT);
        } catch (OutOfSpaceException e) {
            throw new IllegalStateException("A file that was allocated needs space", e);
        }
    }

    private long readMark() {
        ByteBuffer bytes = ByteBuffer.allocate(MARK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        if (mark == null || !Disk.read(mark, markFile(), bytes, MARK_AT)) {
            return 0;
        }
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), 0, 8);
        return (int) crc.getValue() == bytes.getInt(8) ? bytes.getLong(0) : 0;
    }

    /// Deletes the segments in front of a position that a durable checkpoint names, unless all are kept. The
    /// oldest is the first, so that the rest after a crash is never taken for whole.
    public void release(Position upTo) {
        long oldest = upTo.segment();
        while (!kept && oldest > 1 && Files.exists(file(oldest - 1))) {
            oldest--;
        }
        for (long old = oldest; !kept && old < upTo.segment(); old++) {
            Disk.delete(file(old));
        }
    }

    @Override
    public void close() {
        ahead.end();
        closeSegment();
        if (mark != null && mark.isOpen()) {
            Disk.close(mark, markFile());
        }
    }

    /// Makes the next segment while this one fills, in parts that take milliseconds: nobody waits for all of it.
    private final class Ahead {
        private static final int PART_BYTES = SEGMENT_BYTES / 16;
        private static final int PARTS_AT_ONCE = 4;
        private static final long SPACE_MIN = 4L * SEGMENT_BYTES;
        private static final int BEGIN_AT = SEGMENT_BYTES / 4; // So it is there when this one is full to 3/4.

        private @Nullable Zeros zeros;
        private long refused = -1; // A segment for which there is no space yet.

        void makeMore() {
            long next = segment + 1;
            long made = zeros == null ? 0 : zeros.at();
            long due = Math.min(2 * (at - BEGIN_AT), SEGMENT_BYTES) / PART_BYTES * PART_BYTES;
            if (channel == null || spare == next || refused == next || due <= made) {
                return;
            }
            if (Disk.usableBytes(directory) < SPACE_MIN) {
                giveUp(next);
                return;
            }
            if (zeros == null) {
                zeros = new Zeros(Disk.beside(file(next)), SEGMENT_BYTES);
            }
            try {
                Disk.make(zeros, Disk.beside(file(next)), Math.min(due, made + (long) PARTS_AT_ONCE * PART_BYTES));
                if (zeros.at() == SEGMENT_BYTES) {
                    end();
                    Disk.name(file(next), segmentHeader(next));
                    spare = next;
                }
            } catch (OutOfSpaceException notNow) {
                giveUp(next);
            }
        }

        /// Gives the space back, because others need it more. A caller that needs the segment waits for it, and
        /// reports this.
        private void giveUp(long next) {
            end();
            Disk.delete(Disk.beside(file(next)));
            refused = next;
        }

        /// Leaves an unfinished segment to be overwritten.
        void end() {
            if (zeros != null) {
                Disk.close(zeros, Disk.beside(file(segment + 1)));
                zeros = null;
            }
        }
    }
}
