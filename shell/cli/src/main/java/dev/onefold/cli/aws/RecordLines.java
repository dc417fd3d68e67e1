package dev.onefold.cli.aws;

import dev.onefold.api.body.JsonRecords;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.embedded.framing.LineReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The records of an input, one in a line; a record of CSV may have several lines. A last line without its end
/// is a record, too. Not thread-safe.
public final class RecordLines {
    private final RecordEnds ends;
    private final LineReader reader;
    private LineReader.@Nullable Lines lines;
    private int at;
    private long before; // Lines that were read.

    /// A line without its end.
    ///
    /// @param data `null` if it has more bytes than a record may have
    /// @param bytes how many it has
    public record Line(byte @Nullable [] data, long bytes) {}

    public RecordLines(RecordEnds ends, InputStream in) {
        this.ends = ends;
        reader = LineReader.eager(ends, JsonRecords.of(ends, in), false);
    }

    /// The next line; `null` at the end.
    @Nullable
    public Line next() throws IOException {
        LineReader.Lines some = lines;
        if (some == null || at >= some.length()) {
            before += some == null ? 0 : some.oversized() < 0 ? RecordEnds.lines(some.bytes(), 0, some.length()) : 1;
            some = reader.next();
            lines = some;
            at = 0;
        }
        RecordEnds.Fault fault = reader.fault();
        if (some == null && fault != null) {
            throw new IOException(fault.message(before));
        }
        if (some == null) {
            return null;
        }
        if (some.oversized() >= 0) {
            return new Line(null, some.oversized());
        }
        byte[] bytes = some.bytes();
        int next = ends.endAnyhow(bytes, at, some.length());
        int end = bytes[next - 1] == '\n' ? next - 1 : next;
        byte[] data = Arrays.copyOfRange(bytes, at, end > at && bytes[end - 1] == '\r' ? end - 1 : end);
        at = next;
        return new Line(data, data.length);
    }
}
