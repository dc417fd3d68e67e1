package dev.onefold.core.bytes;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// UTF-8 without replacement characters: two texts that differ never become the same text.
public final class Utf8 {
    private Utf8() {}

    /// The text of these bytes; empty if they are not UTF-8.
    public static Optional<String> decode(byte[] bytes) {
        return decode(bytes, 0, bytes.length);
    }

    /// The text of some of the bytes; empty if they are not UTF-8.
    public static Optional<String> decode(byte[] bytes, int from, int length) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, from, length))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    /// The bytes of a text.
    ///
    /// @param what names the text in the message
    /// @throws IllegalArgumentException if the text has half a surrogate pair
    public static byte[] encode(String what, CharSequence text) {
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] bytes = new byte[encoded.remaining()];
            encoded.get(bytes);
            return bytes;
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(what + " is not Unicode text: it holds half of a surrogate pair", e);
        }
    }
}
