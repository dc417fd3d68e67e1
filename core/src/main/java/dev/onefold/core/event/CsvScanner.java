package dev.onefold.core.event;

import dev.onefold.core.bytes.TextBytes;
import dev.onefold.core.pipeline.FieldPath;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Finds the fields that a pipeline reads in one CSV line (RFC 4180, without line breaks inside quotes). Not
/// thread-safe.
final class CsvScanner {
    /// Bytes of a byte order mark.
    static final int MARK_BYTES = 3;

    private final Fields fields;
    private final byte delimiter;
    private final int[] slots; // By column; -1 where the pipeline reads nothing.

    CsvScanner(Fields fields, char delimiter, List<String> columns) {
        this.fields = fields;
        this.delimiter = (byte) delimiter;
        slots = new int[columns.size()];
        for (int column = 0; column < columns.size(); column++) {
            slots[column] = fields.paths.indexOf(FieldPath.of(columns.get(column)));
        }
    }

    /// Fills the fields from the record at `[from, to)`; `null` when it is well-formed.
    @Nullable
    Malformed scan(byte[] record, int from, int to) {
        fields.clear(record);
        int end = to > from && record[to - 1] == '\r' ? to - 1 : to;
        if (from == end) {
            return Malformed.syntax(0, "The record is empty");
        }
        int utf8Ends = TextBytes.utf8Ends(record, from, end);
        if (utf8Ends < end) {
            return Malformed.syntax(utf8Ends - from, "The line is not valid UTF-8");
        }
        int column = 0;
        int at = from;
        while (true) {
            int next = at < end && record[at] == '"' ? quoted(record, at, end, column) : plain(record, at, end, column);
            if (next < 0) {
                return Malformed.syntax(
                        at - from, "A quote in the CSV line is not closed, or not at the end of its value,");
            }
            column++;
            if (next == end) {
                break;
            }
            at = next + 1;
        }
        return column == slots.length
                ? null
                : Malformed.syntax(
                        end - from, "The CSV line has " + column + " values, its header " + slots.length + " columns,");
    }

    private int plain(byte[] record, int from, int end, int column) {
        int at = from;
        while (at < end && record[at] != delimiter) {
            if (record[at] == '"') {
                return -1;
            }
            at++;
        }
        put(column, at == from ? Fields.NULL : Fields.TEXT, from, at);
        return at;
    }

    private int quoted(byte[] record, int from, int end, int column) {
        boolean doubled = false;
        int at = from + 1;
        while (at < end) {
            if (record[at] != '"') {
                at++;
            } else if (at + 1 < end && record[at + 1] == '"') {
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
            fields.set(slots[column], kind, from, to);
        }
    }

    /// The columns that a header line names, or `null` if it is not well-formed.
    static @Nullable List<String> header(byte[] line, int from, int to, char delimiter) {
        int begin = hasMark(line, from, to) ? from + MARK_BYTES : from; // Spreadsheets write a byte order mark.
        int end = to > begin && line[to - 1] == '\r' ? to - 1 : to;
        if (TextBytes.utf8Ends(line, begin, end) < end) {
            return null;
        }
        List<String> names = new ArrayList<>();
        int at = begin;
        while (true) {
            boolean quoted = at < end && line[at] == '"';
            int next = at + (quoted ? 1 : 0);
            while (next < end
                    && (quoted ? line[next] != '"' || isDoubled(line, next, end) : line[next] != (byte) delimiter)) {
                next += quoted && line[next] == '"' ? 2 : 1;
            }
            if (next > end || quoted && next == end) {
                return null;
            }
            String name = new String(line, at, next - at, StandardCharsets.UTF_8);
            names.add(quoted ? name.substring(1).replace("\"\"", "\"") : name);
            next += quoted ? 1 : 0;
            if (next == end) {
                return names;
            }
            if (line[next] != (byte) delimiter) {
                return null;
            }
            at = next + 1;
        }
    }

    /// Advice for a header that seems to have another delimiter; may be empty.
    static String otherDelimiter(List<String> columns) {
        String only = columns.size() == 1 ? columns.getFirst() : "";
        for (String delimiter : List.of(";", "\t", "|", ",")) {
            if (only.contains(delimiter)) {
                String written = delimiter.equals("\t") ? "\\t" : delimiter;
                return ". Is the delimiter another one? Write format: {type: csv, delimiter: \"" + written + "\"}";
            }
        }
        return "";
    }

    /// Whether text begins with a byte order mark.
    static boolean hasMark(byte[] text, int from, int to) {
        return to - from >= MARK_BYTES
                && text[from] == (byte) 0xef
                && text[from + 1] == (byte) 0xbb
                && text[from + 2] == (byte) 0xbf;
    }

    private static boolean isDoubled(byte[] line, int at, int end) {
        return at + 1 < end && line[at + 1] == '"';
    }
}
