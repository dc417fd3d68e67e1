package dev.onefold.embedded.framing;

import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.QueueBatch;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// How bytes are cut into records, and the place of each record.
///
/// @param ends where records end in lines
public record Framing(Kind kind, RecordEnds ends) {
    /// The bytes around a record.
    enum Kind {
        /// Each record ends at a line end; its place is the byte where it begins.
        LINES,
        /// Before each record are its place, 8 bytes, and its length, 4 bytes; so it may hold any byte.
        LENGTHS,
        /// Before each record are its length, 4 bytes, the time when its message was sent, 8 bytes, and the
        /// message's id with its length, 2 bytes. Its place is the byte where that begins.
        MESSAGES
    }

    /// A record in each line.
    public static final Framing LINES = new Framing(Kind.LINES, RecordEnds.LINES);

    public static final Framing LENGTHS = new Framing(Kind.LENGTHS, RecordEnds.LINES);
    public static final Framing MESSAGES = new Framing(Kind.MESSAGES, RecordEnds.LINES);

    static final int PREFIX_BYTES = 12;
    static final int MESSAGE_PREFIX_BYTES = 14;

    /// Lines, as a pipeline reads them: a record of CSV may have several.
    public static Framing ofLines(Pipeline pipeline) {
        RecordEnds ends = RecordEnds.of(pipeline);
        return ends.mayHaveLines() ? new Framing(Kind.LINES, ends) : LINES;
    }

    /// Whether records are in lines.
    public boolean isOfLines() {
        return kind == Kind.LINES;
    }

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

    /// Messages with [#MESSAGES].
    public static byte[] encode(QueueBatch batch) {
        List<byte[]> ids = batch.messages().stream()
                .map(message -> message.id().getBytes(StandardCharsets.UTF_8))
                .toList();
        int bytes = 0;
        for (int i = 0; i < ids.size(); i++) {
            int body = batch.messages().get(i).body().length;
            bytes = Math.addExact(bytes, MESSAGE_PREFIX_BYTES + ids.get(i).length + body);
        }
        ByteBuffer framed = ByteBuffer.allocate(bytes);
        for (int i = 0; i < ids.size(); i++) {
            QueueBatch.Message message = batch.messages().get(i);
            framed.putInt(message.body().length)
                    .putLong(message.sentMs())
                    .putShort((short) ids.get(i).length)
                    .put(ids.get(i))
                    .put(message.body());
        }
        return framed.array();
    }

    /// Bytes of the records that are not too large: those that are become dead letters, and take no memory for
    /// rows.
    public long bytesTaken(byte[] bytes, int from, int to) {
        long taken = (long) to - from;
        if (taken > Limits.RECORD_BYTES_MAX) {
            for (int at = from; at < to; ) {
                int end = end(bytes, at, to);
                if (end - at > Limits.RECORD_BYTES_MAX + 1) {
                    taken -= end - at;
                }
                at = end;
            }
        }
        return taken;
    }

    /// Behind the record that begins at a byte.
    public int end(byte[] bytes, int from, int to) {
        return switch (kind) {
            case LINES -> ends.endAnyhow(bytes, from, to);
            case LENGTHS -> from + PREFIX_BYTES + ByteBuffer.wrap(bytes).getInt(from + Long.BYTES);
            case MESSAGES -> {
                ByteBuffer frame = ByteBuffer.wrap(bytes);
                yield from + MESSAGE_PREFIX_BYTES + frame.getShort(from + PREFIX_BYTES) + frame.getInt(from);
            }
        };
    }

    /// Behind so many lines of comments in front of a record, or behind all of them; `from` if there are none.
    /// They may have been acknowledged before the record came.
    public int endOfComments(byte[] bytes, int from, int to, long lines) {
        int behind = ends.behindAllComments(bytes, from, to);
        int at = from;
        for (long line = 0; line < lines && at < behind; line++) {
            while (bytes[at++] != '\n') {}
        }
        return at;
    }

    /// How many records there are; in lines, how many lines.
    public long count(byte[] bytes, int from, int to) {
        if (kind == Kind.LINES) {
            return RecordEnds.lines(bytes, from, to);
        }
        long count = 0;
        for (int at = from; at < to; at = end(bytes, at, to)) {
            count++;
        }
        return count;
    }
}
