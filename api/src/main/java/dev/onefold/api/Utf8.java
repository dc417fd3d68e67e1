package dev.onefold.api;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/// UTF-8 without replacement characters: two texts that differ never become the same text.
final class Utf8 {
    private Utf8() {}

    /// @throws CharacterCodingException if the bytes are not UTF-8
    static String decode(byte[] bytes) throws CharacterCodingException {
        return StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(bytes))
                .toString();
    }

    /// @param what names the text in the message
    /// @throws IllegalArgumentException if the text has half a surrogate pair
    static byte[] encode(String what, CharSequence text) {
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] bytes = new byte[encoded.remaining()];
            encoded.get(bytes);
            return bytes;
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(what + " is not Unicode text", e);
        }
    }
}
