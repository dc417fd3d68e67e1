package dev.onefold.cli.aws;

import dev.onefold.embedded.source.LineReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The lines of an input, one record each; a last line without its end is one, too. Not thread-safe.
public final class RecordLines {
    private final LineReader reader;
    private LineReader.@Nullable Lines lines;
    private int at;

    /// A line without its end.
    ///
    /// @param data `null` if it has more bytes than a record may have
    /// @param bytes how many it has
    public record Line(byte @Nullable [] data, long bytes) {}

    public RecordLines(InputStream in) {
        reader = LineReader.eager(in, false);
    }

    /// The next line; `null` at the end.
    @Nullable
    public Line next() throws IOException {
        LineReader.Lines some = lines;
        if (some == null || at >= some.length()) {
            some = reader.next();
            lines = some;
            at = 0;
        }
        if (some == null) {
            return null;
        }
        if (some.oversized() >= 0) {
            return new Line(null, some.oversized());
        }
        byte[] bytes = some.bytes();
        int end = at;
        while (end < some.length() && bytes[end] != '\n') {
            end++;
        }
        byte[] data = Arrays.copyOfRange(bytes, at, end > at && bytes[end - 1] == '\r' ? end - 1 : end);
        at = end + 1;
        return new Line(data, data.length);
    }
}
