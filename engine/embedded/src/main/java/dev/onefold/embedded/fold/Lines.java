package dev.onefold.embedded.fold;

import dev.onefold.core.TooLargeException;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.embedded.letters.Letters;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// Records as lines, and how many of them one commit takes.
public final class Lines {
    private static final int SHA256_BYTES = 32;

    private Lines() {}

    /// The bytes of records, each ended by a line end.
    ///
    /// @throws IllegalArgumentException if a record is not one line of Unicode text, or there are too many
    /// bytes
    public static byte[] of(RecordEnds ends, List<String> records, int bytesMax) {
        if (records == null) {
            throw new IllegalArgumentException("The list of records is null");
        }
        requireHeap(records.size(), records.size());
        List<byte[]> encoded = new ArrayList<>(records.size());
        long length = 0;
        for (String record : records) {
            byte[] bytes = bytes(ends, record, encoded.size() + 1);
            encoded.add(bytes);
            length += bytes.length + 1L;
            if (length > bytesMax) {
                throw new TooLargeException("The records have more than " + bytesMax
                        + " bytes, the most that one call takes. Append them in several calls.");
            }
            requireHeap(records.size(), length);
        }
        byte[] lines = new byte[(int) length];
        int at = 0;
        for (byte[] bytes : encoded) {
            System.arraycopy(bytes, 0, lines, at, bytes.length);
            at += bytes.length;
            lines[at++] = '\n';
        }
        return lines;
    }

    private static void requireHeap(int records, long length) {
        if (heapBytes(records, length) > heapBytesMax()) {
            throw new TooLargeException("The " + records + " records, of at least " + length
                    + " bytes, are more than this heap allows for one call: if all were rejected, they would need "
                    + heapBytes(records, length) + " bytes of it, " + heapBytesMax()
                    + " are allowed. Append them in several calls, or allow a larger heap (-Xmx).");
        }
    }

    /// Requires a length that the array of the lines has, and that is not too great.
    public static void requireLength(byte[] lines, int length, int bytesMax) {
        Objects.requireNonNull(lines, "The lines are null");
        if (length < 0 || length > lines.length || length > bytesMax) {
            throw new IllegalArgumentException(
                    "The length is " + length + "; it is 0 to " + Math.min(lines.length, bytesMax) + " bytes");
        }
    }

    /// Requires the name of a source.
    public static void requireName(String source) {
        Objects.requireNonNull(source, "The source's name is null");
        if (source.isEmpty()) {
            throw new IllegalArgumentException("The source's name is empty");
        }
        Utf8.encode("The source's name", source);
    }

    /// Requires the length and the hash of a line that is not kept.
    public static void requireMeasured(long bytes, byte[] sha256) {
        Objects.requireNonNull(sha256, "The hash is null");
        if (bytes < 0 || sha256.length != SHA256_BYTES) {
            throw new IllegalArgumentException("A line of " + bytes + " bytes with a hash of " + sha256.length
                    + " bytes; a hash has " + SHA256_BYTES);
        }
    }

    /// Requires the name of a source, and a number of its line.
    public static void requireNumbered(String source, long firstRecord) {
        Lines.requireName(source);
        if (firstRecord < 1) {
            throw new IllegalArgumentException(
                    "The first line's number is " + firstRecord + "; lines are numbered from 1");
        }
    }

    /// Bytes of the heap that lines need at most while they are committed, all being rejected.
    public static long heapBytes(long lines, long bytes) {
        return lines * Letters.PENDING_BYTES + 4 * bytes;
    }

    /// Share of the heap that the lines of one commit may take.
    public static long heapBytesMax() {
        return Runtime.getRuntime().maxMemory() / 4;
    }

    /// Requires that each record of the lines has an end, and each quote, too.
    ///
    /// @param linesBefore lines of the source in front of these
    /// @throws IllegalArgumentException if the state of quotes is not known somewhere
    public static void requireEnds(RecordEnds ends, byte[] lines, int length, long linesBefore) {
        if (ends.mayHaveLines() && !ends.areWhole(lines, 0, length)) {
            throw new IllegalArgumentException(
                    "Nothing of this was taken: " + ends.fault(lines, 0, length).message(linesBefore));
        }
    }

    /// The end of the lines that one commit takes, from one line on: behind at least one line.
    public static int end(RecordEnds ends, byte[] lines, int from, int length) {
        if (heapBytes(length - from, length - from) <= heapBytesMax()) {
            return length; // However short the lines are.
        }
        int end = ends.endAnyhow(lines, from, length);
        for (long count = 1; end < length; count++) {
            int next = ends.endAnyhow(lines, end, length);
            if (heapBytes(count + 1, next - from) > heapBytesMax()) {
                break;
            }
            end = next;
        }
        return end;
    }

    private static byte[] bytes(RecordEnds ends, String record, int number) {
        if (record == null) {
            throw new IllegalArgumentException("Record " + number + " of the list is null");
        }
        byte[] bytes = Utf8.encode("Record " + number + " of the list", record);
        if (ends.end(bytes, 0, bytes.length) >= 0) {
            throw new IllegalArgumentException(
                    "Record " + number + " of the list holds a line end; a record is one line"
                            + (ends.mayHaveLines() ? ", or has its line ends in quotes" : ""));
        }
        requireEnds(ends, bytes, bytes.length, 0);
        return bytes;
    }
}
