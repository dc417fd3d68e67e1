package dev.onefold.embedded.rows;

import dev.onefold.embedded.disk.Scale;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The place of the row of each key, or of the letter of each conflict: open addressing with linear probing
/// over 8-byte slots, off the Java heap. A slot holds the top 28 bits of the key's hash and the row's
/// location + 1 in 36 bits (64 GiB a shard); zero is empty. A key's home is its 28 bits scaled to the table
/// (D. Lemire, "Fast random integer generation in an interval", 2019), so slots are in the order of hashes
/// and the table grows by half with one sequential copy that reads no row. Not thread-safe.
public final class Index {
    private static final int HASH_BITS = 28;
    private static final int LOCATION_BITS = 64 - HASH_BITS;
    static final long LOCATION_MAX = (1L << LOCATION_BITS) - 2;
    private static final long LOCATION_MASK = (1L << LOCATION_BITS) - 1;
    private static final double LOAD_MAX = 0.78;

    private Arena arena = Arena.ofShared();
    private MemorySegment slots;
    private long size;
    private long count;
    private long countMax;

    /// An empty one.
    public Index() {
        size = Scale.of(1 << 12);
        slots = arena.allocate(size * 8, 64);
        countMax = (long) (size * LOAD_MAX);
    }

    /// Bytes of memory in use.
    public long bytes() {
        return size * 8;
    }

    /// Bytes that the next growth needs, the old table included while it is copied.
    public long bytesAtGrowth() {
        return size * 8 + size / 2 * 24;
    }

    /// Whether it must grow before one more is added.
    public boolean isFull() {
        return count >= countMax;
    }

    /// Whether this many more can be added before it must grow.
    public boolean hasRoom(long more) {
        return count + more <= countMax;
    }

    /// Entries.
    public long count() {
        return count;
    }

    /// The slot where the search for a hash begins.
    public long home(long hash) {
        return (hash >>> LOCATION_BITS) * size >>> HASH_BITS;
    }

    /// The slot behind a slot.
    public long next(long slot) {
        return slot + 1 == size ? 0 : slot + 1;
    }

    /// The entry in a slot; 0 if the slot is empty.
    public long get(long slot) {
        return slots.getAtIndex(ValueLayout.JAVA_LONG, slot);
    }

    /// The first entry that can be of a hash; 0 if there is none.
    long likely(long hash) {
        long slot = home(hash);
        long entry = get(slot);
        while (entry != 0 && !mayBe(entry, hash)) {
            slot = next(slot);
            entry = get(slot);
        }
        return entry;
    }

    /// Whether an entry can be of a hash.
    public static boolean mayBe(long entry, long hash) {
        return (entry ^ hash) >>> LOCATION_BITS == 0;
    }

    /// The location in an entry.
    public static long location(long entry) {
        return (entry & LOCATION_MASK) - 1;
    }

    private static long entry(long hash, long location) {
        return hash & ~LOCATION_MASK | location + 1;
    }

    void set(long slot, long hash, long location) {
        slots.setAtIndex(ValueLayout.JAVA_LONG, slot, entry(hash, location));
    }

    /// The slot that leads to a location; -1 if none does. No row is read.
    long slotOf(long hash, long location) {
        long wanted = entry(hash, location);
        long slot = home(hash);
        for (long found = get(slot); found != wanted; found = get(slot)) {
            if (found == 0) {
                return -1;
            }
            slot = next(slot);
        }
        return slot;
    }

    /// Puts a location into an empty slot.
    public void add(long slot, long hash, long location) {
        set(slot, hash, location);
        count++;
    }

    /// Empties a slot: entries that are behind their homes because of it move up.
    void remove(long slot) {
        long hole = slot;
        long at = next(hole);
        for (long entry = get(at); entry != 0; at = next(at), entry = get(at)) {
            long home = (entry >>> LOCATION_BITS) * size >>> HASH_BITS;
            boolean stays = hole <= at ? hole < home && home <= at : hole < home || home <= at;
            if (!stays) {
                slots.setAtIndex(ValueLayout.JAVA_LONG, hole, entry);
                hole = at;
            }
        }
        slots.setAtIndex(ValueLayout.JAVA_LONG, hole, 0);
        count--;
    }

    /// Grows by half.
    public void grow() {
        long newSize = size + size / 2;
        Arena newArena = Arena.ofShared();
        MemorySegment newSlots = newArena.allocate(newSize * 8, 64);
        for (long i = 0; i < size; i++) {
            long entry = get(i);
            if (entry != 0) {
                long slot = (entry >>> LOCATION_BITS) * newSize >>> HASH_BITS;
                while (newSlots.getAtIndex(ValueLayout.JAVA_LONG, slot) != 0) {
                    slot = slot + 1 == newSize ? 0 : slot + 1;
                }
                newSlots.setAtIndex(ValueLayout.JAVA_LONG, slot, entry);
            }
        }
        arena.close();
        arena = newArena;
        slots = newSlots;
        size = newSize;
        countMax = (long) (size * LOAD_MAX);
    }

    long size() {
        return size;
    }

    /// Frees the memory.
    public void close() {
        arena.close();
    }
}
