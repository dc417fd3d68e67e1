package dev.onefold.core.aggregate;

import dev.onefold.core.bytes.Hash;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Counts the distinct values of several leaves together, in bounded memory: a table of the places of values,
/// filled in as many passes over the values as are needed, each pass for the values with certain hashes.
/// Values are compared whole.
final class DistinctUnion {
    /// Slots of the table, 8 bytes each.
    private static final int SLOTS_MAX = 1 << 22;

    private static final int SLOTS_MIN = 1 << 10;

    private final Values values;
    private final int number;
    private final int[] leaves;
    private final int from;
    private final int to;
    private final byte[] place = new byte[Values.VALUE_AT + Values.PADDING];
    private final byte[] key = new byte[Values.KEY_BYTES_MAX + Values.PADDING];

    /// @param number of the measure among those made of values
    /// @param leaves of which those in `[from, to)` count
    DistinctUnion(Values values, int number, int[] leaves, int from, int to) {
        this.values = values;
        this.number = number;
        this.leaves = leaves;
        this.from = from;
        this.to = to;
    }

    long count(int slotsMax) {
        long all = 0;
        int some = 0;
        for (int i = from; i < to; i++) {
            long each = values.distinct(leaves[i], number);
            all += each;
            some += each > 0 ? 1 : 0;
        }
        if (some < 2) {
            return all;
        }
        int slots = SLOTS_MIN;
        while (slots < slotsMax && slots < 2 * all) {
            slots *= 2;
        }
        long count = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment table = arena.allocate(8L * slots, 64);
            for (Values.Part part : values.parts) {
                count += count(part.present, table, slots);
            }
        }
        return count;
    }

    long count() {
        return count(SLOTS_MAX);
    }

    private long count(ValueTree tree, MemorySegment table, int slots) {
        for (int passes = 1; ; passes *= 2) {
            long count = 0;
            int pass = 0;
            while (pass < passes) {
                long each = count(tree, table, slots, new Pass(pass, passes));
                if (each < 0) {
                    break;
                }
                count += each;
                pass++;
            }
            if (pass == passes) {
                return count;
            }
        }
    }

    /// The values whose hashes, divided by `of`, leave this rest.
    private record Pass(int rest, int of) {
        boolean has(long hash) {
            return (hash & of - 1) == rest;
        }
    }

    /// How many distinct values belong to a pass; -1 if the table cannot take them.
    private long count(ValueTree tree, MemorySegment table, int slots, Pass pass) {
        table.fill((byte) 0);
        TreeCursor cursor = tree.cursor();
        long count = 0;
        for (int i = from; i < to; i++) {
            if (values.distinct(leaves[i], number) == 0) {
                continue;
            }
            Values.putPlace(leaves[i], number, place);
            boolean more = cursor.seek(place, Values.VALUE_AT);
            while (more && cursor.startsWith(place, Values.VALUE_AT)) {
                int length = cursor.key(key);
                long hash = Hash.of(key, Values.VALUE_AT, length);
                if (pass.has(hash) && add(tree, table, slots, new Found(hash, length, cursor.address()))) {
                    if (++count > slots / 4 * 3L) {
                        return -1;
                    }
                }
                more = cursor.next();
            }
        }
        return count;
    }

    private record Found(long hash, int length, long address) {}

    private boolean add(ValueTree tree, MemorySegment table, int slots, Found found) {
        int slot = (int) (found.hash >>> 20) & slots - 1;
        while (true) {
            long stored = table.getAtIndex(ValueLayout.JAVA_LONG, slot);
            if (stored == 0) {
                table.setAtIndex(ValueLayout.JAVA_LONG, slot, found.address + 1);
                return true;
            }
            if (tree.isSame(stored - 1, key, Values.VALUE_AT, found.length)) {
                return false;
            }
            slot = slot + 1 & slots - 1;
        }
    }
}
