package dev.onefold.core.bytes;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// Bytes that are being written: numbers as LEB128, byte arrays with their length before them. It is not
/// thread-safe.
public final class BytesOut {
    private static final int NUMBER_BYTES_MAX = 10;

    private static final int ROOM = 256;
    private static final int ROOM_KEPT_MAX = 1 << 20;

    private byte[] bytes = new byte[ROOM];
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
        reserve(NUMBER_BYTES_MAX);
        long rest = number;
        while ((rest & ~0x7fL) != 0) {
            bytes[length++] = (byte) (rest & 0x7f | 0x80);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
        return this;
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
        int before = length;
        number(text.length());
        reserve(text.length());
        int all = 0;
        for (int i = 0; i < text.length(); i++) {
            char each = text.charAt(i);
            all |= each;
            bytes[length + i] = (byte) each;
        }
        if (all >= 0x80) {
            length = before;
            return bytes(Utf8.encode("The text", text));
        }
        length += text.length();
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

    /// Removes all that was written, and keeps the array unless it is large.
    public void clear() {
        if (bytes.length > ROOM_KEPT_MAX) {
            bytes = new byte[ROOM];
        }
        length = 0;
    }

    /// Copies all that was written.
    public void copyTo(byte[] target, int at) {
        System.arraycopy(bytes, 0, target, at, length);
    }

    /// Copies all that was written.
    public void copyTo(MemorySegment target, long at) {
        MemorySegment.copy(bytes, 0, target, ValueLayout.JAVA_BYTE, at, length);
    }

    /// Writes all that was written here to the end of another one.
    public void appendTo(BytesOut other) {
        other.raw(bytes, 0, length);
    }

    /// A copy of all that was written.
    public byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }
}
