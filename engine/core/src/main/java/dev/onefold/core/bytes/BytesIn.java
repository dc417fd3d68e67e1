package dev.onefold.core.bytes;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Reads the bytes of [BytesOut]. Each method throws an [IllegalStateException] if the bytes are something
/// else: they are stored state, and a runtime that cannot read its state must stop. It is not thread-safe.
public final class BytesIn {
    private final byte[] bytes;
    private final int end;
    private int offset;

    public BytesIn(byte[] bytes) {
        this(bytes, 0, bytes.length);
    }

    /// Reads the bytes `[from, to)`.
    public BytesIn(byte[] bytes, int from, int to) {
        this.bytes = bytes;
        offset = from;
        end = to;
    }

    /// Reads one byte, 0 to 255.
    public int octet() {
        if (offset == end) {
            throw broken("they end too early");
        }
        return bytes[offset++] & 0xff;
    }

    /// Reads a number that is not negative.
    public long number() {
        if (offset < end && bytes[offset] >= 0) {
            return bytes[offset++];
        }
        long number = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int next = octet();
            number |= (long) (next & 0x7f) << shift;
            if (next < 0x80) {
                return number;
            }
        }
        throw broken("a number does not end");
    }

    /// Reads a number of either sign.
    public long signed() {
        long number = number();
        return number >>> 1 ^ -(number & 1);
    }

    /// Reads bytes that have their length before them.
    public byte[] bytes() {
        int length = count();
        offset += length;
        return Arrays.copyOfRange(bytes, offset - length, offset);
    }

    /// Reads a text that was written as UTF-8.
    public String text() {
        int length = count();
        offset += length;
        return new String(bytes, offset - length, length, StandardCharsets.UTF_8);
    }

    /// Passes over bytes that have their length before them.
    public void skip() {
        int length = count();
        offset += length;
    }

    /// Reads how many items of at least one byte follow.
    public int count() {
        long count = number();
        if (count < 0 || count > end - offset) {
            throw broken("a length of " + count + " exceeds the " + (end - offset) + " bytes left");
        }
        return (int) count;
    }

    /// Reads these bytes if they are next.
    public boolean take(byte[] wanted) {
        if (wanted.length > end - offset) {
            return false;
        }
        for (int i = 0; i < wanted.length; i++) {
            if (bytes[offset + i] != wanted[i]) {
                return false;
            }
        }
        offset += wanted.length;
        return true;
    }

    /// Requires the number of a format as the next byte.
    public void requireFormat(int format) {
        int found = octet();
        if (found != format) {
            throw broken("they have format " + found + ", and this Onefold reads format " + format
                    + "; deploy the version that wrote them");
        }
    }

    /// Requires that all bytes have been read.
    public void requireEnd() {
        if (offset < end) {
            throw broken("there is unexpected data after their end");
        }
    }

    /// The exception for bytes that mean nothing.
    public IllegalStateException broken(String why) {
        return new IllegalStateException(end + " stored bytes cannot be read at byte " + offset + ": " + why);
    }
}
