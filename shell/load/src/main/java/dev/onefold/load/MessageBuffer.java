package dev.onefold.load;

import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;

/// Composes messages as bytes, without garbage, and writes them in large pieces. Not thread-safe.
final class MessageBuffer {
    /// No message may be longer: the buffer is written out when less than this is free.
    static final int MESSAGE_BYTES_MAX = 512;

    private static final int CAPACITY_BYTES = 1 << 18;
    private static final String HEX_DIGITS = "0123456789abcdef";

    private final byte[] bytes = new byte[CAPACITY_BYTES];
    private int position;

    int position() {
        return position;
    }

    /// Appends a text of ASCII characters.
    @SuppressWarnings("deprecation") // A byte of each character, without a copy between.
    MessageBuffer text(String ascii) {
        ascii.getBytes(0, ascii.length(), bytes, position);
        position += ascii.length();
        return this;
    }

    void append(byte[] source, int offset, int length) {
        System.arraycopy(source, offset, bytes, position, length);
        position += length;
    }

    /// A number that is not negative, in decimal digits.
    MessageBuffer number(long number) {
        int digits = 1;
        for (long rest = number / 10; rest > 0; rest /= 10) {
            digits++;
        }
        return digits(number, digits);
    }

    /// The last digits of a number, with leading zeros.
    MessageBuffer digits(long number, int digits) {
        long rest = number;
        for (int index = position + digits - 1; index >= position; index--) {
            bytes[index] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        position += digits;
        return this;
    }

    /// Hundredths as a number with two decimals.
    MessageBuffer cents(int cents) {
        return number(cents / 100).text(".").digits(cents % 100, 2);
    }

    /// The 36 characters of a random UUID, version 4.
    MessageBuffer uuid(long high, long low) {
        long version = high & ~0xf000L | 0x4000L;
        long variant = low & -1L >>> 2 | Long.MIN_VALUE;
        return hex(version >>> 32, 8)
                .text("-")
                .hex(version >>> 16, 4)
                .text("-")
                .hex(version, 4)
                .text("-")
                .hex(variant >>> 48, 4)
                .text("-")
                .hex(variant, 12);
    }

    /// The last hexadecimal digits of a number, with leading zeros.
    MessageBuffer hex(long bits, int digits) {
        long rest = bits;
        for (int index = position + digits - 1; index >= position; index--) {
            bytes[index] = (byte) HEX_DIGITS.charAt((int) rest & 0xf);
            rest >>>= 4;
        }
        position += digits;
        return this;
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

    /// Composes messages one after the other, and writes them.
    ///
    /// @param compose appends one message
    /// @return how many bytes they have
    long write(OutputStream out, long messages, Runnable compose) throws IOException {
        long written = 0;
        for (long i = 0; i < messages; i++) {
            compose.run();
            if (position > CAPACITY_BYTES - MESSAGE_BYTES_MAX) {
                written += writeTo(out);
            }
        }
        return written + writeTo(out);
    }

    private int writeTo(OutputStream out) throws IOException {
        int written = position;
        out.write(bytes, 0, written);
        position = 0;
        return written;
    }
}
