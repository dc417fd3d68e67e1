package dev.onefold.core.bytes;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// SHA-256 (FIPS 180-4), which every Java has.
public final class Sha256 {
    private Sha256() {}

    /// A new digest, for content that comes in parts. It is not thread-safe.
    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }

    /// The 32 bytes of the digest.
    public static byte[] of(byte[] bytes) {
        return digest().digest(bytes);
    }

    /// The digest as 64 lower-case hex digits.
    public static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(of(bytes));
    }
}
