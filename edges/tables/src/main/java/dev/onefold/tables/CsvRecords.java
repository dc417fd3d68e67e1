package dev.onefold.tables;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The records of a CSV file (RFC 4180), with line ends in quoted fields. Not thread-safe.
final class CsvRecords {
    private static final int BUFFER_BYTES = 1 << 18;
    private static final int FIELD_BYTES_MAX = 10 << 20;
    private static final char REPLACEMENT = '\uFFFD';
    private static final byte[] MARK_OF_ORDER = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final InputStream in;
    private final char delimiter;
    private final char comment;
    private final boolean quotes;
    private final int escape; // Below 0 if there is none: then no character is it.
    private final ByteArrayOutputStream field = new ByteArrayOutputStream();
    private boolean isUtf8;
    private int last; // The character behind a field; -1 is the end.

    CsvRecords(InputStream file, FileRows.Form.Csv form) throws IOException {
        in = new BufferedInputStream(file, BUFFER_BYTES);
        delimiter = form.delimiter();
        comment = form.comment();
        quotes = form.quotes();
        escape = form.escape() == 0 ? Integer.MIN_VALUE : form.escape();
        in.mark(MARK_OF_ORDER.length);
        if (!Arrays.equals(in.readNBytes(MARK_OF_ORDER.length), MARK_OF_ORDER)) {
            in.reset();
        }
    }

    /// A value.
    ///
    /// @param quoted whether it is in quotes; without them, an empty one is not a value
    record Field(String text, boolean quoted) {}

    /// A record.
    ///
    /// @param isUtf8 whether each of its texts was valid UTF-8 in the file
    record Fields(List<Field> all, boolean isUtf8) {}

    /// The next record; `null` at the end. Empty lines and comments are passed over.
    @Nullable
    Fields next() throws IOException {
        int first = in.read();
        while (first == '\n' || first == '\r' || first == comment && comment != 0) {
            boolean isComment = first == comment;
            first = in.read();
            while (isComment && first >= 0 && first != '\n') {
                first = in.read();
            }
        }
        if (first < 0) {
            return null;
        }
        isUtf8 = true;
        List<Field> fields = new ArrayList<>();
        fields.add(field(first));
        while (last == delimiter) {
            fields.add(field(in.read()));
        }
        return new Fields(fields, isUtf8);
    }

    /// Whether the last record had no line end: it may be a part of a record that is still being written.
    boolean isOpen() {
        return last < 0;
    }

    private Field field(int first) throws IOException {
        field.reset();
        boolean quoted = first == '"' && quotes;
        int c = quoted ? quoted() : first;
        int inside = field.size();
        while (c >= 0 && c != delimiter && c != '\n') {
            add(c == escape ? escaped() : c);
            c = in.read();
        }
        last = c;
        String text = field.toString(StandardCharsets.UTF_8);
        isUtf8 &= text.indexOf(REPLACEMENT) < 0
                || Arrays.equals(text.getBytes(StandardCharsets.UTF_8), field.toByteArray());
        boolean returned = last != delimiter && text.endsWith("\r") && !(quoted && field.size() == inside);
        return new Field(returned ? text.substring(0, text.length() - 1) : text, quoted);
    }

    /// Reads to the closing quote; returns the character behind it.
    private int quoted() throws IOException {
        while (true) {
            int c = in.read();
            if (c < 0) {
                throw new FileRows.Unended();
            }
            if (c == escape) {
                c = escaped();
            } else if (c == '"') {
                c = in.read();
                if (c != '"') {
                    return c;
                }
            }
            add(c);
        }
    }

    /// The character behind an escape; one that needs none follows the escape, as in `\N`.
    private int escaped() throws IOException {
        int behind = in.read();
        boolean isSpecial =
                behind == delimiter || behind == '"' || behind == escape || behind == '\n' || behind == '\r';
        if (!isSpecial && behind >= 0) {
            add(escape);
        }
        return behind < 0 ? escape : behind;
    }

    private void add(int c) throws IOException {
        field.write(c);
        if (field.size() > FIELD_BYTES_MAX) {
            throw new IOException(
                    "a field has more than " + FIELD_BYTES_MAX + " bytes; a closing quote may be missing");
        }
    }
}
