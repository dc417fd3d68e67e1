package dev.onefold.embedded.fold;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Records as lines.
public final class Lines {
    private Lines() {}

    /// The bytes of records, each ended by a line end.
    ///
    /// @throws IllegalArgumentException if a record is not one line of Unicode text, or there are too many
    /// bytes
    public static byte[] of(List<String> records, int bytesMax) {
        if (records == null) {
            throw new IllegalArgumentException("The list of records is null");
        }
        List<byte[]> encoded = new ArrayList<>(records.size());
        long length = 0;
        for (String record : records) {
            byte[] bytes = bytes(record, encoded.size() + 1);
            encoded.add(bytes);
            length += bytes.length + 1L;
            if (length > bytesMax) {
                throw new IllegalArgumentException("The records have more than " + bytesMax
                        + " bytes, the most that one call takes. Append them in several calls.");
            }
        }
        byte[] lines = new byte[(int) length];
        int at = 0;
        for (byte[] bytes : encoded) {
            System.arraycopy(bytes, 0, lines, at, bytes.length);
            at += bytes.length;
            lines[at++] = '\n';
        }
        return lines;
    }

    private static byte[] bytes(String record, int number) {
        if (record == null) {
            throw new IllegalArgumentException("Record " + number + " of the list is null");
        }
        if (record.indexOf('\n') >= 0) {
            throw new IllegalArgumentException(
                    "Record " + number + " of the list holds a line end; a record is one line");
        }
        try {
            var buffer = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(record));
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            return bytes;
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    "Record " + number + " of the list is not Unicode text: it holds half of a surrogate pair", e);
        }
    }
}
