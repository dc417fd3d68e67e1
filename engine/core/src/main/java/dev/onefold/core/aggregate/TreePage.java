package dev.onefold.core.aggregate;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// The layout of a page of a [ValueTree].
///
///     page   = level 1 (0 is a leaf), changed 1, entries 2, start of the lowest entry 2, dead bytes 2, first child 4,
///              zero 4; offsets of the entries 2 each, in order; free space; entries
///     entry  = length of the key 2, number 8, key
///     number = of a leaf: count, and in the top bit whether it has changed; else: the page of the keys from here on
final class TreePage {
    static final int HEADER = 16;
    static final int SLOT = 2;
    static final int ENTRY = 10;
    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    static final ValueLayout.OfChar U16 = ValueLayout.JAVA_CHAR_UNALIGNED;
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    static final ValueLayout.OfLong WORD = LONG.withOrder(ByteOrder.BIG_ENDIAN);
    static final VarHandle ARRAY_WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    /// Bytes that must exist behind a key in an array.
    static final int PADDING = 8;

    private TreePage() {}

    static int level(MemorySegment page) {
        return page.get(BYTE, 0);
    }

    static int size(MemorySegment page) {
        return page.get(U16, 2);
    }

    static int entry(MemorySegment page, int index) {
        return page.get(U16, HEADER + (long) SLOT * index);
    }

    static int keyLength(MemorySegment page, int entry) {
        return page.get(U16, entry);
    }

    static long number(MemorySegment page, int entry) {
        return page.get(LONG, entry + 2L);
    }

    static int child(MemorySegment page, int child) {
        return child == 0 ? page.get(INT, 8) : (int) number(page, entry(page, child - 1));
    }

    static byte[] key(MemorySegment page, int entry) {
        byte[] key = new byte[keyLength(page, entry) + PADDING];
        MemorySegment.copy(page, BYTE, entry + (long) ENTRY, key, 0, key.length - PADDING);
        return key;
    }

    static int compare(MemorySegment page, int entry, byte[] key, int length) {
        int stored = keyLength(page, entry);
        int common = Math.min(stored, length);
        long at = entry + (long) ENTRY;
        int i = 0;
        for (; common - i >= 8; i += 8) {
            long mine = page.get(WORD, at + i);
            long other = (long) ARRAY_WORD.get(key, i);
            if (mine != other) {
                return Long.compareUnsigned(mine, other);
            }
        }
        for (; i < common; i++) {
            int difference = (page.get(BYTE, at + i) & 0xff) - (key[i] & 0xff);
            if (difference != 0) {
                return difference;
            }
        }
        return stored - length;
    }

    /// The index of a key in a page, or `~` of the index where it belongs.
    static int search(MemorySegment page, byte[] key, int length) {
        int from = 0;
        int to = size(page);
        while (from < to) {
            int middle = from + to >>> 1;
            int order = compare(page, entry(page, middle), key, length);
            if (order == 0) {
                return middle;
            }
            if (order < 0) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return ~from;
    }

    static int childOf(MemorySegment page, byte[] key, int length) {
        int index = search(page, key, length);
        return index >= 0 ? index + 1 : ~index;
    }

    /// The entry at which a page is divided into halves, by bytes.
    static int middle(MemorySegment page) {
        int size = size(page);
        int half = (Pages.BYTES - HEADER) / 2;
        int bytes = 0;
        int index = 0;
        while (index < size - 1 && bytes < half) {
            bytes += SLOT + ENTRY + keyLength(page, entry(page, index++));
        }
        return Math.max(1, Math.min(index, size - (level(page) > 0 ? 2 : 1)));
    }

    static int room(MemorySegment page) {
        return page.get(U16, 4) - HEADER - SLOT * size(page);
    }

    static void place(MemorySegment page, int index, byte[] key, int length, long number) {
        int size = size(page);
        int entry = page.get(U16, 4) - ENTRY - length;
        long slot = HEADER + (long) SLOT * index;
        MemorySegment.copy(page, slot, page, slot + SLOT, (long) SLOT * (size - index));
        page.set(U16, slot, (char) entry);
        page.set(U16, 2, (char) (size + 1));
        page.set(U16, 4, (char) entry);
        page.set(U16, entry, (char) length);
        page.set(LONG, entry + 2L, number);
        MemorySegment.copy(key, 0, page, BYTE, entry + (long) ENTRY, length);
    }

    /// Closes the gaps between the entries.
    static void compact(MemorySegment page, MemorySegment scratch) {
        int top = Pages.BYTES;
        for (int i = 0; i < size(page); i++) {
            int entry = entry(page, i);
            int bytes = ENTRY + keyLength(page, entry);
            top -= bytes;
            MemorySegment.copy(page, entry, scratch, top, bytes);
            page.set(U16, HEADER + (long) SLOT * i, (char) top);
        }
        MemorySegment.copy(scratch, top, page, top, Pages.BYTES - top);
        page.set(U16, 4, (char) top);
        page.set(U16, 6, (char) 0);
    }

    static void removeSlot(MemorySegment page, int index) {
        int size = size(page);
        int bytes = ENTRY + keyLength(page, entry(page, index));
        long slot = HEADER + (long) SLOT * index;
        MemorySegment.copy(page, slot + SLOT, page, slot, (long) SLOT * (size - index - 1));
        page.set(U16, 2, (char) (size - 1));
        page.set(U16, 6, (char) (page.get(U16, 6) + bytes));
    }
}
