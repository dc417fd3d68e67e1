package dev.onefold.core.event;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A second reader of JSON, written for the tests from RFC 8259 alone: slow, on characters, building everything.
///
/// An object is a list of names and values, in their order; a string is a `String`, anything else its own text.
final class JsonCheck {
    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");
    private static final Pattern UNIT = Pattern.compile("u([0-9a-fA-F]{4})");
    private static final int NESTING_MAX = 64;

    /// One field of an object.
    record Field(String name, Object value) {}

    /// A number, `true`, `false` or `null`.
    record Literal(String text) {}

    /// An array; nothing in it is ever asked for.
    record Items(int count) {}

    private static final class NotJson extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private final String text;
    private int at;

    private JsonCheck(String text) {
        this.text = text;
    }

    /// The fields of the object that these bytes are; `null` if they are none.
    static @Nullable List<Field> read(byte[] bytes) {
        try {
            JsonCheck check = new JsonCheck(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
            check.space();
            List<Field> fields = check.object(1);
            check.space();
            return check.at == check.text.length() ? fields : null;
        } catch (CharacterCodingException | NotJson e) {
            return null;
        }
    }

    /// The values at each of these paths; `null` if a field on the way to one is there twice.
    static @Nullable Map<List<String>, Object> values(List<Field> fields, List<List<String>> paths) {
        Map<List<String>, Object> values = new LinkedHashMap<>();
        for (List<String> path : paths) {
            Object value = fields;
            for (String name : path) {
                Object found = null;
                if (value instanceof List<?> object) {
                    for (Object field : object) {
                        if (((Field) field).name.equals(name)) {
                            if (found != null) {
                                return null;
                            }
                            found = ((Field) field).value;
                        }
                    }
                }
                value = found;
                if (value == null) {
                    break;
                }
            }
            values.put(path, value == null ? new Literal("null") : value);
        }
        return values;
    }

    private boolean next(char c) {
        if (at < text.length() && text.charAt(at) == c) {
            at++;
            return true;
        }
        return false;
    }

    private void expect(char c) {
        if (!next(c)) {
            throw new NotJson();
        }
    }

    private void space() {
        while (next(' ') || next('\t') || next('\n') || next('\r')) {
            // All is done by asking.
        }
    }

    private Object value(int depth) {
        if (at == text.length()) {
            throw new NotJson();
        }
        return switch (text.charAt(at)) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            default -> literal();
        };
    }

    private List<Field> object(int depth) {
        expect('{');
        List<Field> fields = new ArrayList<>();
        if (depth > NESTING_MAX) {
            throw new NotJson();
        }
        space();
        while (!next('}')) {
            if (!fields.isEmpty()) {
                expect(',');
                space();
            }
            String name = string();
            space();
            expect(':');
            space();
            fields.add(new Field(name, value(depth + 1)));
            space();
        }
        return fields;
    }

    private Items array(int depth) {
        expect('[');
        if (depth > NESTING_MAX) {
            throw new NotJson();
        }
        int count = 0;
        space();
        while (!next(']')) {
            if (count > 0) {
                expect(',');
                space();
            }
            value(depth + 1);
            space();
            count++;
        }
        return new Items(count);
    }

    private Literal literal() {
        for (String word : List.of("true", "false", "null")) {
            if (text.startsWith(word, at)) {
                at += word.length();
                return new Literal(word);
            }
        }
        Matcher number = NUMBER.matcher(text).region(at, text.length());
        if (!number.lookingAt()) {
            throw new NotJson();
        }
        at = number.end();
        return new Literal(number.group());
    }

    private String string() {
        expect('"');
        StringBuilder said = new StringBuilder();
        while (!next('"')) {
            if (at == text.length() || text.charAt(at) < 0x20) {
                throw new NotJson();
            }
            if (!next('\\')) {
                said.append(text.charAt(at++));
                continue;
            }
            Matcher unit = UNIT.matcher(text).region(at, text.length());
            if (unit.lookingAt()) {
                at = unit.end();
                said.append((char) Integer.parseInt(unit.group(1), 16));
            } else {
                int kind = at < text.length() ? "\"\\/bfnrt".indexOf(text.charAt(at++)) : -1;
                if (kind < 0) {
                    throw new NotJson();
                }
                said.append("\"\\/\b\f\n\r\t".charAt(kind));
            }
        }
        if (!StandardCharsets.UTF_16.newEncoder().canEncode(said)) {
            throw new NotJson(); // A lone surrogate is not a text.
        }
        return said.toString();
    }
}
