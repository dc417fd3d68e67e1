package dev.onefold.core.state;

import dev.onefold.core.bytes.Hash;
import java.nio.ByteBuffer;
import java.util.BitSet;

/// Checksums of rows by ranges of their keys' hashes. The order in which rows are added does not matter, so two tables
/// are compared without sorting either of them. Not thread-safe.
public final class RangeSums {
    /// How many ranges there are: of six million rows each has about six.
    public static final int RANGES = 1 << 20;

    private static final int RANGE_BITS = 20;
    private static final int BYTES = Long.BYTES + RANGES * (Integer.BYTES + Long.BYTES);

    private final int[] counts = new int[RANGES];
    private final long[] sums = new long[RANGES];
    private long rows;

    /// Of no rows.
    public RangeSums() {}

    /// The range of a key.
    public static int rangeOf(byte[] key) {
        return (int) (Hash.of(key) >>> Long.SIZE - RANGE_BITS);
    }

    /// Adds a row. A deleted one counts, and changes no checksum.
    public void add(byte[] key, long content) {
        long hash = Hash.of(key);
        int range = (int) (hash >>> Long.SIZE - RANGE_BITS);
        counts[range]++;
        if (content != RowMark.NOTHING) {
            sums[range] += mixed(hash, content);
            rows++;
        }
    }

    /// Two rows that exchange their contents have another sum.
    private static long mixed(long key, long content) {
        long mixed = key ^ Long.rotateLeft(content * 0x9e3779b97f4a7c15L, 31);
        return (mixed ^ mixed >>> 29) * 0xbf58476d1ce4e5b9L;
    }

    /// Keys in a range, deleted ones included.
    public int count(int range) {
        return counts[range];
    }

    /// Rows of all ranges, without the deleted ones.
    public long rows() {
        return rows;
    }

    /// The ranges whose checksums differ.
    public BitSet differing(RangeSums other) {
        BitSet differing = new BitSet(RANGES);
        for (int range = 0; range < RANGES; range++) {
            differing.set(range, sums[range] != other.sums[range]);
        }
        return differing;
    }

    /// The sums as bytes.
    public byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES).putLong(rows);
        bytes.asIntBuffer().put(counts);
        bytes.position(Long.BYTES + RANGES * Integer.BYTES).asLongBuffer().put(sums);
        return bytes.array();
    }

    /// The sums of their bytes.
    ///
    /// @throws IllegalArgumentException if these are not the bytes of sums
    public static RangeSums read(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("Checksums have " + BYTES + " bytes, not " + bytes.length);
        }
        RangeSums sums = new RangeSums();
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        sums.rows = buffer.getLong();
        buffer.asIntBuffer().get(sums.counts);
        buffer.position(Long.BYTES + RANGES * Integer.BYTES).asLongBuffer().get(sums.sums);
        return sums;
    }
}
