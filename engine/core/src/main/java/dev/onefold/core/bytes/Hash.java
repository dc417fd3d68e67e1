package dev.onefold.core.bytes;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/// A fast 64-bit hash of bytes: each word is folded in by the high and low half of a 128-bit product, as in
/// wyhash (Wang Yi, 2019). Spreads keys over shards, lanes and slots.
///
/// The hash is stored by its effect: it decides in which shard's files the embedded engine looks for the row
/// of a key, and in which lane AWS puts a key's deltas. Another hash would look in the wrong place, and every
/// duplicate would count. So its values never change within a [#VERSION]; row files bear the version.
public final class Hash {
    /// The version of the hash's values, which the row files of the embedded engine bear. Any change of a value
    /// raises it.
    public static final int VERSION = 1;

    /// Bytes that must exist behind the hashed range.
    public static final int PADDING = 8;

    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long K0 = 0xa0761d6478bd642fL;
    private static final long K1 = 0xe7037ed1a0b428dbL;

    private Hash() {}

    /// The hash of `[from, to)`; [#PADDING] bytes behind it must exist and do not matter.
    public static long of(byte[] bytes, int from, int to) {
        long hash = K0 ^ (to - from);
        int at = from;
        for (; to - at > 8; at += 8) {
            hash = fold(hash ^ (long) WORD.get(bytes, at), K1);
        }
        int rest = to - at;
        if (rest > 0) {
            hash = fold(hash ^ ((long) WORD.get(bytes, at) & -1L >>> (64 - 8 * rest)), K1);
        }
        return fold(hash, K0);
    }

    /// The hash of all bytes; nothing needs to exist behind them.
    public static long of(byte[] bytes) {
        int length = bytes.length;
        if (length < Long.BYTES) {
            return of(Arrays.copyOf(bytes, length + PADDING), 0, length);
        }
        long hash = K0 ^ length;
        int at = 0;
        for (; length - at > 8; at += 8) {
            hash = fold(hash ^ (long) WORD.get(bytes, at), K1);
        }
        int rest = length - at;
        hash = fold(hash ^ (long) WORD.get(bytes, length - 8) >>> (64 - 8 * rest), K1);
        return fold(hash, K0);
    }

    private static long fold(long a, long b) {
        return a * b ^ Math.unsignedMultiplyHigh(a, b);
    }
}
