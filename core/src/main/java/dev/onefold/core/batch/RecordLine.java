package dev.onefold.core.batch;

/// A record as a line of a batch.
public final class RecordLine {
    private RecordLine() {}

    /// Bytes of a record that may be a line with its end, without that end.
    public static int length(byte[] record) {
        int length = record.length;
        if (length > 0 && record[length - 1] == '\n') {
            length--;
            if (length > 0 && record[length - 1] == '\r') {
                length--;
            }
        }
        return length;
    }

    /// Whether a record, without its end, is more than one line.
    public static boolean isBroken(byte[] record, int length) {
        for (int i = 0; i < length; i++) {
            if (record[i] == '\n' || record[i] == '\r') {
                return true;
            }
        }
        return false;
    }

    /// Writes spaces for the line breaks of a JSON record: they cannot be within its texts, where JSON escapes them.
    public static void join(byte[] json, int length) {
        for (int i = 0; i < length; i++) {
            if (json[i] == '\n' || json[i] == '\r') {
                json[i] = ' ';
            }
        }
    }
}
