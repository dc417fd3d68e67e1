package dev.onefold.core.event;

import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Input.Records;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Finds the ends of records in lines: each record ends at a line end. In CSV, from edition 3 on, a line end
/// inside of quotes is a part of its value (RFC 4180). A quote opens a value only at the beginning of the
/// value; elsewhere in it, it is a character. An escape makes the byte behind it a character. Lines that are
/// comments belong to the record behind them. Thread-safe.
public final class RecordEnds {
    /// The bytes end in front of the record's end, and outside of quotes.
    public static final int UNENDED = -1;

    /// A quote is open at the end of the bytes, or they end with an escape and perhaps a line end behind it.
    public static final int OPEN = -2;

    /// Text follows a closing quote.
    public static final int BROKEN = -3;

    /// A quote has no end within the limits.
    public static final int ENDLESS = -4;

    /// The record is another header, so the records behind it have other columns.
    public static final int OTHER_HEADER = -5;

    /// Of a fault alone: CR alone is behind a closing quote.
    private static final int RETURN = -6;

    /// Of a fault alone: the record ends with an escape.
    private static final int GOES_ON = -8;

    /// Of a fault alone: a backslash is in front of the closing quote.
    private static final int ESCAPED = -7;

    /// Each line is a record.
    public static final RecordEnds LINES = new RecordEnds(Dialect.NONE, Records.LINES, null);

    /// Of one value that has a line break in quotes.
    public static final int QUOTED_BYTES_MAX = 1 << 20;

    public static final int QUOTED_LINES_MAX = 10_000;

    private final byte delimiter;
    private final byte quote; // 0: a line end always ends a record.

    private final byte comment; // 0: there are none.
    private final byte escape; // Likewise.
    private final byte first; // The quote, or the escape if there is no quote.
    private final byte second; // The escape, or the quote if there is no escape.
    private final Dialect dialect;
    private final Records ofFiles;
    private final @Nullable Columns columns;

    private RecordEnds(Dialect dialect, Records ofFiles, @Nullable Columns columns) {
        this.dialect = dialect;
        delimiter = dialect.delimiter;
        quote = dialect.quote;
        comment = dialect.comment;
        escape = dialect.escape;
        first = quote == 0 ? escape : quote;
        second = escape == 0 ? quote : escape;
        this.ofFiles = ofFiles;
        this.columns = columns;
    }

    /// The characters that are not of a value; 0 where there is none, of all of them in JSON.
    private record Dialect(byte delimiter, byte quote, byte comment, byte escape) {
        static final Dialect NONE = new Dialect((byte) 0, (byte) 0, (byte) 0, (byte) 0);

        /// Of records that are read as each edition reads them.
        static Dialect of(Format.Csv csv, boolean hasLines) {
            byte quote = (byte) (hasLines ? csv.quote() : Format.Csv.NO_QUOTE);
            byte escape = (byte) csv.escape();
            byte comment = (byte) csv.comment();
            return quote == 0 && escape == 0 && comment == 0
                    ? NONE
                    : new Dialect((byte) csv.delimiter(), quote, comment, escape);
        }
    }

    /// @param header `null` if the first record is to be it
    private record Columns(Format.Csv format, @Nullable CsvHeader header) {}

    public static RecordEnds of(Pipeline pipeline) {
        if (pipeline.input().format() instanceof Format.Json json && json.records() != Records.LINES) {
            return new RecordEnds(Dialect.NONE, json.records(), null);
        }
        if (!(pipeline.input().format() instanceof Format.Csv csv)) {
            return LINES;
        }
        Dialect dialect = Dialect.of(csv, pipeline.input().readsBy(3));
        return dialect.equals(Dialect.NONE) ? LINES : new RecordEnds(dialect, Records.LINES, null);
    }

    /// The ends in a file or stream, which also stops at a record that is [another header][#OTHER_HEADER].
    public static RecordEnds ofSource(Pipeline pipeline) {
        RecordEnds ends = of(pipeline);
        return pipeline.input().format() instanceof Format.Csv csv
                        && pipeline.input().readsBy(3)
                        && !csv.isHeaderOnce()
                ? ends.with(new Columns(csv, csv.columns().isEmpty() ? null : new CsvHeader(csv, csv.columns())))
                : ends;
    }

    private RecordEnds with(@Nullable Columns other) {
        return new RecordEnds(dialect, ofFiles, other);
    }

    /// Whether [#behind] is to be given the first record of the source.
    public boolean awaitsHeader() {
        return columns != null && columns.header == null;
    }

    /// Whether records that are other headers are seen.
    public boolean seesHeaders() {
        return columns != null;
    }

    /// The ends behind the header of a source, or these if the header has no bytes.
    public RecordEnds behind(byte[] header, int length) {
        Columns known = columns;
        if (known == null || known.header != null || length == 0) {
            return this;
        }
        int end = length > 0 && header[length - 1] == '\n' ? length - 1 : length;
        CsvHeader read = CsvHeader.read(known.format, header, 0, end);
        return with(read == null ? null : new Columns(known.format, read));
    }

    /// How files hold records that are lines everywhere else.
    public Records ofFiles() {
        return ofFiles;
    }

    /// Whether these and others find the same records in all bytes.
    public boolean areAs(RecordEnds others) {
        return quote == others.quote
                && comment == others.comment
                && escape == others.escape
                && (delimiter == others.delimiter || first == 0)
                && ofFiles == others.ofFiles;
    }

    /// Behind the comments in front of a record; `from` if there are none, or nothing else.
    public int behindComments(byte[] bytes, int from, int to) {
        int behind = behindAllComments(bytes, from, to);
        return behind < to ? behind : from;
    }

    /// The same, and `to` if there is nothing else.
    public int behindAllComments(byte[] bytes, int from, int to) {
        return comment == 0 ? from : CsvHeader.behindComments(comment, bytes, from, to);
    }

    /// Whether a record may have more than one line.
    public boolean mayHaveLines() {
        return first != 0 || comment != 0;
    }

    /// Behind the line end of the record that begins at `from`; below 0 if there is none before `to`.
    public int end(byte[] bytes, int from, int to) {
        int end = endOf(bytes, from, to);
        return end > 0 && isOtherHeader(bytes, from, end - 1) ? OTHER_HEADER : end;
    }

    private boolean isOtherHeader(byte[] bytes, int from, int to) {
        return columns != null && columns.header != null && columns.header.isOtherAt(bytes, begin(bytes, from, to), to);
    }

    /// The same of a record that ends with the bytes if it has no line end.
    public int endOfLast(byte[] bytes, int from, int to) {
        int end = end(bytes, from, to);
        return end == UNENDED && isOtherHeader(bytes, from, to) ? OTHER_HEADER : end;
    }

    private int endOf(byte[] bytes, int from, int to) {
        int plain = plainEnd(bytes, from, to);
        if (plain >= 0) {
            return plain > from && bytes[plain - 1] == '\n' ? plain : UNENDED;
        }
        int at = begin(bytes, from, to);
        while (true) {
            at = value(bytes, at, to);
            if (at < 0) {
                return at;
            }
            if (bytes[at++] == '\n') {
                return at;
            }
        }
    }

    /// Behind the line end of a record without quotes, or `to`; below 0 if it has a quote, an escape or
    /// comments.
    public int plainEnd(byte[] bytes, int from, int to) {
        int at = from;
        if (comment != 0 && begin(bytes, from, to) > from) {
            return -1;
        }
        if (first == 0) {
            at = newline(bytes, from, to);
        } else {
            while (at < to && bytes[at] != '\n' && bytes[at] != first && bytes[at] != second) {
                at++;
            }
        }
        return at == to ? to : bytes[at] == '\n' ? at + 1 : -1;
    }

    /// Behind the record, in bytes that are as whole as they will be: a last one without a line end ends where
    /// the bytes do, and one of which nobody can say where it ends at the line end that comes next.
    public int endAnyhow(byte[] bytes, int from, int to) {
        int end = end(bytes, from, to);
        return end >= 0 ? end : end == BROKEN ? Math.min(newline(bytes, brokenAt(bytes, from, to), to) + 1, to) : to;
    }

    /// Behind the last record that ends before `to`; `from` if none does.
    public int lastEnd(byte[] bytes, int from, int to) {
        if (!mayHaveLines() && columns == null) {
            int end = to;
            while (end > from && bytes[end - 1] != '\n') {
                end--;
            }
            return end;
        }
        int at = from;
        for (int end = end(bytes, at, to); end >= 0; end = end(bytes, at, to)) {
            at = end;
        }
        return at;
    }

    /// The number of lines; a last one may have no end.
    public static long lines(byte[] bytes, int from, int to) {
        long lines = to > from && bytes[to - 1] != '\n' ? 1 : 0;
        for (int at = from; at < to; at++) {
            lines += bytes[at] == '\n' ? 1 : 0;
        }
        return lines;
    }

    /// Whether all records at `[from, to)` have their ends, of quotes, too; the last one may have no line end.
    public boolean areWhole(byte[] bytes, int from, int to) {
        int last = lastEnd(bytes, from, to);
        return last == to || endOfLast(bytes, last, to) == UNENDED;
    }

    /// The place at which the state of quotes is not known, in records that are not whole, or in one that is
    /// too long.
    public Fault fault(byte[] bytes, int from, int to) {
        int record = lastEnd(bytes, from, to) == to ? from : lastEnd(bytes, from, to);
        int state = endOfLast(bytes, record, to);
        int at = switch (state) {
            case BROKEN -> brokenAt(bytes, record, to);
            case OPEN, ENDLESS -> lastValue(bytes, record, to);
            default -> record;
        };
        if (state == OTHER_HEADER) {
            return new Fault(1 + newlines(bytes, from, record), 0, state, headers(bytes, record, to));
        }
        if (state == OPEN && bytes[at] != quote) {
            state = GOES_ON;
        }
        if (state == BROKEN) {
            boolean isEscaped = at - 2 > record && bytes[at - 2] == '\\' && escape == 0;
            state = bytes[at] == '\r' ? RETURN : isEscaped ? ESCAPED : state;
        }
        return new Fault(
                1 + newlines(bytes, from, record),
                1 + newlines(bytes, from, at),
                state,
                Malformed.excerpt(bytes, at, to));
    }

    private String headers(byte[] bytes, int from, int to) {
        CsvHeader header = columns == null ? null : columns.header;
        if (header == null) {
            return "";
        }
        int begin = begin(bytes, from, to);
        int behind = endOf(bytes, from, to);
        int end = CsvHeader.end(bytes, begin, behind > 0 ? behind - 1 : to);
        byte[] known = String.join(String.valueOf((char) header.delimiter), header.columns)
                .getBytes(StandardCharsets.UTF_8);
        return Malformed.excerpt(bytes, begin, end) + ". The columns are " + Malformed.excerpt(known, 0, known.length)
                + ". " + CsvHeader.difference(header.columns, header.values(bytes, begin, end));
    }

    /// Whether there is a quote or an escape.
    public boolean hasQuote(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to && bytes[at] != first && bytes[at] != second) {
            at++;
        }
        return first != 0 && at < to;
    }

    /// A place where the state of quotes, or the columns of the records behind it, are not known.
    ///
    /// @param record number of the line in which its record begins, from 1
    /// @param line the line of the quote that is open, or of the text behind a closing quote
    /// @param state [#OPEN], [#ENDLESS], [#BROKEN] or [#OTHER_HEADER]; another one if the record is too long
    /// @param excerpt the bytes there, and what is to be said of them
    public record Fault(long record, long line, int state, String excerpt) {
        /// For a message, with the way out.
        ///
        /// @param linesBefore lines in front of those that were looked at
        public String message(long linesBefore) {
            String message = "the record that begins in line " + (linesBefore + record)
                    + switch (state) {
                        case OPEN, ENDLESS ->
                            " has a quote, opened in line " + (linesBefore + line)
                                    + ", that has no end, or none within " + QUOTED_BYTES_MAX + " bytes and "
                                    + QUOTED_LINES_MAX + " lines: ";
                        case GOES_ON -> " ends with an escape: ";
                        case BROKEN, ESCAPED ->
                            " has text behind a closing quote in line " + (linesBefore + line) + ": ";
                        case OTHER_HEADER -> " is another header: ";
                        case RETURN -> " has a line end that is CR alone: ";
                        default -> " has quotes or escapes and more than " + Limits.RECORD_BYTES_MAX + " bytes: ";
                    }
                    + excerpt + ". ";
            return message
                    + switch (state) {
                        case OTHER_HEADER ->
                            "Put it and the records behind it into a file of their own. " + CsvHeader.ONCE;
                        case RETURN -> CsvHeader.LINE_ENDS;
                        case GOES_ON -> "The rest of the record is missing. Write it, or delete the record";
                        case ESCAPED ->
                            "Where the record ends is not known. If a backslash makes the quote behind it a character,"
                                    + " write under input escape: '\\'";
                        default ->
                            "Where the record ends is not known. Inside of quotes, write each quote twice. If quotes are"
                                    + " ordinary characters here, write 'quote: none' under input";
                    };
        }
    }

    private static long newlines(byte[] bytes, int from, int to) {
        long lines = 0;
        for (int at = from; at < to; at++) {
            lines += bytes[at] == '\n' ? 1 : 0;
        }
        return lines;
    }

    /// A byte order mark and comments in front of a record are not a part of its first value.
    private int begin(byte[] bytes, int from, int to) {
        int at = CsvScanner.hasMark(bytes, from, to) ? from + CsvScanner.MARK_BYTES : from;
        return Math.max(at, CsvHeader.behindComments(comment, bytes, from, to));
    }

    /// The delimiter or line end behind the value at `at`; below 0 if there is none.
    private int value(byte[] bytes, int from, int to) {
        int at = from;
        if (at == to || quote == 0 || bytes[at] != quote) {
            boolean isOpen = false;
            while (at < to && bytes[at] != delimiter && bytes[at] != '\n') {
                isOpen = escape != 0 && bytes[at] == escape;
                at++;
                if (isOpen && at < to) {
                    isOpen = bytes[at] == '\n' || bytes[at] == '\r';
                    at += bytes[at] == '\r' && at + 1 < to && bytes[at + 1] == '\n' ? 2 : 1;
                }
            }
            return at < to ? at : isOpen ? OPEN : UNENDED;
        }
        at = closing(bytes, from, to);
        if (at < 0 || at == to) {
            return at < 0 ? at : UNENDED;
        }
        if (bytes[at] == '\r') {
            at++;
            return at == to ? UNENDED : bytes[at] == '\n' ? at : BROKEN;
        }
        return bytes[at] == delimiter || bytes[at] == '\n' ? at : BROKEN;
    }

    /// Behind the quote that closes a value.
    private int closing(byte[] bytes, int from, int to) {
        int lines = 0;
        for (int at = from + 1; at < to; at++) {
            if (bytes[at] == '\n') {
                lines++;
            } else if (escape != 0 && bytes[at] == escape) {
                at++;
                lines += at < to && bytes[at] == '\n' ? 1 : 0;
            } else if (bytes[at] == quote) {
                if (at + 1 == to || bytes[at + 1] != quote) {
                    return at + 1;
                }
                at++;
            }
            boolean isLong = lines > QUOTED_LINES_MAX || at - from > QUOTED_BYTES_MAX;
            if (isLong && lines > 0) {
                return ENDLESS;
            }
        }
        return OPEN;
    }

    private int lastValue(byte[] bytes, int from, int to) {
        int at = begin(bytes, from, to);
        for (int next = value(bytes, at, to); next >= 0; next = value(bytes, at, to)) {
            at = next + 1;
        }
        return at;
    }

    private int brokenAt(byte[] bytes, int from, int to) {
        return closing(bytes, lastValue(bytes, from, to), to);
    }

    private static int newline(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to && bytes[at] != '\n') {
            at++;
        }
        return at;
    }
}
