package dev.onefold.core.event;

import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Limits;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Finds the fields that a pipeline reads in one JSON object (RFC 8259, strict: full grammar, valid UTF-8,
/// bounded nesting), without building anything. The wanted names form a tree that is walked beside the
/// record; all other members are checked and passed over.
///
/// Strings are scanned eight bytes at a time: the classic test for a byte below a bound or equal to one (Mycroft's
/// "has zero byte", see Hacker's Delight, section 6-1) stops at quotes, backslashes, control characters and bytes
/// outside ASCII. So a record's array must have [#PADDING] readable bytes behind it.
///
/// Not thread-safe.
final class JsonScanner {
    /// Bytes behind the record that must exist in its array.
    static final int PADDING = 8;

    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final long QUOTES = ONES * '"';
    private static final long BACKSLASHES = ONES * '\\';
    private static final long SPACES = ONES * 0x20;

    /// A name in the tree of wanted fields.
    private static final class Node {
        final byte[] name;
        final List<Node> children = new ArrayList<>();
        Node[] childArray = new Node[0];
        int slot = -1;
        int guess; // Records name their fields in the same order, mostly: the next child to be seen.
        boolean seen;

        /// Whether its value is an attribute of DynamoDB, such as `{"N":"7.50"}`.
        boolean isAttribute;

        Node(byte[] name) {
            this.name = name;
        }
    }

    private static final int NO_ITEM = Integer.MAX_VALUE;
    private static final int ITEM_NESTING = 3;

    private final Fields fields;
    private final int nestingMax;
    private final Node root = new Node(new byte[0]);
    private byte[] bytes = new byte[0];
    private int at;
    private int end;
    private int start;
    private boolean escaped;
    private @Nullable Malformed malformed;

    JsonScanner(Fields fields) {
        this(fields, List.of());
    }

    /// @param items fields that hold items of DynamoDB: maps of attributes. A field inside of one is named without the
    ///     types: `NewImage.price` for `{"NewImage":{"price":{"N":"7.50"}}}`
    JsonScanner(Fields fields, List<FieldPath> items) {
        this.fields = fields;
        nestingMax = items.isEmpty() ? Limits.NESTING_MAX : ITEM_NESTING * Limits.NESTING_MAX;
        for (int slot = 0; slot < fields.paths.size(); slot++) {
            FieldPath path = fields.paths.get(slot);
            add(
                    path,
                    slot,
                    items.stream().mapToInt(item -> depth(item, path)).min().orElse(NO_ITEM));
        }
        freeze(root);
    }

    /// How many names of a path lead to an item that it is in; [#NO_ITEM] if it is not in this one.
    private static int depth(FieldPath item, FieldPath path) {
        int depth = item.names().size();
        return path.names().size() > depth && path.names().subList(0, depth).equals(item.names()) ? depth : NO_ITEM;
    }

    private void add(FieldPath path, int slot, int itemDepth) {
        Node node = root;
        int depth = 0;
        for (String name : path.names()) {
            byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
            Node next = null;
            for (Node child : node.children) {
                if (java.util.Arrays.equals(child.name, utf8)) {
                    next = child;
                }
            }
            if (next == null) {
                next = new Node(utf8);
                node.children.add(next);
            }
            next.isAttribute = depth++ >= itemDepth;
            node = next;
        }
        node.slot = slot;
    }

    private static void freeze(Node node) {
        node.childArray = node.children.toArray(new Node[0]);
        for (Node child : node.childArray) {
            freeze(child);
        }
    }

    /// Fills the fields from the record at `[from, to)`; `null` when it is well-formed.
    @Nullable
    Malformed scan(byte[] record, int from, int to) {
        fields.clear(record);
        bytes = record;
        start = from;
        at = from;
        end = to;
        malformed = null;
        skipSpace();
        if (at == end) {
            return Malformed.syntax(0, "The record is empty");
        }
        if (bytes[at] != '{') {
            String array = bytes[at] == '[' ? " ('jq -c .[]' makes lines of an array)" : "";
            return Malformed.syntax(
                    at - start,
                    "The record is not a JSON object: it begins with " + Malformed.excerpt(bytes, at, end) + array);
        }
        if (!object(root, 1)) {
            return malformed;
        }
        skipSpace();
        if (at == end) {
            return null;
        }
        String more = bytes[at] == '{' ? " ('jq -c .' makes lines of objects side by side)" : "";
        return Malformed.syntax(at - start, "Unexpected data after the JSON object" + more);
    }

    private boolean fail(String message) {
        if (malformed == null) {
            malformed = at >= end
                    ? Malformed.syntax(end - start, "The JSON object, which must be one line, is cut off")
                    : Malformed.syntax(at - start, message);
        }
        return false;
    }

    private void skipSpace() {
        while (at < end) {
            byte b = bytes[at];
            if (b != ' ' && b != '\t' && b != '\r' && b != '\n') {
                return;
            }
            at++;
        }
    }

    /// At `{`; leaves behind `}`. A node of `null` means that nothing in here is wanted.
    private boolean object(@Nullable Node node, int depth) {
        if (depth > nestingMax) {
            return fail("JSON is nested deeper than " + nestingMax);
        }
        if (node != null) {
            for (Node child : node.childArray) {
                child.seen = false;
            }
            node.guess = 0;
        }
        at++;
        skipSpace();
        if (at < end && bytes[at] == '}') {
            at++;
            return true;
        }
        while (true) {
            if (at >= end || bytes[at] != '"') {
                return fail("A field name in quotes is expected");
            }
            int nameFrom = at + 1;
            if (!string()) {
                return false;
            }
            Node child = node == null ? null : child(node, nameFrom, at - 1);
            if (!colon()) {
                return false;
            }
            if (!value(child, depth)) {
                return false;
            }
            skipSpace();
            if (at < end && bytes[at] == ',') {
                at++;
                skipSpace();
            } else if (at < end && bytes[at] == '}') {
                at++;
                return true;
            } else {
                return fail("A comma or a closing brace is expected");
            }
        }
    }

    private boolean colon() {
        if (at < end && bytes[at] != ':') {
            skipSpace();
        }
        if (at >= end || bytes[at] != ':') {
            return fail("A colon is expected");
        }
        at++;
        if (at < end && bytes[at] <= ' ') {
            skipSpace();
        }
        return true;
    }

    private @Nullable Node child(Node node, int from, int to) {
        byte[] name = bytes;
        int length = to - from;
        if (escaped) {
            byte[] unescaped = new byte[length];
            length = TextBytes.unescape(bytes, from, to, unescaped, 0);
            name = unescaped;
            from = 0;
        }
        Node[] children = node.childArray;
        for (int i = 0, candidate = node.guess; i < children.length; i++, candidate++) {
            if (candidate >= children.length) {
                candidate = 0;
            }
            Node child = children[candidate];
            if (child.name.length == length && sameName(child.name, name, from)) {
                node.guess = candidate + 1;
                return child;
            }
        }
        return null;
    }

    private static boolean sameName(byte[] wanted, byte[] name, int from) {
        for (int i = 0; i < wanted.length; i++) {
            if (wanted[i] != name[from + i]) {
                return false;
            }
        }
        return true;
    }

    private boolean value(@Nullable Node node, int depth) {
        if (at >= end) {
            return fail("");
        }
        if (node != null) {
            if (node.seen) {
                return fail("The field " + new String(node.name, StandardCharsets.UTF_8) + " stands twice");
            }
            node.seen = true;
        }
        if (node != null && node.isAttribute) {
            return attribute(node, depth);
        }
        return plain(node, depth);
    }

    private boolean plain(@Nullable Node node, int depth) {
        int slot = node == null ? -1 : node.slot;
        int from = at;
        byte first = bytes[at];
        if (first == '"') {
            if (!string()) {
                return false;
            }
            if (slot >= 0) {
                fields.set(slot, escaped ? Fields.ESCAPED_TEXT : Fields.TEXT, from + 1, at - 1);
            }
            return true;
        }
        boolean good = switch (first) {
            case '{' -> object(node, depth + 1);
            case '[' -> array(depth + 1);
            case 't' -> word("true");
            case 'f' -> word("false");
            case 'n' -> word("null");
            default -> number();
        };
        if (good && slot >= 0) {
            fields.set(slot, kind(first), from, at);
        }
        return good;
    }

    /// An object with one member, whose name is the type of the value.
    private boolean attribute(Node node, int depth) {
        if (bytes[at] != '{' || depth >= nestingMax) {
            return fail("An attribute of DynamoDB with its type is expected, such as {\"S\":\"text\"}");
        }
        at++;
        skipSpace();
        int from = at + 1;
        if (at >= end || bytes[at] != '"' || !string() || escaped) {
            return fail("The type of an attribute is expected");
        }
        String type = new String(bytes, from, Math.min(at - 1 - from, 4), StandardCharsets.US_ASCII);
        if (!colon()) {
            return false;
        }
        if (at >= end) {
            return cutOff();
        }
        boolean good = switch (type) {
            case "S", "B" -> bytes[at] == '"' ? plain(node, depth + 1) : fail("A text is expected");
            case "N" -> number(node);
            case "BOOL" ->
                bytes[at] == 't' || bytes[at] == 'f' ? plain(node, depth + 1) : fail("true or false is expected");
            case "NULL" -> word("true") && missing(node);
            case "M" -> bytes[at] == '{' ? plain(node, depth + 1) : fail("An object is expected");
            case "L", "SS", "NS", "BS" -> bytes[at] == '[' ? plain(node, depth + 1) : fail("An array is expected");
            default -> fail("There is no attribute type " + type);
        };
        skipSpace();
        if (good && (at >= end || bytes[at] != '}')) {
            return fail("An attribute has one type and one value; a closing brace is expected");
        }
        at++;
        return good;
    }

    private boolean missing(Node node) {
        if (node.slot >= 0) {
            fields.set(node.slot, Fields.NULL, at, at);
        }
        return true;
    }

    /// A number that is written as text.
    private boolean number(Node node) {
        int from = at + 1;
        if (bytes[at] != '"' || !string()) {
            return fail("A number in quotes is expected");
        }
        int behind = at;
        at = from;
        if (!number() || at != behind - 1) {
            at = from;
            malformed = null; // The message of number() is wrong, because it does not know the quotes.
            return fail("A number is expected in the quotes");
        }
        if (node.slot >= 0) {
            fields.set(node.slot, Fields.NUMBER, from, at);
        }
        at = behind;
        return true;
    }

    /// The kind of a value that is not a text, by its first byte.
    static byte kind(byte first) {
        return switch (first) {
            case '{', '[' -> Fields.COMPOSITE;
            case 't' -> Fields.TRUE;
            case 'f' -> Fields.FALSE;
            case 'n' -> Fields.NULL;
            default -> Fields.NUMBER;
        };
    }

    private boolean array(int depth) {
        if (depth > nestingMax) {
            return fail("JSON is nested deeper than " + nestingMax);
        }
        at++;
        skipSpace();
        if (at < end && bytes[at] == ']') {
            at++;
            return true;
        }
        while (true) {
            if (!value(null, depth)) {
                return false;
            }
            skipSpace();
            if (at < end && bytes[at] == ',') {
                at++;
                skipSpace();
            } else if (at < end && bytes[at] == ']') {
                at++;
                return true;
            } else {
                return fail("A comma or a closing bracket is expected");
            }
        }
    }

    private boolean word(String word) {
        for (int i = 0; i < word.length(); i++) {
            if (at + i >= end || bytes[at + i] != word.charAt(i)) {
                return fail("A JSON value is expected");
            }
        }
        at += word.length();
        return true;
    }

    private boolean number() {
        int p = at;
        if (p < end && bytes[p] == '-') {
            p++;
        }
        int digits = p;
        while (p < end && bytes[p] >= '0' && bytes[p] <= '9') {
            p++;
        }
        boolean good = p > digits && (bytes[digits] != '0' || p == digits + 1);
        if (good && p < end && bytes[p] == '.') {
            int fraction = ++p;
            while (p < end && bytes[p] >= '0' && bytes[p] <= '9') {
                p++;
            }
            good = p > fraction;
        }
        if (good && p < end && (bytes[p] | 0x20) == 'e') {
            p++;
            if (p < end && (bytes[p] == '+' || bytes[p] == '-')) {
                p++;
            }
            int exponent = p;
            while (p < end && bytes[p] >= '0' && bytes[p] <= '9') {
                p++;
            }
            good = p > exponent;
        }
        if (!good) {
            return p >= end && p > at ? cutOff() : fail("A JSON value is expected");
        }
        at = p;
        return true;
    }

    private boolean cutOff() {
        at = end;
        return fail("");
    }

    /// At the opening quote; leaves behind the closing one, with `escaped` set.
    private boolean string() {
        escaped = false;
        int p = at + 1;
        while (p < end) {
            long word = (long) WORD.get(bytes, p);
            long quotes = word ^ QUOTES;
            long backslashes = word ^ BACKSLASHES;
            // Only the first stop is used, and up to that one the bits are exact.
            long stops = (((quotes - ONES) & ~quotes) | ((backslashes - ONES) & ~backslashes) | (word - SPACES) | word)
                    & HIGHS;
            if (stops == 0) {
                p += 8;
                continue;
            }
            p += Long.numberOfTrailingZeros(stops) >>> 3;
            if (p >= end) {
                break;
            }
            byte b = bytes[p];
            if (b == '"') {
                at = p + 1;
                return true;
            }
            if (b == '\\') {
                escaped = true;
                int next = TextBytes.escapeEnd(bytes, p, end);
                if (next < 0) {
                    at = p;
                    return next == TextBytes.CUT_OFF ? cutOff() : fail("An escape in a string is not valid");
                }
                p = next;
            } else if (b < 0) {
                int next = TextBytes.utf8End(bytes, p, end);
                if (next < 0) {
                    at = p;
                    return fail("A string is not valid UTF-8");
                }
                p = next;
            } else if (b >= 0x20) {
                p++; // A false stop behind a true one is not possible; this line keeps the loop safe all the same.
            } else {
                at = p;
                return fail("A string holds a control character");
            }
        }
        return cutOff();
    }
}
