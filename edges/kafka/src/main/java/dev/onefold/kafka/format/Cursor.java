package dev.onefold.kafka.format;

import dev.onefold.core.bytes.Utf8;

/// A part of a record, read from front to back and never beyond its end. Not thread-safe.
final class Cursor {
    private static final int VARINT_BYTES_MAX = 10;

    private final byte[] bytes;
    private final int to;
    private int at;

    Cursor(byte[] bytes) {
        this(bytes, 0, bytes.length);
    }

    private Cursor(byte[] bytes, int from, int to) {
        this.bytes = bytes;
        this.to = to;
        at = from;
    }

    int remaining() {
        return to - at;
    }

    boolean begins(int one) {
        return at < to && bytes[at] == one;
    }

    int next() throws Undecodable {
        if (at == to) {
            throw new Undecodable("it ends too early");
        }
        return bytes[at++] & 0xff;
    }

    /// 64 bits, seven in each byte, the lowest first, and of all the sign first.
    long signed() throws Undecodable {
        long value = 0;
        for (int i = 0; i < VARINT_BYTES_MAX; i++) {
            int one = next();
            if (i == VARINT_BYTES_MAX - 1 && one > 1) {
                break;
            }
            value |= (long) (one & 0x7f) << 7 * i;
            if (one < 0x80) {
                return value >>> 1 ^ -(value & 1);
            }
        }
        throw new Undecodable("a number has more than 64 bits");
    }

    /// A number of this many bytes, the lowest first.
    long fixed(int length) throws Undecodable {
        long value = 0;
        for (int i = 0; i < length; i++) {
            value |= (long) next() << 8 * i;
        }
        return value;
    }

    /// An index into a list of this size.
    int index(long index, int size) throws Undecodable {
        if (index < 0 || index >= size) {
            throw new Undecodable("there is no number " + index + " among " + size);
        }
        return (int) index;
    }

    /// The next bytes, as a part of their own.
    Cursor part(long length) throws Undecodable {
        if (length < 0 || length > remaining()) {
            throw new Undecodable("a length of " + length + " is beyond its end");
        }
        Cursor part = new Cursor(bytes, at, at + (int) length);
        at += (int) length;
        return part;
    }

    /// All bytes that are left.
    byte[] take() {
        byte[] taken = new byte[remaining()];
        System.arraycopy(bytes, at, taken, 0, taken.length);
        at = to;
        return taken;
    }

    /// The text that is left.
    String text() throws Undecodable {
        String text = Utf8.decode(bytes, at, remaining()).orElseThrow(() -> new Undecodable("a text is not UTF-8"));
        at = to;
        return text;
    }
}
