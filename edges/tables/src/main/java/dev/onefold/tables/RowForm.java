package dev.onefold.tables;

import dev.onefold.core.Sync;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Version;
import dev.onefold.core.form.RowLine;
import java.math.BigInteger;
import java.util.Arrays;

/// The form in which a row becomes a record of the pipeline: as it is, or in a line that marks it as a row.
/// Any thread.
public final class RowForm {
    private final byte[] prefix;

    private RowForm(byte[] prefix) {
        this.prefix = prefix;
    }

    /// The row is a record, and has its own version or id.
    public static RowForm plain() {
        return new RowForm(new byte[0]);
    }

    /// The pipeline reads changes, and its version is a field of the row.
    public static RowForm row() {
        return around(RowLine.of(new byte[0]));
    }

    /// Below every change that is live in the log of this generation: at position 0, with the number of the
    /// seeding.
    public static RowForm positioned(long generation, long number) {
        return around(RowLine.of(Version.of(generation, BigInteger.ZERO, number), new byte[0]));
    }

    /// @param line of a row without bytes
    private static RowForm around(byte[] line) {
        return new RowForm(Arrays.copyOf(line, line.length - 1));
    }

    /// The kind of the records that the engine gets.
    public RecordKind kind() {
        return prefix.length == 0 ? RecordKind.SENT : RecordKind.ROW;
    }

    /// Brings such records to a seeding or a repair.
    public Seeder.Intake intake(Sync.Run run) {
        return prefix.length == 0 ? run::append : run::appendRows;
    }

    /// A row as a record, without a line end.
    ///
    /// @param padding bytes that the array has behind the record
    public byte[] record(byte[] row, int padding) {
        int closing = prefix.length == 0 ? 0 : 1;
        byte[] record = Arrays.copyOf(prefix, prefix.length + row.length + closing + padding);
        System.arraycopy(row, 0, record, prefix.length, row.length);
        if (closing > 0) {
            record[prefix.length + row.length] = '}';
        }
        return record;
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
