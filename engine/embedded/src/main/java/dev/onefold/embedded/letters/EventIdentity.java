package dev.onefold.embedded.letters;

import dev.onefold.core.event.Decoder.RecordIdentity;
import java.util.HexFormat;

/// The identity of an event that a function folds. Its tag begins with bits of its content, by which an index tells the
/// letters of a key apart, and ends with bits of the key's hash, by which the letters of the key are found.
public final class EventIdentity {
    private static final long KEY_MASK = (1L << 36) - 1;

    private EventIdentity() {}

    /// @param sha256 of key, version and content, in hexadecimal
    /// @return as many digits
    public static String of(String sha256, byte[] key) {
        long hash = new RecordIdentity(key, null).keyHash();
        long tag = LetterFrame.tagOf(sha256) & ~KEY_MASK | hash & KEY_MASK;
        return HexFormat.of().toHexDigits(tag) + sha256.substring(16);
    }

    /// Whether a letter may be of a key with this hash.
    static boolean mayBeOf(long keyHash, long tag, boolean isConflict) {
        return ((tag ^ keyHash) & (isConflict ? KEY_MASK : -1)) == 0;
    }
}
