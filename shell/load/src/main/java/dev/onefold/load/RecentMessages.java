package dev.onefold.load;

/// The last 1,000 healthy messages, whole, with trade and version: what a duplicate is taken from. Not thread-safe.
final class RecentMessages {
    private static final int MESSAGES_MAX = 1_000;

    private final byte[] bytes = new byte[MESSAGES_MAX * MessageBuffer.MESSAGE_BYTES_MAX];
    private final int[] lengths = new int[MESSAGES_MAX];
    private final int[] trades = new int[MESSAGES_MAX];
    private final int[] versions = new int[MESSAGES_MAX];
    private long added;

    boolean isEmpty() {
        return added == 0;
    }

    int pick(Dice dice) {
        return dice.below((int) Math.min(added, MESSAGES_MAX));
    }

    int trade(int slot) {
        return trades[slot];
    }

    int version(int slot) {
        return versions[slot];
    }

    void appendTo(MessageBuffer buffer, int slot) {
        buffer.append(bytes, slot * MessageBuffer.MESSAGE_BYTES_MAX, lengths[slot]);
    }

    /// Remembers the message that begins at this position and ends the buffer.
    void add(MessageBuffer buffer, int from, int trade, int version) {
        int slot = (int) (added++ % MESSAGES_MAX);
        buffer.copy(from, bytes, slot * MessageBuffer.MESSAGE_BYTES_MAX);
        lengths[slot] = buffer.position() - from;
        trades[slot] = trade;
        versions[slot] = version;
    }
}
