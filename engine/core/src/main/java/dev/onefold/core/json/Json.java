package dev.onefold.core.json;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Writes JSON (RFC 8259). Numbers keep all their digits; a reader that parses them as binary fractions may lose some.
/// Equal values give equal text: each control character is written by its number, in four hex digits.
public final class Json {
    private Json() {}

    /// A value on one line: a map in its order, a list, a text, a number, a truth value or `null`.
    public static String of(@Nullable Object value) {
        StringBuilder json = new StringBuilder();
        append(json, value);
        return json.toString();
    }

    /// Appends a value.
    public static void append(StringBuilder json, @Nullable Object value) {
        switch (value) {
            case null -> json.append("null");
            case String text -> appendText(json, text);
            case BigDecimal number -> json.append(number.toPlainString());
            case Number number -> json.append(number);
            case Boolean truth -> json.append(truth);
            case List<?> list -> appendList(json, list);
            case Map<?, ?> map -> appendMap(json, map);
            default -> appendText(json, value.toString());
        }
    }

    private static void appendList(StringBuilder json, List<?> list) {
        String separator = "";
        json.append('[');
        for (Object item : list) {
            append(json.append(separator), item);
            separator = ",";
        }
        json.append(']');
    }

    private static void appendMap(StringBuilder json, Map<?, ?> map) {
        String separator = "";
        json.append('{');
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            appendText(json.append(separator), String.valueOf(entry.getKey()));
            append(json.append(':'), entry.getValue());
            separator = ",";
        }
        json.append('}');
    }

    private static void appendText(StringBuilder json, String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (Character.isISOControl(c) || Character.isSurrogate(c) && !isPaired(text, i)) {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }

    private static boolean isPaired(String text, int i) {
        return Character.isHighSurrogate(text.charAt(i))
                ? i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))
                : i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
    }
}
