package dev.onefold.core.event;

import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Input.Format;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The columns of CSV, as a header or the pipeline names them. Thread-safe.
public final class CsvHeader {
    /// Advice for a file in which CR alone ends a line.
    static final String LINE_ENDS = "Convert the file: tr '\\r' '\\n' < FILE > NEW";

    /// Advice for a record that is taken for a header.
    static final String ONCE = "If it is a record, write under input header: first";

    /// Advice for a file in another character set.
    static final String ICONV = "Convert the file: iconv -f %s -t UTF-8 FILE > NEW";

    /// Advice for a header that is refused.
    static final String NAMES = ". Name its columns in the pipeline file, or fix its first line";

    private static final int UTF_16_BEGIN = 4; // Perhaps with a byte order mark.
    private static final String SEPARATOR = "sep=";
    private static final int CASE = 0x20; // Of a letter of ASCII.
    private static final Pattern LONE_RETURN = Pattern.compile("\r(?!\n)");

    final List<String> columns;
    final Format.Csv format;
    final byte delimiter;
    final byte quote;
    final byte comment;
    final byte escape;
    final byte[][] nulls;
    final @Nullable LocalNumbers numbers;

    private final byte[][] names;
    private final int bytesMin;
    private final int bytesMax;
    private final boolean[] begins = new boolean[256]; // By the first byte of names with a letter.

    CsvHeader(Format.Csv format, List<String> columns) {
        this.columns = columns;
        this.format = format;
        delimiter = (byte) format.delimiter();
        quote = (byte) format.quote();
        comment = (byte) format.comment();
        escape = (byte) format.escape();
        nulls = utf8(format.nulls());
        numbers = LocalNumbers.of(format);
        names = utf8(columns);
        bytesMin = String.join(",", columns).getBytes(StandardCharsets.UTF_8).length;
        bytesMax = 2 * bytesMin + 2 * columns.size(); // All in quotes, and each of them doubled.
        for (int column = 0; column < names.length; column++) {
            if (isWord(columns.get(column))) {
                byte first = names[column][0];
                begins[first & 0xff] = true;
                begins[(isLetter(first) ? first ^ CASE : first) & 0xff] = true;
            }
        }
    }

    /// Why no source begins with this line, as the end of a sentence about it, with the way out; `null` if one
    /// may.
    ///
    /// @param isUtf8 whether its bytes are text
    public static @Nullable String refusal(String line, boolean isUtf8) {
        boolean isUtf16 =
                line.substring(0, Math.min(UTF_16_BEGIN, line.length())).indexOf('\0') >= 0;
        if (!isUtf8 || isUtf16) {
            return "is not valid UTF-8. " + ICONV.formatted(isUtf16 ? "UTF-16" : "WINDOWS-1252");
        }
        if (line.isBlank()) {
            return "is empty. Delete it: tail -n +2 FILE > NEW";
        }
        if (line.endsWith("\r")
                && line.indexOf('\r') == line.replaceAll("\r+$", "").length()) {
            return "has a line end of more than one CR. Convert the file: tr -d '\\r' < FILE > NEW";
        }
        if (LONE_RETURN.matcher(line).find()) {
            return "has line ends that are CR alone. " + LINE_ENDS;
        }
        return isSeparator(line) ? "is '" + line + "'. " + withoutSeparator(line) : null;
    }

    /// Whether a line tells Excel the delimiter.
    public static boolean isSeparator(String line) {
        return line.length() == SEPARATOR.length() + 1 && line.startsWith(SEPARATOR);
    }

    private static String withoutSeparator(String line) {
        String delimiter = line.endsWith("\t") ? "\\t" : line.substring(SEPARATOR.length());
        return "Excel's name of the delimiter is not read. Delete the first line, and write delimiter: \"" + delimiter
                + "\" under input";
    }

    /// Why a record is not one, because it is not of these columns; `null` if it may be one.
    @Nullable
    Malformed notRecord(byte[] record, int from, int to) {
        if (to - from == SEPARATOR.length() + 1 && record[from] == 's') {
            String line = new String(record, from, to - from, StandardCharsets.UTF_8);
            if (isSeparator(line)) {
                return new Malformed(Reason.MALFORMED, "The line is '" + line + "'. " + withoutSeparator(line));
            }
        }
        return !format.isHeaderOnce() && isOtherAt(record, from, to)
                ? new Malformed(
                        Reason.MALFORMED,
                        "The record is another header. " + difference(columns, values(record, from, to))
                                + ". Send it and the records behind it as a source of their own. " + ONCE)
                : null;
    }

    /// Whether a record is a header, and names other columns, in another order or in other letters: at least
    /// two and half of its values are names of columns, in upper or lower case, and one of its first two is,
    /// with a letter in it.
    boolean isOtherAt(byte[] record, int from, int to) {
        if (!mayBeNameAt(record, from, to)) {
            if (!mayBeNameAt(record, behindValue(record, from, to) + 1, to)) {
                return false;
            }
        }
        return isOther(columns, values(record, from, to));
    }

    private int behindValue(byte[] record, int from, int to) {
        int at = from;
        boolean hasQuotes = from < to && isOne(record[from], format.quote()); // Elsewhere a quote is a character.
        boolean isQuoted = false;
        while (at < to && (isQuoted || record[at] != delimiter)) {
            isQuoted ^= hasQuotes && isOne(record[at], format.quote());
            at += isOne(record[at], format.escape()) ? 2 : 1;
        }
        return at;
    }

    private boolean mayBeNameAt(byte[] record, int from, int to) {
        int at = from < to && record[from] == quote && quote != Format.Csv.NO_QUOTE ? from + 1 : from;
        return at < to && begins[record[at] & 0xff] && isNameAt(record, from, to);
    }

    /// The same of values, `null` if a record is not well-formed.
    public static boolean isOther(List<String> columns, @Nullable List<String> values) {
        if (values == null
                || values.stream()
                        .limit(2)
                        .noneMatch(value -> isWord(value) && columns.stream().anyMatch(value::equalsIgnoreCase))) {
            return false;
        }
        List<String> names = lower(columns);
        List<String> lower = lower(values);
        long known = lower.stream()
                .filter(value -> !value.isEmpty() && names.contains(value))
                .distinct()
                .count();
        return known >= 2 && 2 * known >= values.size() && !values.equals(columns);
    }

    private static List<String> lower(List<String> names) {
        return names.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
    }

    /// Whether two bytes are perhaps of one letter in both cases; of letters that are not of ASCII anything is.
    private static boolean isPerhapsSame(byte one, byte other) {
        return one < 0 && other < 0 || isLetter(one) && other == (byte) (one ^ CASE);
    }

    private static boolean isLetter(byte one) {
        int lower = one | CASE;
        return lower >= 'a' && lower <= 'z';
    }

    private static boolean isWord(String name) {
        return name.chars().anyMatch(Character::isLetter);
    }

    private boolean isNameAt(byte[] record, int from, int to) {
        for (byte[] name : names) {
            int at = name.length == 0 ? -1 : behind(name, record, from, to, true);
            if (at >= 0 && (at == to || record[at] == delimiter)) {
                return true;
            }
        }
        return false;
    }

    /// How other columns differ first.
    public static String difference(List<String> columns, @Nullable List<String> others) {
        List<String> values = others == null ? List.of() : others;
        int at = 0;
        while (at < columns.size() && at < values.size() && columns.get(at).equals(values.get(at))) {
            at++;
        }
        return "Column " + (at + 1) + " is " + name(values, at) + ", and was " + name(columns, at);
    }

    private static String name(List<String> columns, int number) {
        return number < columns.size() ? "'" + columns.get(number) + "'" : "not there";
    }

    private static byte[][] utf8(List<String> texts) {
        return texts.stream().map(text -> text.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
    }

    /// Behind the lines of comments, and a byte order mark, that a record begins with; `from` if it begins with
    /// none.
    static int behindComments(byte comment, byte[] record, int from, int to) {
        int at = comment == Format.Csv.NO_COMMENT ? to : begin(record, from, to);
        if (at == to || record[at] != comment) {
            return from;
        }
        while (at < to && record[at] == comment) {
            while (at < to && record[at] != '\n') {
                at++;
            }
            at = Math.min(at + 1, to);
        }
        return at;
    }

    /// The columns that a header names, or `null` if it is not well-formed.
    static @Nullable CsvHeader read(Format.Csv format, byte[] record, int from, int to) {
        int begin = behindComments((byte) format.comment(), record, from, to);
        List<String> columns = names(record, begin, to, format);
        return columns == null ? null : new CsvHeader(format, columns);
    }

    /// Requires that it has each field of a pipeline once; otherwise the reason.
    @Nullable
    Malformed requireColumns(List<FieldPath> paths) {
        for (FieldPath path : paths) {
            if (path.names().size() > 1 || !columns.contains(path.names().getFirst())) {
                return new Malformed(
                        Reason.MALFORMED,
                        "The header, the first line of the source, has no column " + path + " among its "
                                + columns.size() + (otherDelimiter().isEmpty() ? NAMES : otherDelimiter()));
            }
            if (columns.indexOf(path.names().getFirst())
                    != columns.lastIndexOf(path.names().getFirst())) {
                return new Malformed(Reason.MALFORMED, "The header names column " + path + " twice" + NAMES);
            }
        }
        return null;
    }

    /// Whether a record names the same columns.
    boolean isAt(byte[] record, int from, int to) {
        int length = to - from;
        if (length < bytesMin || length > bytesMax + CsvScanner.MARK_BYTES + 1) {
            return false;
        }
        int at = begin(record, from, to);
        int end = end(record, at, to);
        for (int column = 0; column < names.length; column++) {
            if (column > 0 && (at == end || record[at++] != delimiter)) {
                return false;
            }
            at = behind(names[column], record, at, end, false);
            if (at < 0) {
                return false;
            }
        }
        return at == end;
    }

    /// Behind the value at `from` if it is this name, perhaps in the other case; otherwise -1.
    private int behind(byte[] name, byte[] record, int from, int end, boolean inAnyCase) {
        boolean quoted = from < end && record[from] == quote && quote != Format.Csv.NO_QUOTE;
        int at = quoted ? from + 1 : from;
        for (byte one : name) {
            boolean isEscaped = escape != Format.Csv.NO_ESCAPE && at + 1 < end && record[at] == escape;
            at += isEscaped ? 1 : 0;
            boolean isSame = at < end && (record[at] == one || inAnyCase && isPerhapsSame(one, record[at]));
            if (!isSame || !quoted && !isEscaped && one == delimiter) {
                return -1;
            }
            at++;
            if (quoted && !isEscaped && one == quote && (at == end || record[at++] != quote)) {
                return -1;
            }
        }
        return !quoted ? at : at < end && record[at] == quote ? at + 1 : -1;
    }

    /// The values of a record; `null` if it is not well-formed.
    @Nullable
    List<String> values(byte[] record, int from, int to) {
        return names(record, from, to, format);
    }

    /// The end of a record without a carriage return.
    static int end(byte[] record, int from, int to) {
        return to > from && record[to - 1] == '\r' ? to - 1 : to;
    }

    /// Spreadsheets write a byte order mark in front of the names.
    private static int begin(byte[] record, int from, int to) {
        return CsvScanner.hasMark(record, from, to) ? from + CsvScanner.MARK_BYTES : from;
    }

    private static @Nullable List<String> names(byte[] line, int from, int to, Format.Csv format) {
        int at = begin(line, from, to);
        int end = end(line, at, to);
        if (TextBytes.utf8Ends(line, at, end) < end) {
            return null;
        }
        List<String> names = new ArrayList<>();
        byte[] name = new byte[end - at];
        while (true) {
            int length = 0;
            boolean quoted = at < end && isOne(line[at], format.quote());
            at += quoted ? 1 : 0;
            while (at < end && (quoted || line[at] != (byte) format.delimiter())) {
                boolean isQuote = quoted && isOne(line[at], format.quote());
                if (isQuote && (at + 1 == end || line[at + 1] != line[at])) {
                    break;
                }
                at += (isQuote || isOne(line[at], format.escape())) && at + 1 < end ? 1 : 0;
                name[length++] = line[at++];
            }
            if (quoted && at == end) {
                return null;
            }
            at += quoted ? 1 : 0;
            names.add(new String(name, 0, length, StandardCharsets.UTF_8));
            if (at == end) {
                return names;
            }
            if (line[at++] != (byte) format.delimiter()) {
                return null;
            }
        }
    }

    /// Whether a byte is a character of the dialect, which may have none.
    private static boolean isOne(byte one, char wanted) {
        return one == (byte) wanted && wanted != 0;
    }

    /// Advice for a header that seems to have another delimiter; may be empty.
    String otherDelimiter() {
        String only = columns.size() == 1 ? columns.getFirst() : "";
        for (String other : List.of(";", "\t", "|", ",")) {
            if (only.contains(other)) {
                String written = other.equals("\t") ? "\\t" : other;
                return ". Is the delimiter another one? Write delimiter: \"" + written + "\" under input";
            }
        }
        return "";
    }
}
