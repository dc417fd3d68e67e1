package dev.onefold.embedded.source;

import dev.onefold.core.event.Decoder;
import java.nio.ByteBuffer;
import java.util.List;

/// How bytes are cut into records, and where each record's place is.
public enum Framing {
    /// Each record ends at a line end; its place is the byte where it begins.
    LINES,

    /// In front of each record stand its place, 8 bytes, and its length, 4 bytes; so it may hold any byte.
    LENGTHS;

    static final int PREFIX_BYTES = 12;

    /// Bytes that records take with [#LENGTHS].
    public static int bytes(List<LogBatch.Entry> records) {
        return records.stream()
                .mapToInt(record -> PREFIX_BYTES + record.bytes().length)
                .sum();
    }

    /// Records with [#LENGTHS], and room behind them as the decoder wants it.
    public static byte[] encode(List<LogBatch.Entry> records) {
        ByteBuffer framed = ByteBuffer.allocate(bytes(records) + Decoder.PADDING);
        for (LogBatch.Entry record : records) {
            framed.putLong(record.offset()).putInt(record.bytes().length).put(record.bytes());
        }
        return framed.array();
    }
}
