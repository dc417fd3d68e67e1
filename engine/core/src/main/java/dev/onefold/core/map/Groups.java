package dev.onefold.core.map;

import dev.onefold.core.bytes.Hash;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Limits;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;

/// The groups of one roll-up, numbered densely in the order of their first appearance, so that a row names its
/// group in a byte or two. The names are one behind the other in blocks: a group takes the bytes of its name
/// and about 20 more. Thread-safe; a [Cache] per thread avoids most waits for the lock.
///
/// A number keeps its name for ever. Groups that ended are left out of a copy ([#without]), which gives their
/// numbers again: an answer under way reads the names that it began with.
public final class Groups {
    private static final int BLOCK_BITS = 16;
    private static final int BLOCK_BYTES = 1 << BLOCK_BITS;
    private static final int LENGTH_BYTES = 2;
    /// Bytes of a group beside its name, at most: its position, its slots in the table, its place in the order.
    private static final int GROUP_BYTES_MAX = 24;
    private static final int NO_NAME = -1;

    private Names names = new Names(new byte[0][], new int[16], 0);
    private int used = BLOCK_BYTES; // Of the last block.
    private int[] table = new int[32]; // Open addressing: number + 1, or 0.
    private final BitSet free = new BitSet(); // Numbers without a name.
    private final BitSet emptied = new BitSet(); // Numbers that have lost their name ...
    private final BitSet named = new BitSet(); // ... or got another one, since these were taken.
    private final Object sorting = new Object();
    private int[] order = new int[0];
    private int ordered; // Numbers below it are in the order, unless they had no name.
    private BitSet unordered = new BitSet(); // Of these, the ones that have got a name since.

    /// The names of the first groups; they never change. A position is a block and an offset in it, or that
    /// there is no name.
    private record Names(byte[][] blocks, int[] positions, int count) {
        boolean has(int number) {
            return positions[number] != NO_NAME;
        }

        byte[] block(int number) {
            return blocks[positions[number] >>> BLOCK_BITS];
        }

        int from(int number) {
            return (positions[number] & BLOCK_BYTES - 1) + LENGTH_BYTES;
        }

        int to(int number) {
            byte[] block = block(number);
            int at = positions[number] & BLOCK_BYTES - 1;
            return at + LENGTH_BYTES + ((block[at] & 0xff) << 8 | block[at + 1] & 0xff);
        }

        Tuple tuple(int number) {
            return new Tuple(Arrays.copyOfRange(block(number), from(number), to(number)));
        }

        boolean isSame(int number, byte[] name) {
            return Arrays.equals(block(number), from(number), to(number), name, 0, name.length);
        }

        int compare(int one, int other) {
            return Arrays.compareUnsigned(block(one), from(one), to(one), block(other), from(other), to(other));
        }

        /// The numbers `[from, to)` of an array in the order of the names.
        void sort(int[] numbers, int from, int to) {
            if (to - from < 2) {
                return;
            }
            int middle = from + to >>> 1;
            sort(numbers, from, middle);
            sort(numbers, middle, to);
            merge(Arrays.copyOfRange(numbers, from, middle), numbers, middle, to, from);
        }

        /// Merges sorted numbers with those in `[from, to)` of the target, into the target from `at` on.
        void merge(int[] first, int[] target, int from, int to, int at) {
            int next = at;
            int one = 0;
            int other = from;
            while (one < first.length) {
                boolean takeFirst = other == to || compare(first[one], target[other]) <= 0;
                target[next++] = takeFirst ? first[one++] : target[other++];
            }
        }
    }

    private static int hash(byte[] name) {
        return (int) (Hash.of(Arrays.copyOf(name, name.length + Hash.PADDING), 0, name.length) >>> 32);
    }

    /// The number of a group, which it gets at first sight.
    public synchronized int number(Tuple tuple) {
        byte[] name = tuple.bytes();
        int slot = slot(name, hash(name));
        if (table[slot] > 0) {
            return table[slot] - 1;
        }
        int number = free.isEmpty() ? names.count : free.nextSetBit(0);
        add(number, name);
        table[slot] = number + 1;
        growIfFull();
        return number;
    }

    /// Whether a number has a name.
    public boolean has(int number) {
        return names().has(number);
    }

    /// Adds the next number, without a name.
    public synchronized void skip() {
        addPosition(names.count, NO_NAME);
        free.set(names.count - 1);
    }

    /// Gives a name to a number that has none; whether it could: no other number may have the name.
    public synchronized boolean name(int number, Tuple tuple) {
        byte[] name = tuple.bytes();
        int slot = slot(name, hash(name));
        if (table[slot] > 0 || !free.get(number)) {
            return table[slot] == number + 1;
        }
        add(number, name);
        table[slot] = number + 1;
        growIfFull();
        return true;
    }

    /// A copy without the names of some numbers, which it gives again.
    public Groups without(BitSet ended) {
        int[] before = order();
        synchronized (this) {
            Groups copy = new Groups();
            for (int number = 0; number < names.count; number++) {
                if (names.has(number) && !ended.get(number)) {
                    copy.add(number, names.tuple(number).bytes());
                } else {
                    copy.skip();
                }
            }
            copy.emptied.or(emptied);
            copy.emptied.or(ended);
            copy.named.clear();
            copy.named.or(named);
            copy.named.andNot(ended);
            copy.order = Arrays.stream(before).filter(copy::has).toArray();
            copy.ordered = names.count;
            copy.unordered.clear();
            copy.grow(table.length);
            return copy;
        }
    }

    /// Numbers whose names have changed.
    ///
    /// @param emptied have lost their name
    /// @param named have got another one, behind that
    public record Renamed(BitSet emptied, BitSet named) {}

    /// Takes the numbers whose names have changed since the last call.
    public synchronized Renamed takeRenamed() {
        Renamed taken = new Renamed((BitSet) emptied.clone(), (BitSet) named.clone());
        emptied.clear();
        named.clear();
        return taken;
    }

    /// The number of a group; -1 if it was never seen.
    public synchronized int find(Tuple tuple) {
        return table[slot(tuple.bytes(), hash(tuple.bytes()))] - 1;
    }

    private int slot(byte[] name, int hash) {
        int slot = hash & table.length - 1;
        while (table[slot] > 0 && !names.isSame(table[slot] - 1, name)) {
            slot = slot + 1 & table.length - 1;
        }
        return slot;
    }

    private void add(int number, byte[] name) {
        if (name.length > BLOCK_BYTES - LENGTH_BYTES) {
            throw new IllegalArgumentException(
                    "A group of " + name.length + " bytes is over " + Limits.GROUP_BYTES_MAX);
        }
        byte[][] blocks = names.blocks;
        if (used + LENGTH_BYTES + name.length > BLOCK_BYTES) {
            if (blocks.length == BLOCK_BYTES) {
                throw new IllegalStateException("The names of the groups are over 4 GiB");
            }
            blocks = Arrays.copyOf(blocks, blocks.length + 1);
            blocks[blocks.length - 1] = new byte[BLOCK_BYTES];
            used = 0;
        }
        byte[] block = blocks[blocks.length - 1];
        block[used] = (byte) (name.length >>> 8);
        block[used + 1] = (byte) name.length;
        System.arraycopy(name, 0, block, used + LENGTH_BYTES, name.length);
        names = new Names(blocks, names.positions, names.count);
        addPosition(number, blocks.length - 1 << BLOCK_BITS | used);
        used += LENGTH_BYTES + name.length;
    }

    private void addPosition(int number, int position) {
        int[] positions = names.positions;
        if (number == positions.length) {
            positions = Arrays.copyOf(positions, names.count + names.count / 2);
        }
        positions[number] = position;
        if (number < names.count) {
            free.clear(number);
            named.set(number);
            unordered.set(number);
        }
        names = new Names(names.blocks, positions, Math.max(names.count, number + 1));
    }

    private void growIfFull() {
        if (names.count > table.length / 8 * 5) {
            grow(2 * table.length);
        }
    }

    private void grow(int length) {
        table = new int[length];
        for (int number = 0; number < names.count; number++) {
            if (!names.has(number)) {
                continue;
            }
            byte[] name = names.tuple(number).bytes();
            int slot = hash(name) & table.length - 1;
            while (table[slot] > 0) {
                slot = slot + 1 & table.length - 1;
            }
            table[slot] = number + 1;
        }
    }

    private synchronized Names names() {
        return names;
    }

    /// The group of a number.
    public Tuple tuple(int number) {
        Names all = names();
        return all.tuple(Objects.checkIndex(number, all.count));
    }

    /// How many groups there are; their numbers are below.
    public int size() {
        return names().count;
    }

    /// Greatest number of heap bytes that it takes with `more` further groups.
    public long bytesWith(long more, long nameBytes) {
        Names all = names();
        long blocks = (long) all.blocks.length * BLOCK_BYTES + nameBytes + LENGTH_BYTES * more;
        return (more > 0 ? blocks / (BLOCK_BYTES - Limits.GROUP_BYTES_MAX) * BLOCK_BYTES + 2 * BLOCK_BYTES : blocks)
                + (all.count + more) * GROUP_BYTES_MAX;
    }

    /// The numbers of all groups there are now, in the order of their names. The array is shared, so it must
    /// not be changed.
    public int[] order() {
        synchronized (sorting) {
            Names all;
            BitSet more;
            synchronized (this) {
                all = names;
                more = unordered;
                more.set(ordered, all.count);
                more.andNot(free);
                unordered = new BitSet();
                ordered = all.count;
            }
            if (!more.isEmpty()) {
                int[] old = order;
                int[] fresh = new int[old.length + more.cardinality()];
                int at = old.length;
                for (int number = more.nextSetBit(0); number >= 0; number = more.nextSetBit(number + 1)) {
                    fresh[at++] = number;
                }
                all.sort(fresh, old.length, fresh.length);
                all.merge(old, fresh, old.length, fresh.length, 0);
                order = fresh;
            }
            return order;
        }
    }

    /// The number of entries, of `numbers` in the order of their names, before a group and the groups below
    /// it; with `behind`, up to and including these.
    public int rank(int[] numbers, Tuple group, boolean behind) {
        Names all = names();
        byte[] prefix = group.bytes();
        int from = 0;
        int to = numbers.length;
        while (from < to) {
            int middle = from + to >>> 1;
            int number = numbers[middle];
            int nameFrom = all.from(number);
            int nameTo = behind ? Math.min(all.to(number), nameFrom + prefix.length) : all.to(number);
            int compared = Arrays.compareUnsigned(all.block(number), nameFrom, nameTo, prefix, 0, prefix.length);
            if (compared < 0 || behind && compared == 0) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    /// How many levels two groups have in common, from the first on.
    public int levelsInCommon(int one, int other) {
        Names all = names();
        byte[] mine = all.block(one);
        byte[] theirs = all.block(other);
        int at = all.from(one);
        int same = Arrays.mismatch(mine, at, all.to(one), theirs, all.from(other), all.to(other));
        int end = same < 0 ? all.to(one) : at + same;
        int levels = 0;
        while (at < end) {
            if (mine[at] != 0) {
                at++;
            } else {
                levels += mine[at + 1] == 1 && at + 1 < end ? 1 : 0;
                at += 2;
            }
        }
        return levels;
    }

    /// One thread's short cut to the numbers: open addressing over the tuple's bytes in the event.
    public static final class Cache {
        private static final int SIZE_MAX = 1 << 16;

        private final Groups groups;
        private byte[][] keys = new byte[1 << 8][];
        private int[] values = new int[1 << 8];
        private int size;

        public Cache(Groups groups) {
            this.groups = groups;
        }

        /// Whether it has the numbers of these groups.
        public boolean isOf(Groups others) {
            return groups == others;
        }

        /// The number of the tuple at `[from, to)`; [Hash#PADDING] bytes behind it must exist.
        public int number(byte[] bytes, int from, int to) {
            int mask = keys.length - 1;
            int slot = (int) (Hash.of(bytes, from, to) >>> 32) & mask;
            while (true) {
                byte[] key = keys[slot];
                if (key == null) {
                    return add(slot, Arrays.copyOfRange(bytes, from, to));
                }
                if (Arrays.equals(key, 0, key.length, bytes, from, to)) {
                    return values[slot];
                }
                slot = slot + 1 & mask;
            }
        }

        private int add(int slot, byte[] key) {
            int number = groups.number(new Tuple(key));
            if (size >= SIZE_MAX) {
                return number; // So many groups do not repeat soon; the shared map answers.
            }
            keys[slot] = key;
            values[slot] = number;
            if (++size > keys.length / 2) {
                grow();
            }
            return number;
        }

        private void grow() {
            byte[][] oldKeys = keys;
            int[] oldValues = values;
            keys = new byte[oldKeys.length * 2][];
            values = new int[oldKeys.length * 2];
            for (int i = 0; i < oldKeys.length; i++) {
                if (oldKeys[i] != null) {
                    byte[] padded = Arrays.copyOf(oldKeys[i], oldKeys[i].length + Hash.PADDING);
                    int slot = (int) (Hash.of(padded, 0, oldKeys[i].length) >>> 32) & keys.length - 1;
                    while (keys[slot] != null) {
                        slot = slot + 1 & keys.length - 1;
                    }
                    keys[slot] = oldKeys[i];
                    values[slot] = oldValues[i];
                }
            }
        }
    }
}
