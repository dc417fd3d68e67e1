package dev.onefold.embedded.rows;

import java.util.zip.CRC32C;

/// The frames of a segment: one per checkpoint, each with a header that has its length and checksum.
///
///     frame header = magic "ROWF", length of the rows 4, checkpoint 8,
///                    CRC-32C of the rows and the fields before 4, zero 4
final class Frames {
    static final int MAGIC = 0x46574f52; // "ROWF", little-endian.

    private Frames() {}

    /// Writes the length of the frame that ends here, so that its rows can be visited; the checkpoint seals it.
    static void begin(Segment segment) {
        segment.memory.set(Segment.INT, segment.persisted, MAGIC);
        segment.memory.set(
                Segment.INT, segment.persisted + 4L, segment.used - segment.persisted - Segment.FRAME_HEADER_BYTES);
    }

    /// Completes the header of the frame at `from` with the checkpoint's number and the checksum.
    static void seal(Segment segment, int from, int to, long checkpoint) {
        segment.memory.set(Segment.LONG, from + 8L, checkpoint);
        segment.memory.set(Segment.INT, from + 16L, checksum(segment, from, to));
        segment.memory.set(Segment.INT, from + 20L, 0);
    }

    private static int checksum(Segment segment, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(segment.bytes(from, from + 16));
        crc.update(segment.bytes(from + Segment.FRAME_HEADER_BYTES, to));
        return (int) crc.getValue();
    }

    /// Checks the frames in front of `end`; the offset of the first one that is not as it was written, or -1.
    static int firstCorrupt(Segment segment, int end) {
        int frame = Segment.FILE_HEADER_BYTES;
        while (frame < end) {
            if (end - frame < Segment.FRAME_HEADER_BYTES || segment.memory.get(Segment.INT, frame) != MAGIC) {
                return frame;
            }
            int length = segment.memory.get(Segment.INT, frame + 4L);
            int next = frame + Segment.FRAME_HEADER_BYTES + length;
            if (length < 0
                    || next > end
                    || next < 0
                    || segment.memory.get(Segment.INT, frame + 20L) != 0
                    || segment.memory.get(Segment.INT, frame + 16L) != checksum(segment, frame, next)) {
                return frame;
            }
            frame = next;
        }
        return -1;
    }

    /// Called once per row: where it begins, where it begins behind its length, and where it ends.
    interface Visitor {
        void row(long at, long start, long end);
    }

    /// Bytes of the rows of a frame, whose header must be written already.
    static int length(Segment segment, long frame) {
        return segment.memory.get(Segment.INT, frame + 4);
    }

    /// Visits the rows in front of `end`; headers of frames must be written already.
    static void forEachRow(Segment segment, int end, Visitor visitor) {
        long frame = Segment.FILE_HEADER_BYTES;
        while (frame < end) {
            long at = frame + Segment.FRAME_HEADER_BYTES;
            long frameEnd = at + length(segment, frame);
            while (at < frameEnd) {
                long start = segment.varintEnd(at);
                long rowEnd = start + segment.varint(at);
                visitor.row(at, start, rowEnd);
                at = rowEnd;
            }
            frame = frameEnd;
        }
    }
}
