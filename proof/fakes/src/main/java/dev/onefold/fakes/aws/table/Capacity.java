package dev.onefold.fakes.aws.table;

import dev.onefold.fakes.aws.item.Key;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;

/// The write units that a table takes in a second: each partition has its part of them, and nothing is saved
/// for later. A transaction takes half of an item's units when it is begun, and half when it is applied. What
/// its items took before one of them was throttled is lost, which the service does not document and which is
/// the worst that can be.
final class Capacity {
    private static final int PARTITION_UNITS_MAX = 1_000;
    private static final double NANOS = Duration.ofSeconds(1).toNanos();

    private final double unitsMax; // Of a partition in a second.
    private final double[] left;
    private Instant at;

    Capacity(int unitsPerSecond, Instant now) {
        left = new double[Math.ceilDiv(unitsPerSecond, PARTITION_UNITS_MAX)];
        unitsMax = (double) unitsPerSecond / left.length;
        Arrays.fill(left, unitsMax);
        at = now;
    }

    /// Whether the item's partition takes these units now.
    boolean takes(Key key, long units, Instant now) {
        double more = Duration.between(at, now).toNanos() / NANOS * unitsMax;
        Arrays.setAll(left, i -> Math.min(unitsMax, left[i] + more));
        at = now;
        int partition = partition(key);
        if (left[partition] <= 0) {
            return false;
        }
        left[partition] -= units; // Perhaps below zero: one item may be larger than what is left.
        return true;
    }

    /// What is applied was promised when its transaction was begun.
    void take(Key key, long units) {
        left[partition(key)] -= units;
    }

    private int partition(Key key) {
        return Math.floorMod(key.hashCode() * 0x9e3779b9 >>> 8, left.length);
    }
}
