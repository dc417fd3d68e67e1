package dev.onefold.api.body;

import java.util.Arrays;

/// A content that is one JSON array of records, made to lines: one element a line. An element is not checked here,
/// because each is a record of its own, and the line breaks between its parts become blanks.
public final class JsonArray {
    private final byte[] content;
    private final byte[] lines;
    private int at;
    private int length;
    private int elementFrom; // In the lines.

    private JsonArray(byte[] content) {
        this.content = content;
        lines = new byte[content.length + 1];
    }

    /// Whether a content begins as an array does, behind blanks and a byte order mark.
    public static boolean begins(byte[] content) {
        int begin = begin(content);
        return begin < content.length && content[begin] == '[';
    }

    /// The elements, one a line.
    ///
    /// @throws IllegalArgumentException if the content is not one array
    public static byte[] lines(byte[] content) {
        return new JsonArray(content).read();
    }

    private static int begin(byte[] content) {
        boolean isMarked = content.length >= 3
                && content[0] == (byte) 0xef
                && content[1] == (byte) 0xbb
                && content[2] == (byte) 0xbf;
        int at = isMarked ? 3 : 0;
        while (at < content.length && isBlank(content[at])) {
            at++;
        }
        return at;
    }

    private static boolean isBlank(byte octet) {
        return octet == ' ' || octet == '\t' || octet == '\n' || octet == '\r';
    }

    private byte[] read() {
        at = begin(content) + 1;
        int depth = 1;
        while (depth > 0) {
            if (at == content.length) {
                throw refuse("does not end");
            }
            byte octet = content[at];
            switch (octet) {
                case '"' -> string();
                case '[', '{' -> depth++;
                case ']', '}' -> depth--;
                default -> {}
            }
            if (depth == 0) {
                end(octet);
            } else if (octet == ',' && depth == 1) {
                endElement();
                put((byte) '\n');
                elementFrom = length;
            } else if (octet != '"') {
                put(isBlank(octet) ? (byte) ' ' : octet);
            }
            at++;
        }
        while (at < content.length) {
            if (!isBlank(content[at])) {
                throw refuse("has more behind its end");
            }
            at++;
        }
        return Arrays.copyOf(lines, length);
    }

    private void put(byte octet) {
        lines[length++] = octet;
    }

    /// Takes a string, up to its last quote.
    private void string() {
        do {
            put(content[at]);
            if (content[at] == '\\' && at + 1 < content.length) {
                at++;
                put(content[at]);
            }
            at++;
            if (at == content.length || content[at] == '\n' || content[at] == '\r') {
                throw refuse("has a text that does not end");
            }
        } while (content[at] != '"');
        put((byte) '"');
    }

    private void end(byte octet) {
        if (octet != ']') {
            throw refuse("ends in }");
        }
        boolean isEmpty = length == elementFrom || isBlankSince(elementFrom);
        if (isEmpty && elementFrom == 0) {
            length = 0;
            return;
        }
        endElement();
        put((byte) '\n');
    }

    private void endElement() {
        if (isBlankSince(elementFrom)) {
            throw refuse("lacks an element");
        }
    }

    private boolean isBlankSince(int from) {
        for (int i = from; i < length; i++) {
            if (lines[i] != ' ') {
                return false;
            }
        }
        return true;
    }

    private IllegalArgumentException refuse(String problem) {
        return new IllegalArgumentException(
                "The content is sent as application/json, begins with [, and is not one array:" + " it " + problem
                        + ", at byte " + at + ". Nothing was taken. Send one JSON array, or one record a line");
    }
}
