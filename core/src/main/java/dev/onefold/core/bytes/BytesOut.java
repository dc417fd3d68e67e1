package dev.onefold.core.bytes;

import java.util.Arrays;

/// Bytes that are being written: numbers as LEB128, byte arrays with their length before them. It is not thread-safe.
public final class BytesOut {
    private byte[] bytes = new byte[256];
    private int length;

    /// Writes one byte.
    public BytesOut octet(int value) {
        if (length == bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * length);
        }
        bytes[length++] = (byte) value;
        return this;
    }

    /// Writes a number that is not negative in as few bytes as it takes, 7 bits each.
    public BytesOut number(long number) {
        long rest = number;
        while ((rest & ~0x7fL) != 0) {
            octet((int) (rest & 0x7f | 0x80));
            rest >>>= 7;
        }
        return octet((int) rest);
    }

    /// Writes a number of either sign ("zigzag").
    public BytesOut signed(long number) {
        return number(number << 1 ^ number >> 63);
    }

    /// Writes bytes, their length before them.
    public BytesOut bytes(byte[] some) {
        number(some.length);
        if (some.length > bytes.length - length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, Math.addExact(length, some.length)));
        }
        System.arraycopy(some, 0, bytes, length, some.length);
        length += some.length;
        return this;
    }

    /// A copy of all that was written.
    public byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }
}
