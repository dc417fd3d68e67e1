package dev.onefold.core.seal;

/// A record as a line of a batch.
public final class RecordLine {
    private RecordLine() {}

    /// Bytes of a record that may be a line with its end, without that end.
    public static int length(byte[] record) {
        return end(record, 0, record.length);
    }

    /// The end of such a record at `[from, to)`, without its line end.
    public static int end(byte[] bytes, int from, int to) {
        int end = to;
        if (end > from && bytes[end - 1] == '\n') {
            end--;
            if (end > from && bytes[end - 1] == '\r') {
                end--;
            }
        }
        return end;
    }

    /// Writes spaces for the line breaks of a JSON record: they cannot be within its texts, where JSON escapes them.
    public static void join(byte[] json, int from, int to) {
        for (int i = from; i < to; i++) {
            if (json[i] == '\n' || json[i] == '\r') {
                json[i] = ' ';
            }
        }
    }
}
