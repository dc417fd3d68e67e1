package dev.onefold.core.event;

import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.Format;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Finds the fields that a pipeline reads in one record of CSV (RFC 4180). Not thread-safe.
final class CsvScanner {
    /// Bytes of a byte order mark.
    static final int MARK_BYTES = 3;

    private static final int WRONG_ESCAPE = -2;
    private static final String NULLS = ". If \\N stands for a missing value, write under input nulls: ['\\N']";

    private final Fields fields;
    private final CsvHeader header;
    private final byte delimiter;
    private final byte quote;
    private final byte escape;
    private final byte[][] nulls;
    private final boolean isLiteral; // A quote in a value without quotes.
    private final int[] slots; // By column; -1 where the pipeline reads nothing.

    /// @param input is of CSV
    CsvScanner(Fields fields, Input input, CsvHeader header) {
        this.fields = fields;
        this.header = header;
        delimiter = header.delimiter;
        quote = header.quote;
        escape = header.escape;
        nulls = header.nulls;
        isLiteral = input.readsBy(3);
        fields.quote = quote;
        fields.escape = escape;
        fields.numbers = header.numbers;
        fields.isCsv = true;
        slots = new int[header.columns.size()];
        for (int column = 0; column < slots.length; column++) {
            slots[column] = fields.paths.indexOf(FieldPath.of(header.columns.get(column)));
        }
    }

    /// Behind the comments in front of a record.
    int behindComments(byte[] record, int from, int to) {
        return CsvHeader.behindComments(header.comment, record, from, to);
    }

    /// Whether a record is the header again: files with a header were joined, or sent one after the other.
    boolean isHeader(byte[] record, int from, int to) {
        return isLiteral && !header.format.isHeaderOnce() && header.isAt(record, from, to);
    }

    /// Why a record seems to be another header: two values are names of columns, or the first one
    /// is that of the first column. One in another place may be a value.
    @Nullable
    String otherHeader(byte[] record, int from, int to) {
        List<String> names = header.columns;
        List<String> values = header.values(record, behindComments(record, from, to), to);
        if (!isLiteral || header.format.isHeaderOnce() || values == null || values.equals(names)) {
            return null;
        }
        int known = 0;
        for (int column = 0; column < values.size(); column++) {
            boolean isSame = column < names.size() && names.get(column).equals(values.get(column));
            known += isSame && column == 0 ? 2 : names.contains(values.get(column)) ? 1 : 0;
        }
        return known < 2 ? null : CsvHeader.difference(names, values);
    }

    /// Fills the fields from the record at `[from, to)`; `null` when it is well-formed.
    @Nullable
    Malformed scan(byte[] record, int from, int to) {
        fields.clear(record);
        int end = CsvHeader.end(record, from, to);
        if (from == end) {
            return Malformed.syntax(0, "The record is empty");
        }
        int utf8Ends = TextBytes.utf8Ends(record, from, end);
        if (utf8Ends < end) {
            String message = Malformed.syntax(utf8Ends - from, "The line is not valid UTF-8")
                    .message();
            return new Malformed(Reason.MALFORMED, message + ". " + CsvHeader.ICONV.formatted("WINDOWS-1252"));
        }
        Malformed notRecord = isLiteral ? header.notRecord(record, from, end) : null;
        if (notRecord != null) {
            return notRecord;
        }
        int column = 0;
        int at = from;
        while (true) {
            boolean isQuoted = at < end && record[at] == quote && quote != Format.Csv.NO_QUOTE;
            int next = isQuoted ? quoted(record, at, end, column) : plain(record, at, end, column);
            if (next < 0) {
                String wrong = next == WRONG_ESCAPE
                        ? "An escape in the CSV line is in front of a character that needs none, in the value that begins"
                        : isLiteral && !isQuoted
                                ? "A space is in front of a quote in the CSV line, whose value begins"
                                : "A quote in the CSV line is not closed, or not at the end of its value,";
                Malformed malformed = Malformed.syntax(at - from, wrong);
                return next == WRONG_ESCAPE && isNullOfMySql(record, at, end)
                        ? new Malformed(malformed.reason(), malformed.message() + NULLS)
                        : malformed;
            }
            column++;
            if (next == end) {
                break;
            }
            at = next + 1;
        }
        if (column != slots.length) {
            return Malformed.syntax(
                    end - from,
                    "The CSV line has " + column + " values, its header " + slots.length + " columns,"
                            + (hasReturn(record, from, end)
                                    ? " and line ends that are CR alone. " + CsvHeader.LINE_ENDS + ". The record ends"
                                    : ""));
        }
        return isLiteral && column == 1 && hasReturn(record, from, end)
                ? Malformed.syntax(
                        end - from,
                        "The CSV line has line ends that are CR alone. " + CsvHeader.LINE_ENDS + ". It ends")
                : null;
    }

    private boolean isNullOfMySql(byte[] record, int at, int end) {
        return end - at >= 2
                && record[at] == escape
                && record[at + 1] == 'N'
                && (at + 2 == end || record[at + 2] == delimiter);
    }

    private static boolean hasReturn(byte[] record, int from, int end) {
        for (int at = from; at < end - 1; at++) {
            if (record[at] == '\r' && record[at + 1] != '\n') {
                return true;
            }
        }
        return false;
    }

    private int plain(byte[] record, int from, int end, int column) {
        int at = from;
        boolean isEscaped = false;
        boolean isWrong = false;
        while (at < end && record[at] != delimiter) {
            if (escape != Format.Csv.NO_ESCAPE && record[at] == escape) {
                isEscaped = true;
                isWrong |= !isEscapable(record, at + 1, end);
                at = Math.min(at + 2, end);
                continue;
            }
            if (record[at] == quote && (!isLiteral || isBlank(record, from, at))) {
                return -1;
            }
            at++;
        }
        boolean isNull = at == from || isNull(record, from, at);
        if (isWrong && !isNull) {
            return WRONG_ESCAPE;
        }
        put(column, isNull ? Fields.NULL : isEscaped ? Fields.BARE_TEXT : Fields.TEXT, from, at);
        return at;
    }

    private boolean isEscapable(byte[] record, int at, int end) {
        if (at >= end) {
            return false;
        }
        byte one = record[at];
        boolean isQuote = one == quote && quote != Format.Csv.NO_QUOTE;
        return isQuote || one == delimiter || one == escape || one == '\n' || one == '\r';
    }

    private boolean isNull(byte[] record, int from, int to) {
        for (byte[] each : nulls) {
            if (Arrays.equals(each, 0, each.length, record, from, to)) {
                return true;
            }
        }
        return false;
    }

    /// Whether a quote after these bytes is perhaps meant to open a value.
    private boolean isBlank(byte[] record, int from, int to) {
        int at = from;
        while (at < to && record[at] == ' ') {
            at++;
        }
        return at == to && quote != Format.Csv.NO_QUOTE;
    }

    private int quoted(byte[] record, int from, int end, int column) {
        boolean doubled = false;
        int at = from + 1;
        while (at < end) {
            if (escape != Format.Csv.NO_ESCAPE && record[at] == escape) {
                if (!isEscapable(record, at + 1, end)) {
                    return WRONG_ESCAPE;
                }
                doubled = true;
                at += 2;
            } else if (record[at] != quote) {
                at++;
            } else if (at + 1 < end && record[at + 1] == quote) {
                doubled = true;
                at += 2;
            } else {
                put(column, doubled ? Fields.DOUBLED_TEXT : Fields.TEXT, from + 1, at);
                at++;
                return at == end || record[at] == delimiter ? at : -1;
            }
        }
        return -1;
    }

    private void put(int column, byte kind, int from, int to) {
        if (column < slots.length && slots[column] >= 0) {
            LocalNumbers numbers = header.numbers;
            boolean isLocal = numbers != null && kind == Fields.TEXT && numbers.may(fields.bytes, from, to);
            fields.set(slots[column], isLocal ? Fields.LOCAL_TEXT : kind, from, to);
        }
    }

    /// Whether text begins with a byte order mark.
    static boolean hasMark(byte[] text, int from, int to) {
        return to - from >= MARK_BYTES
                && text[from] == (byte) 0xef
                && text[from + 1] == (byte) 0xbb
                && text[from + 2] == (byte) 0xbf;
    }
}
