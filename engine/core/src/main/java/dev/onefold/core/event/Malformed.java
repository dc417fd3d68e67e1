package dev.onefold.core.event;

import dev.onefold.core.pipeline.FieldPath;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// A record that cannot become an event: the reason, in words that name the field, the value and a right one.
public record Malformed(Reason reason, String message) {
    /// Longest excerpt of a value in a message; a payload never goes into a log whole.
    private static final int EXCERPT_BYTES_MAX = 40;
    private static final String UNREAD = "{\"@unread\":\"";

    /// A record that its reader could not decode, for [#of] to refuse with the reader's reason. It is no JSON.
    ///
    /// @param parts of the record, as an object of JSON
    public static byte[] unread(String reason, String parts) {
        String said = reason.replaceAll("[\\p{Cntrl}\"\\\\]", " ");
        return (UNREAD + said + "\"!" + parts + "}").getBytes(StandardCharsets.UTF_8);
    }

    /// The reason of a record that is refused: that of its reader, if it could not decode the record.
    Malformed of(byte[] record, int from, int to) {
        byte[] begin = UNREAD.getBytes(StandardCharsets.US_ASCII);
        int said = from + begin.length;
        int end = said;
        if (to < said || !Arrays.equals(record, from, said, begin, 0, begin.length)) {
            return this;
        }
        while (end < to && record[end] != '"') {
            end++;
        }
        return new Malformed(reason, new String(record, said, end - said, StandardCharsets.UTF_8));
    }

    static Malformed syntax(int position, String message) {
        return new Malformed(Reason.MALFORMED, message + " at byte " + position + " of the record");
    }

    static Malformed field(Object field, String message) {
        return new Malformed(Reason.REFUSED, "Field " + field + " " + message);
    }

    /// Of a value that is no number.
    static Malformed number(Fields fields, int slot, String message) {
        return field(fields.paths.get(slot), message + ConnectSchemas.advice(fields, slot));
    }

    /// A value in quotes, cut at a character; bytes that are not UTF-8, and control characters, become
    /// U+FFFD.
    static String excerpt(byte[] bytes, int from, int to) {
        StringBuilder text = new StringBuilder("'");
        int at = from;
        while (at < to) {
            int next = bytes[at] >= 0 ? at + 1 : TextBytes.utf8End(bytes, at, to);
            boolean invalid = next < 0;
            next = invalid ? at + 1 : next;
            if (next - from > EXCERPT_BYTES_MAX) {
                return text.append("…'").toString();
            }
            String character = new String(bytes, at, next - at, StandardCharsets.UTF_8);
            text.append(invalid || Character.isISOControl(character.codePointAt(0)) ? "\uFFFD" : character);
            at = next;
        }
        return text.append('\'').toString();
    }

    /// A field with one more setting, as it may stand in a pipeline file.
    static String part(FieldPath field, String setting, String value) {
        return "{\"field\":" + quoted(field.toString()) + ",\"" + setting + "\":" + quoted(value) + "}";
    }

    /// A text in double quotes, as in YAML and JSON.
    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c == '"' || c == '\\' ? "\\" : "").append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
