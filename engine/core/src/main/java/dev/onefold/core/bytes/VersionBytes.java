package dev.onefold.core.bytes;

import java.math.BigInteger;

/// Versions as bytes whose unsigned order is the order of the numbers: a first byte that says sign and length (80 +
/// n for n bytes of a positive magnitude, 80 for zero, 7F − n for a negative one of n bytes), then the magnitude,
/// most significant byte first, each byte inverted if the number is negative.
public final class VersionBytes {
    /// 64 decimal digits are 213 bits.
    public static final int LENGTH_MAX = 1 + 27;

    private static final int ZERO = 0x80;

    private VersionBytes() {}

    /// The number of bytes of a version that begins with this byte.
    public static int length(byte first) {
        int sign = first & 0xff;
        return 1 + (sign >= ZERO ? sign - ZERO : ZERO - 1 - sign);
    }

    public static int put(long version, byte[] target, int at) {
        if (version < 0) {
            return put(BigInteger.valueOf(version), target, at);
        }
        int n = (64 - Long.numberOfLeadingZeros(version) + 7) >>> 3;
        target[at] = (byte) (ZERO + n);
        for (int i = n - 1, shift = 0; i >= 0; i--, shift += 8) {
            target[at + 1 + i] = (byte) (version >>> shift);
        }
        return n + 1;
    }

    public static int put(BigInteger version, byte[] target, int at) {
        boolean negative = version.signum() < 0;
        byte[] magnitude = version.abs().toByteArray();
        int from = magnitude[0] == 0 ? 1 : 0;
        int n = magnitude.length - from;
        target[at] = (byte) (negative ? ZERO - 1 - n : ZERO + n);
        for (int i = 0; i < n; i++) {
            target[at + 1 + i] = (byte) (negative ? ~magnitude[from + i] : magnitude[from + i]);
        }
        return n + 1;
    }

    /// The bytes of a number.
    public static byte[] of(BigInteger version) {
        byte[] bytes = new byte[version.abs().toByteArray().length + 1];
        return java.util.Arrays.copyOf(bytes, put(version, bytes, 0));
    }

    /// The number of these bytes.
    public static BigInteger number(byte[] bytes, int from) {
        int n = length(bytes[from]) - 1;
        boolean negative = (bytes[from] & 0xff) < ZERO;
        byte[] magnitude = new byte[n];
        for (int i = 0; i < n; i++) {
            magnitude[i] = negative ? (byte) ~bytes[from + 1 + i] : bytes[from + 1 + i];
        }
        return new BigInteger(n == 0 ? 0 : negative ? -1 : 1, magnitude);
    }
}
