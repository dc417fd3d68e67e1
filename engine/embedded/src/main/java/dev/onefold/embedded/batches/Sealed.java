package dev.onefold.embedded.batches;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The permanent entry of a sealed batch: the range of its bytes among the bodies. All entries have the same
/// length, so the number of a batch gives the place of its entry.
///
/// @param from offset of its first member among the bodies, in bytes
/// @param to offset behind the line end of its last member, in bytes
/// @param ordinal number of its first member among all members, from 1
/// @param crc CRC-32C of its bytes
public record Sealed(
        long number, long from, long to, long ordinal, int records, int crc, long firstMs, long lastMs, long sealedMs) {
    static final int BYTES = 72;

    byte[] encode() {
        ByteBuffer out = ByteBuffer.allocate(BYTES)
                .putLong(number)
                .putLong(from)
                .putLong(to)
                .putLong(ordinal)
                .putInt(records)
                .putInt(crc)
                .putLong(firstMs)
                .putLong(lastMs)
                .putLong(sealedMs);
        return out.putLong(check(out.array())).array();
    }

    private static long check(byte[] entry) {
        CRC32C check = new CRC32C();
        check.update(entry, 0, BYTES - Long.BYTES);
        return check.getValue();
    }

    /// The entry of a number; `null` if these are not the bytes of one.
    static @Nullable Sealed decode(long number, byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (bytes.length != BYTES || in.getLong(BYTES - Long.BYTES) != check(bytes) || in.getLong(0) != number) {
            return null;
        }
        return new Sealed(
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getInt(),
                in.getInt(),
                in.getLong(),
                in.getLong(),
                in.getLong());
    }

    /// Bytes of the content before compression.
    public long bytes() {
        return to - from;
    }
}
