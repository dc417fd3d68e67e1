package dev.onefold.core.map;

import org.jspecify.annotations.Nullable;

/// The contribution of one row: the number of its group in each roll-up, and for each input a number (unscaled,
/// in 128 bits) or a text in UTF-8. A row that is not counted has none. One object serves row after row; it is
/// not thread-safe.
public final class Amounts {
    public boolean counted;
    public final int[] group;
    public final boolean[] present;
    public final long[] hi;
    public final long[] lo;
    public final byte[] @Nullable [] text;

    public Amounts(int rollups, int inputs) {
        group = new int[rollups];
        present = new boolean[inputs];
        hi = new long[inputs];
        lo = new long[inputs];
        text = new byte[inputs][];
    }
}
