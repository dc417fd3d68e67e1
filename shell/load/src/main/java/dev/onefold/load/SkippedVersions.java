package dev.onefold.load;

/// Versions that their trade has already gone beyond, and that are still to be sent: late. Not thread-safe.
final class SkippedVersions {
    private static final int SKIPPED_MAX = 4_096;

    private final Skipped[] skipped = new Skipped[SKIPPED_MAX];
    private int size;

    /// A version that its trade has gone beyond.
    record Skipped(int trade, int version) {}

    boolean isEmpty() {
        return size == 0;
    }

    boolean isFull() {
        return size == SKIPPED_MAX;
    }

    void add(int trade, int version) {
        skipped[size++] = new Skipped(trade, version);
    }

    /// Takes one of them out, by chance.
    Skipped take(Dice dice) {
        int index = dice.below(size);
        Skipped taken = skipped[index];
        skipped[index] = skipped[--size];
        return taken;
    }
}
