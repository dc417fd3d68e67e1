package dev.onefold.core.bytes;

import java.util.Arrays;

/// Bytes that are being written: numbers as LEB128, byte arrays with their length before them. It is not
/// thread-safe.
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
        return number(some.length).raw(some, 0, some.length);
    }

    /// Writes the bytes `[from, to)` as they are.
    public BytesOut raw(byte[] some, int from, int to) {
        reserve(to - from);
        System.arraycopy(some, from, bytes, length, to - from);
        length += to - from;
        return this;
    }

    /// Writes a text as UTF-8, the number of its bytes before it.
    ///
    /// @throws IllegalArgumentException if the text has half a surrogate pair
    public BytesOut text(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= 0x80) {
                return bytes(Utf8.encode("The text", text));
            }
        }
        number(text.length());
        reserve(text.length());
        for (int i = 0; i < text.length(); i++) {
            bytes[length++] = (byte) text.charAt(i);
        }
        return this;
    }

    private void reserve(int more) {
        if (more > bytes.length - length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, Math.addExact(length, more)));
        }
    }

    /// How many bytes were written.
    public int length() {
        return length;
    }

    /// Forgets all that was written and keeps the room for it.
    public void clear() {
        length = 0;
    }

    /// Copies all that was written.
    public void copyTo(byte[] target, int at) {
        System.arraycopy(bytes, 0, target, at, length);
    }

    /// A copy of all that was written.
    public byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }
}
