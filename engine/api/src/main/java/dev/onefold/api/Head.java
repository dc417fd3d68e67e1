package dev.onefold.api;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The head of a message of HTTP/1.1 (RFC 9112): its first line, and its fields by their names in small letters.
record Head(String start, Map<String, String> fields) {
    static final int BYTES_MAX = 64 << 10;

    /// Reads a head, byte by byte from a buffered stream; `null` if the connection ends before it.
    ///
    /// @throws IllegalArgumentException if it is not a head
    /// @throws Request.Refused if it is too long
    static @Nullable Head read(InputStream in) throws IOException {
        String start = line(in, BYTES_MAX);
        if (start == null) {
            return null;
        }
        int left = BYTES_MAX - start.length() - 2;
        Map<String, String> fields = new LinkedHashMap<>();
        while (true) {
            String line = line(in, left);
            if (line == null) {
                throw new EOFException("The connection ended in the head of a message");
            }
            if (line.isEmpty()) {
                return new Head(start, fields);
            }
            left -= line.length() + 2;
            int colon = line.indexOf(':');
            if (colon < 1 || line.charAt(0) <= ' ' || line.charAt(colon - 1) <= ' ') {
                throw new IllegalArgumentException("A header field of the request cannot be read");
            }
            String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
            if (fields.put(name, line.substring(colon + 1).strip()) != null && !name.startsWith("x-")) {
                throw new IllegalArgumentException("The header field " + name + " is there twice");
            }
        }
    }

    /// A line without its end; `null` at the end of the stream.
    static @Nullable String line(InputStream in, int bytesMax) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                if (line.size() == 0) {
                    return null;
                }
                throw new EOFException("The connection ended in the head of a message");
            }
            if (line.size() >= bytesMax) {
                throw new Request.Refused(new Failure(
                        431, Failure.REQUEST, "The head of the request is longer than " + BYTES_MAX + " bytes."));
            }
            line.write(c);
        }
        String text = line.toString(StandardCharsets.ISO_8859_1);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
    }

    /// A field; empty without it.
    String field(String name) {
        return fields.getOrDefault(name, "");
    }

    /// The content behind the head.
    ///
    /// @param untilClose whether content without a length reaches to the end of the connection; otherwise
    ///     there is none
    /// @throws IllegalArgumentException if its length cannot be read
    InputStream body(InputStream in, boolean untilClose) {
        String encoding = field("transfer-encoding");
        String length = field("content-length");
        if (!encoding.isEmpty()) {
            if (!encoding.equalsIgnoreCase("chunked") || !length.isEmpty()) {
                throw new IllegalArgumentException(
                        "The content has transfer encoding '" + encoding + "'; it is chunked, and has no length then");
            }
            return new BodyIn(in, BodyIn.CHUNKED);
        }
        if (!fields.containsKey("content-length")) {
            return untilClose ? in : InputStream.nullInputStream();
        }
        if (!length.matches("[0-9]{1,18}")) {
            throw new IllegalArgumentException("The length of the content cannot be read: '" + length + "'");
        }
        return new BodyIn(in, Long.parseLong(length));
    }
}
