package dev.onefold.tables;

import java.nio.charset.StandardCharsets;

/// How a row becomes a record of the pipeline: as it is, or with the version that a seeding gives it. Any thread.
public final class RowForm {
    private final byte[] prefix;

    private RowForm(String prefix) {
        this.prefix = prefix.getBytes(StandardCharsets.US_ASCII);
    }

    /// The row is a record, and has its own version or id.
    public static RowForm plain() {
        return new RowForm("");
    }

    /// Below every change that is live in the log of this generation: at position 0, with the number of the seeding.
    public static RowForm positioned(long generation, long number) {
        return new RowForm("{\"$onefold\":{\"generation\":" + generation + ",\"position\":\"0\",\"number\":" + number
                + "},\"row\":");
    }

    /// The rows as lines of records.
    RowSource.Rows records(RowSource.Rows rows) {
        if (prefix.length == 0) {
            return rows;
        }
        byte[] lines = new byte[rows.length() + rows.count() * (prefix.length + 1)];
        int to = 0;
        int from = 0;
        for (int i = 0; i < rows.length(); i++) {
            if (rows.lines()[i] == '\n') {
                System.arraycopy(prefix, 0, lines, to, prefix.length);
                to += prefix.length;
                System.arraycopy(rows.lines(), from, lines, to, i - from);
                to += i - from;
                lines[to++] = '}';
                lines[to++] = '\n';
                from = i + 1;
            }
        }
        return new RowSource.Rows(rows.part(), lines, to, rows.count(), rows.mark(), rows.done());
    }
}
