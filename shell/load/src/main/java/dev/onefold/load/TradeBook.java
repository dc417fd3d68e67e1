package dev.onefold.load;

import java.util.Arrays;

/// The newest state of each trade, in eight bytes: version, value in cents, and leaf of the tree of totals. In
/// pieces, so that growing copies nothing. Not thread-safe.
final class TradeBook {
    /// In place of a leaf: the trade is deleted.
    static final int DELETED = 0xff;

    static final int CENTS_MAX = (1 << 24) - 1;

    private static final int PIECE_BITS = 16;
    private static final int PIECE_MASK = (1 << PIECE_BITS) - 1;

    private long[][] pieces = new long[16][];
    private int size;

    int size() {
        return size;
    }

    /// Adds a trade; its number is the size before.
    void add(int version, int cents, int leaf) {
        int piece = size >>> PIECE_BITS;
        if ((size & PIECE_MASK) == 0) {
            if (piece == pieces.length) {
                pieces = Arrays.copyOf(pieces, 2 * pieces.length);
            }
            pieces[piece] = new long[1 << PIECE_BITS];
        }
        size++;
        set(size - 1, version, cents, leaf);
    }

    void set(int trade, int version, int cents, int leaf) {
        pieces[trade >>> PIECE_BITS][trade & PIECE_MASK] = (long) version << 32 | (long) cents << 8 | leaf;
    }

    int version(int trade) {
        return (int) (state(trade) >>> 32);
    }

    int cents(int trade) {
        return (int) (state(trade) >>> 8) & CENTS_MAX;
    }

    int leaf(int trade) {
        return (int) state(trade) & 0xff;
    }

    private long state(int trade) {
        return pieces[trade >>> PIECE_BITS][trade & PIECE_MASK];
    }
}
