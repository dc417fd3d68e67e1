package dev.onefold.core.json;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problem;
import dev.onefold.core.document.Problems;
import dev.onefold.core.document.TextPlace;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads strict JSON (RFC 8259) as nodes with places. Numbers, `true`, `false` and `null` become unquoted scalars
/// of their text.
public final class JsonText {
    /// Greatest depth of lists and objects inside each other.
    public static final int NESTING_MAX = 64;

    private static final Pattern WORD =
            Pattern.compile("true|false|null|-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");
    private static final int WORD_LENGTH_MAX = 200;

    private final String text;
    private int offset;
    private int line = 1;
    private int depth;
    // The offset up to which the columns of the line are counted: a document may be one long line.
    private int countedTo;
    private int column = 1;

    private JsonText(String text) {
        this.text = text;
    }

    /// The document of a text; `null` if the text is not JSON, and then the problem is noted.
    public static @Nullable Node read(String text, Problems problems) {
        JsonText json = new JsonText(text);
        return Refusal.read(problems, () -> {
            Node node = json.value();
            json.skipSpace();
            if (json.offset < text.length()) {
                throw json.broken("is too much", "one JSON value is the whole document");
            }
            return node;
        });
    }

    private Node value() {
        skipSpace();
        if (offset == text.length()) {
            throw broken("", "write a JSON value");
        }
        return switch (text.charAt(offset)) {
            case '{' -> nested(this::object);
            case '[' -> nested(this::array);
            case '"' -> string();
            default -> word();
        };
    }

    private Node nested(Supplier<Node> parser) {
        if (depth == NESTING_MAX) {
            throw broken("is nested too deep", "at most " + NESTING_MAX + " levels are possible");
        }
        depth++;
        Node node = parser.get();
        depth--;
        return node;
    }

    private Node object() {
        TextPlace place = here();
        List<Node.Entry> entries = new ArrayList<>();
        offset++;
        if (!take('}')) {
            do {
                skipSpace();
                if (offset == text.length() || text.charAt(offset) != '"') {
                    throw broken("is unexpected, expected a name", "write a name in double quotes");
                }
                Node.Scalar name = string();
                expect(':');
                entries.add(new Node.Entry(name, value()));
            } while (take(','));
            expect('}');
        }
        return new Node.Mapping(entries, place);
    }

    private Node array() {
        TextPlace place = here();
        List<Node> items = new ArrayList<>();
        offset++;
        if (!take(']')) {
            do {
                items.add(value());
            } while (take(','));
            expect(']');
        }
        return new Node.Sequence(items, place);
    }

    private Node word() {
        TextPlace place = here();
        int start = offset;
        while (offset < text.length() && " \t\r\n,:[]{}\"".indexOf(text.charAt(offset)) < 0) {
            offset++;
        }
        String word = text.substring(start, offset);
        if (word.length() > WORD_LENGTH_MAX || !WORD.matcher(word).matches()) {
            offset = start;
            throw broken("is not a JSON value", "write a string, number, object, array, true, false or null");
        }
        return new Node.Scalar(word, false, place, List.of());
    }

    private Node.Scalar string() {
        TextPlace place = here();
        offset++;
        List<Node.Run> runs = new ArrayList<>();
        runs.add(new Node.Run(0, here()));
        StringBuilder content = new StringBuilder();
        while (true) {
            if (offset == text.length()) {
                throw broken("", "end the string with \"");
            }
            char c = text.charAt(offset);
            if (c == '"') {
                offset++;
                return new Node.Scalar(content.toString(), true, place, runs);
            } else if (c == '\\') {
                content.append(escaped());
                runs.add(new Node.Run(content.length(), here()));
            } else if (c < ' ') {
                throw broken("is not allowed in a string", String.format("write \\u%04x", (int) c));
            } else {
                content.append(c);
                offset++;
            }
        }
    }

    private char escaped() {
        char c = offset + 1 < text.length() ? text.charAt(offset + 1) : ' ';
        int found = "\"\\/bfnrt".indexOf(c);
        if (found >= 0) {
            offset += 2;
            return "\"\\/\b\f\n\r\t".charAt(found);
        }
        int codeUnit = 0;
        for (int i = offset + 2; i < offset + 6; i++) {
            int digit = i < text.length() && text.charAt(i) < 128 ? Character.digit(text.charAt(i), 16) : -1;
            if (c != 'u' || digit < 0) {
                throw broken(
                        "is not a JSON escape",
                        "write \\\", \\\\, \\/, \\b, \\f, \\n, \\r, \\t or \\u and four hex digits");
            }
            codeUnit = codeUnit * 16 + digit;
        }
        offset += 6;
        return (char) codeUnit;
    }

    private boolean take(char wanted) {
        skipSpace();
        if (offset < text.length() && text.charAt(offset) == wanted) {
            offset++;
            return true;
        }
        return false;
    }

    private void expect(char wanted) {
        if (!take(wanted)) {
            throw broken("is unexpected, expected '" + wanted + "'", "write " + wanted);
        }
    }

    private void skipSpace() {
        while (offset < text.length() && " \t\r\n".indexOf(text.charAt(offset)) >= 0) {
            char c = text.charAt(offset++);
            if (c == '\n' || c == '\r' && !(offset < text.length() && text.charAt(offset) == '\n')) {
                line++;
                column = 1;
                countedTo = offset;
            }
        }
    }

    private TextPlace here() {
        column += text.codePointCount(countedTo, offset);
        countedTo = offset;
        return new TextPlace(line, column);
    }

    private Refusal broken(String wrong, String right) {
        if (offset == text.length()) {
            return new Refusal(new Problem(here(), "", "", "The document ends too early", right));
        }
        String value =
                text.substring(offset, Math.min(text.length(), offset + 20)).split("[\\s,]", 2)[0];
        return new Refusal(
                new Problem(here(), "", value.isEmpty() ? text.substring(offset, offset + 1) : value, wrong, right));
    }
}
