package dev.onefold.cli.aws;

import dev.onefold.core.pipeline.Limits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// The lines of an input, one record each; a last line without its end is one, too. Not thread-safe.
final class RecordLines {
    private final Chunks chunks;
    private byte[] chunk = new byte[0];
    private int at;
    private boolean ended;

    /// Where bytes come from.
    interface Chunks {
        /// The next ones; `null` at the end.
        byte @Nullable [] next() throws IOException;
    }

    /// A line without its end.
    ///
    /// @param data `null` if it has more bytes than a record may have: then it is passed over
    /// @param bytes how many it has
    record Line(byte @Nullable [] data, long bytes) {}

    RecordLines(Chunks chunks) {
        this.chunks = chunks;
    }

    /// The next line; `null` at the end.
    @Nullable
    Line next() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        long bytes = 0;
        while (hasMore()) {
            int end = at;
            while (end < chunk.length && chunk[end] != '\n') {
                end++;
            }
            bytes += end - at;
            if (bytes <= Limits.RECORD_BYTES_MAX + 1) { // One more, for a carriage return.
                line.write(chunk, at, end - at);
            } else {
                line.reset();
            }
            at = end + 1;
            if (end < chunk.length) {
                return line(line, bytes);
            }
        }
        return bytes == 0 ? null : line(line, bytes);
    }

    private static Line line(ByteArrayOutputStream line, long bytes) {
        byte[] data = line.toByteArray();
        int length = data.length > 0 && data[data.length - 1] == '\r' ? data.length - 1 : data.length;
        return bytes - (data.length - length) > Limits.RECORD_BYTES_MAX
                ? new Line(null, bytes)
                : new Line(length == data.length ? data : java.util.Arrays.copyOf(data, length), length);
    }

    private boolean hasMore() throws IOException {
        while (at >= chunk.length && !ended) {
            byte[] next = chunks.next();
            at = 0;
            chunk = next == null ? new byte[0] : next;
            ended = next == null;
        }
        return at < chunk.length;
    }
}
