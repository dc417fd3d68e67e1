package dev.onefold.core.map;

import dev.onefold.core.event.Hash;
import dev.onefold.core.event.Tuple;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The groups of one roll-up, numbered densely in the order of their first appearance, so that a row names its
/// group in a byte or two. Numbers are never given twice. Threads share it; [Cache] keeps them out of each other's
/// way.
public final class Groups {
    private final Map<Tuple, Integer> numbers = new HashMap<>();
    private final List<Tuple> tuples = new ArrayList<>();

    /// The number of a group, which it gets at first sight.
    public synchronized int number(Tuple tuple) {
        Integer known = numbers.putIfAbsent(tuple, tuples.size());
        if (known != null) {
            return known;
        }
        tuples.add(tuple);
        return tuples.size() - 1;
    }

    /// The group of a number.
    public synchronized Tuple tuple(int number) {
        return tuples.get(number);
    }

    /// How many groups there are; their numbers are below.
    public synchronized int size() {
        return tuples.size();
    }

    /// The groups from a number on.
    public synchronized List<Tuple> from(int number) {
        return List.copyOf(tuples.subList(number, tuples.size()));
    }

    /// One thread's short cut to the numbers: open addressing over the tuple's bytes as they stand in the event.
    public static final class Cache {
        private static final int SIZE_MAX = 1 << 16;

        private final Groups groups;
        private byte[][] keys = new byte[1 << 8][];
        private int[] values = new int[1 << 8];
        private int size;

        public Cache(Groups groups) {
            this.groups = groups;
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
                if (key.length == to - from && Arrays.equals(key, 0, key.length, bytes, from, to)) {
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
