package dev.onefold.oracle;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads one record of CSV, as RFC 4180 says; a quote inside a value without quotes is a character.
final class Csv {
    private static final String NOT_CLOSED = "a quote that is not closed";

    private Csv() {}

    /// Whether a line ends inside of quotes, so that its record goes on in the next one.
    static boolean isOpen(byte[] line, char delimiter) {
        try {
            header(line, delimiter);
            return false;
        } catch (Refused refused) {
            return refused.reason().equals(NOT_CLOSED);
        }
    }

    /// The values of a line; null where nothing stands, not even quotes.
    static List<@Nullable String> values(byte[] record, char delimiter) {
        return values(Json.utf8(record), delimiter);
    }

    /// The names of the columns. Spreadsheets write a byte order mark before them.
    static List<@Nullable String> header(byte[] record, char delimiter) {
        String line = Json.utf8(record);
        return values(line.startsWith("\uFEFF") ? line.substring(1) : line, delimiter);
    }

    /// Whether a record has the names of the columns as its values.
    static boolean isHeader(List<@Nullable String> header, byte[] record, char delimiter) {
        try {
            return names(header).equals(names(header(record, delimiter)));
        } catch (Refused refused) {
            return false;
        }
    }

    /// Whether a record is another header: one of its first two values has a letter and names a column, and so do at
    /// least two, and half, of its values, in upper or lower case.
    static boolean isOtherHeader(List<@Nullable String> header, byte[] record, char delimiter) {
        List<String> values;
        try {
            values = names(header(record, delimiter));
        } catch (Refused refused) {
            return false;
        }
        Set<String> known = new HashSet<>();
        names(header).forEach(name -> known.add(name.toLowerCase(Locale.ROOT)));
        known.remove("");
        List<String> lower =
                values.stream().map(value -> value.toLowerCase(Locale.ROOT)).toList();
        known.retainAll(lower);
        return lower.stream()
                        .limit(2)
                        .anyMatch(value ->
                                known.contains(value) && value.codePoints().anyMatch(Character::isLetter))
                && known.size() >= Math.max(2, values.size() / 2.0)
                && !values.equals(names(header));
    }

    private static List<String> names(List<@Nullable String> values) {
        List<String> names = new ArrayList<>();
        values.forEach(value -> names.add(value == null ? "" : value));
        return names;
    }

    private static List<@Nullable String> values(String text, char delimiter) {
        String line = text;
        if (line.endsWith("\r")) {
            line = line.substring(0, line.length() - 1);
        }
        if (line.isEmpty()) {
            throw new Refused("an empty line");
        }
        List<@Nullable String> values = new ArrayList<>();
        int start = 0;
        while (true) {
            int end = start < line.length() && line.charAt(start) == '"'
                    ? quoted(line, start, values)
                    : unquoted(line, start, delimiter, values);
            if (end == line.length()) {
                return values;
            }
            if (line.charAt(end) != delimiter) {
                throw new Refused("something behind a closing quote");
            }
            start = end + 1;
        }
    }

    static Document read(List<@Nullable String> columns, byte[] record, char delimiter) {
        List<@Nullable String> values = values(record, delimiter);
        if (values.size() != columns.size()) {
            throw new Refused(values.size() + " values for " + columns.size() + " columns");
        }
        Map<String, @Nullable Object> fields = new HashMap<>();
        Set<String> twice = new HashSet<>();
        for (int index = 0; index < values.size(); index++) {
            String column = columns.get(index);
            String name = column == null ? "" : column;
            if (fields.containsKey(name)) {
                twice.add(name);
            }
            fields.put(name, values.get(index));
        }
        return new Document(fields, twice);
    }

    private static int unquoted(String line, int start, char delimiter, List<@Nullable String> values) {
        int end = line.indexOf(delimiter, start);
        String value = line.substring(start, end < 0 ? line.length() : end);
        if (value.replaceFirst("^ +", "").startsWith("\"")) {
            throw new Refused("spaces in front of a quote");
        }
        values.add(value.isEmpty() ? null : value);
        return start + value.length();
    }

    private static int quoted(String line, int start, List<@Nullable String> values) {
        StringBuilder value = new StringBuilder();
        for (int index = start + 1; index < line.length(); index++) {
            char c = line.charAt(index);
            if (c != '"') {
                value.append(c);
            } else if (index + 1 < line.length() && line.charAt(index + 1) == '"') {
                value.append('"');
                index++;
            } else {
                values.add(value.toString());
                return index + 1;
            }
        }
        throw new Refused(NOT_CLOSED);
    }
}
