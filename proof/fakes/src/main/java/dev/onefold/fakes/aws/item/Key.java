package dev.onefold.fakes.aws.item;

import java.math.BigDecimal;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Where an item lies: partitions by their hash, as a scan meets them, and within a partition by the sort key.
public final class Key implements Comparable<Key> {
    private final long hash;
    private final byte[] partition;
    private final @Nullable Object sort; // A BigDecimal or bytes; all keys of a table have the same, or none.
    private final int edge; // Before (-1) or after (1) every sort key of the partition.

    Key(AttributeValue partition, @Nullable AttributeValue sort) {
        this.partition = bytes(partition);
        this.hash = hash(this.partition);
        this.sort = sort == null ? null : sort.n() == null ? bytes(sort) : new BigDecimal(sort.n());
        this.edge = sort == null ? -1 : 0;
    }

    private Key(Key key, int edge) {
        this.partition = key.partition;
        this.hash = key.hash;
        this.sort = null;
        this.edge = edge;
    }

    /// Which of so many parts the partition belongs to.
    public int part(int parts) {
        return (int) Math.unsignedMultiplyHigh(hash, parts);
    }

    /// Whether two items lie in one partition.
    public boolean isBeside(Key other) {
        return Arrays.equals(partition, other.partition);
    }

    /// The place after every item of the partition.
    public Key last() {
        return new Key(this, 1);
    }

    @Override
    public int compareTo(Key other) {
        int byHash = Long.compareUnsigned(hash, other.hash);
        if (byHash != 0) {
            return byHash;
        }
        int byPartition = Values.compare(partition, other.partition);
        if (byPartition != 0) {
            return byPartition;
        }
        if (sort instanceof BigDecimal mine && other.sort instanceof BigDecimal theirs) {
            return mine.compareTo(theirs);
        }
        if (sort instanceof byte[] mine && other.sort instanceof byte[] theirs) {
            return Values.compare(mine, theirs);
        }
        return Integer.compare(edge, other.edge);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Key key && compareTo(key) == 0;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(hash); // Enough: keys are looked up by their order.
    }

    private static byte[] bytes(AttributeValue value) {
        if (value.s() != null) {
            return Values.utf8(value.s());
        }
        return value.n() != null ? Values.utf8(value.n()) : Values.bytes(value.b());
    }

    /// FNV-1a, then mixed, so that near keys are far apart.
    private static long hash(byte[] bytes) {
        long hash = 0xcbf29ce484222325L;
        for (byte b : bytes) {
            hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
        }
        hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
        return hash ^ (hash >>> 33);
    }
}
