package dev.onefold.load;

/// Versions that their trade has already gone beyond, and that are still to be sent: late. Not thread-safe.
final class SkippedVersions {
    private static final int SKIPPED_MAX = 4_096;

    private final int[] trades = new int[SKIPPED_MAX];
    private final int[] versions = new int[SKIPPED_MAX];
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    boolean isFull() {
        return size == SKIPPED_MAX;
    }

    void add(int trade, int version) {
        trades[size] = trade;
        versions[size++] = version;
    }

    int pick(Dice dice) {
        return dice.below(size);
    }

    int trade(int index) {
        return trades[index];
    }

    int version(int index) {
        return versions[index];
    }

    void remove(int index) {
        size--;
        trades[index] = trades[size];
        versions[index] = versions[size];
    }
}
