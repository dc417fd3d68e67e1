package dev.onefold.load;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/// Composes messages as bytes, without garbage, and writes them in large pieces. Not thread-safe.
final class MessageBuffer {
    /// No message may be longer: the buffer is written out when less than this is free.
    static final int MESSAGE_BYTES_MAX = 512;

    private static final int CAPACITY_BYTES = 1 << 18;
    private static final byte[] HEX_DIGITS = ascii("0123456789abcdef");

    private final byte[] bytes = new byte[CAPACITY_BYTES];
    private int position;

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    int position() {
        return position;
    }

    boolean isNearlyFull() {
        return position > CAPACITY_BYTES - MESSAGE_BYTES_MAX;
    }

    void append(byte[] text) {
        append(text, 0, text.length);
    }

    void append(byte[] source, int offset, int length) {
        System.arraycopy(source, offset, bytes, position, length);
        position += length;
    }

    void append(char ascii) {
        bytes[position++] = (byte) ascii;
    }

    /// A number that is not negative, in decimal digits.
    void appendNumber(long number) {
        int digits = 1;
        for (long rest = number / 10; rest > 0; rest /= 10) {
            digits++;
        }
        appendDigits(number, digits);
    }

    /// The last digits of a number, with leading zeros.
    void appendDigits(long number, int digits) {
        long rest = number;
        for (int index = position + digits - 1; index >= position; index--) {
            bytes[index] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        position += digits;
    }

    /// Hundredths as a number with two decimals.
    void appendCents(int cents) {
        appendNumber(cents / 100);
        append('.');
        appendDigits(cents % 100, 2);
    }

    /// The 36 characters of a UUID.
    void appendUuid(long high, long low) {
        appendHex(high >>> 32, 8);
        append('-');
        appendHex(high >>> 16, 4);
        append('-');
        appendHex(high, 4);
        append('-');
        appendHex(low >>> 48, 4);
        append('-');
        appendHex(low, 12);
    }

    /// The last hexadecimal digits of a number, with leading zeros.
    void appendHex(long bits, int digits) {
        long rest = bits;
        for (int index = position + digits - 1; index >= position; index--) {
            bytes[index] = HEX_DIGITS[(int) rest & 0xf];
            rest >>>= 4;
        }
        position += digits;
    }

    /// Cuts off what stands behind this position.
    void truncate(int newPosition) {
        position = newPosition;
    }

    void copy(int from, byte[] target, int offset) {
        System.arraycopy(bytes, from, target, offset, position - from);
    }

    /// Hashes what stands from this position on.
    void update(MessageDigest digest, int from) {
        digest.update(bytes, from, position - from);
    }

    void writeTo(OutputStream out) throws IOException {
        out.write(bytes, 0, position);
        position = 0;
    }
}
