package dev.onefold.aws.event;

/// Walks the fields of one protobuf message, within its bytes. What is no protobuf ends the walk and is [#broken()].
/// Not thread-safe.
final class ProtobufFields {
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int BYTES = 2;
    private static final int FIXED32 = 5;
    private static final int VARINT_BITS_MAX = 64;

    private final byte[] bytes;
    private final int to;
    private int at;
    private boolean broken;
    private int number;
    private int type;
    private long value;
    private int from;

    ProtobufFields(byte[] bytes, int from, int to) {
        this.bytes = bytes;
        this.at = from;
        this.to = to;
    }

    /// Goes to the next field; false at the end, and where the rest is broken.
    boolean next() {
        if (broken || at == to) {
            return false;
        }
        long tag = varint();
        number = tag >>> 3 > Integer.MAX_VALUE >> 2 ? 0 : (int) (tag >>> 3);
        type = (int) tag & 7;
        switch (type) {
            case VARINT -> value = varint();
            case FIXED64 -> skip(Long.BYTES);
            case BYTES -> skip(varint());
            case FIXED32 -> skip(Integer.BYTES);
            default -> broken = true;
        }
        broken |= number == 0;
        return !broken;
    }

    boolean broken() {
        return broken;
    }

    boolean isBytes(int field) {
        return number == field && type == BYTES;
    }

    boolean isVarint(int field) {
        return number == field && type == VARINT;
    }

    /// The value of a varint, as unsigned.
    long value() {
        return value;
    }

    /// Where the content of a bytes field begins; it ends where the walk stands.
    int from() {
        return from;
    }

    int to() {
        return at;
    }

    private void skip(long length) {
        from = at;
        if (length < 0 || length > to - at) {
            broken = true;
        } else {
            at += (int) length;
        }
    }

    private long varint() {
        long result = 0;
        for (int shift = 0; shift < VARINT_BITS_MAX && at < to; shift += 7) {
            byte next = bytes[at++];
            result |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return result;
            }
        }
        broken = true;
        return 0;
    }
}
