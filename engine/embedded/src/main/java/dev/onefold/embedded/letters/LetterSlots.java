package dev.onefold.embedded.letters;

import dev.onefold.embedded.disk.Scale;
import dev.onefold.embedded.rows.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/// Where each letter is: 24 bytes a letter, off the heap, in the order of ids. Guarded by the engine's lock.
///
///     slot = id 8 (doubled, and 1 more if it has lost a conflict), position 8, tag 8
///
/// A position above 0 is a frame of the log: its offset and its length in units of 32 bytes, rounded up. One
/// below 0 is the number of a change that no checkpoint has written yet. 0 is a letter that is gone; its slot
/// is used for nothing else, and leaves when [#compact] is called.
final class LetterSlots implements AutoCloseable {
    static final int SLOT_BYTES = 24;

    private static final int CHUNK_SLOTS = Scale.of(16 << 10);
    private static final long CHUNK_BYTES = (long) CHUNK_SLOTS * SLOT_BYTES;
    private static final int LENGTH_BITS = 20;
    private static final int LENGTH_UNIT = 32;
    private static final long LENGTH_MAX = ((1L << LENGTH_BITS) - 1) * LENGTH_UNIT;

    private final Memory memory;
    private final List<Arena> arenas = new ArrayList<>();
    private final List<MemorySegment> chunks = new ArrayList<>();
    private long size;
    private long live;

    LetterSlots(Memory memory) {
        this.memory = memory;
    }

    static long packed(long at, long length) {
        if (length > LENGTH_MAX) {
            throw new IllegalArgumentException("A letter takes " + length + " bytes, at most " + LENGTH_MAX + " fit");
        }
        return at << LENGTH_BITS | (length + LENGTH_UNIT - 1) / LENGTH_UNIT;
    }

    static long at(long position) {
        return position >>> LENGTH_BITS;
    }

    /// About how many bytes of the log a letter takes.
    static long length(long position) {
        return (position & (1 << LENGTH_BITS) - 1) * LENGTH_UNIT;
    }

    /// Slots, those of letters that are gone included.
    long size() {
        return size;
    }

    /// Letters that are there.
    long live() {
        return live;
    }

    /// Bytes that this many more need.
    long bytesFor(long more) {
        long chunksNeeded = (size + more + CHUNK_SLOTS - 1) / CHUNK_SLOTS;
        return Math.max(0, chunksNeeded - chunks.size()) * CHUNK_BYTES;
    }

    private long get(long slot, int field) {
        return chunks.get((int) (slot / CHUNK_SLOTS)).getAtIndex(ValueLayout.JAVA_LONG, slot % CHUNK_SLOTS * 3 + field);
    }

    private void set(long slot, int field, long value) {
        chunks.get((int) (slot / CHUNK_SLOTS)).setAtIndex(ValueLayout.JAVA_LONG, slot % CHUNK_SLOTS * 3 + field, value);
    }

    long id(long slot) {
        return get(slot, 0) >>> 1;
    }

    boolean isConflict(long slot) {
        return (get(slot, 0) & 1) != 0;
    }

    long position(long slot) {
        return get(slot, 1);
    }

    long tag(long slot) {
        return get(slot, 2);
    }

    /// Adds a letter, which has the greatest id so far.
    long add(long id, boolean isConflict, long position, long tag) {
        if (size == (long) chunks.size() * CHUNK_SLOTS) {
            Arena arena = Arena.ofShared();
            memory.take(CHUNK_BYTES);
            arenas.add(arena);
            chunks.add(arena.allocate(CHUNK_BYTES, 8));
        }
        long slot = size++;
        set(slot, 1, 0);
        set(slot, id, isConflict, position, tag);
        return slot;
    }

    /// Replaces the content of a slot.
    void set(long slot, long id, boolean isConflict, long position, long tag) {
        set(slot, 0, id << 1 | (isConflict ? 1 : 0));
        position(slot, position);
        set(slot, 2, tag);
    }

    /// Moves a letter; to 0: removes it.
    void position(long slot, long position) {
        live += (position == 0 ? 0 : 1) - (position(slot) == 0 ? 0 : 1);
        set(slot, 1, position);
    }

    /// The slot of a letter; -1 if there is none.
    long find(long id) {
        long slot = from(id);
        return slot < size && id(slot) == id && position(slot) != 0 ? slot : -1;
    }

    /// The first slot of an id that is not below this one.
    long from(long id) {
        long low = 0;
        long high = size;
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (id(middle) < id) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /// Whether most slots are of letters that are gone.
    boolean isSparse() {
        return size > 2L * CHUNK_SLOTS && live < size / 2;
    }

    /// Drops the slots of letters that are gone. The others get other numbers.
    void compact() {
        long to = 0;
        for (long from = 0; from < size; from++) {
            if (position(from) != 0) {
                for (int field = 0; field < 3; field++) {
                    set(to, field, get(from, field));
                }
                to++;
            }
        }
        size = to;
        while ((long) (chunks.size() - 1) * CHUNK_SLOTS >= size && !chunks.isEmpty()) {
            chunks.removeLast();
            arenas.removeLast().close();
            memory.give(CHUNK_BYTES);
        }
    }

    /// A copy of those that are there.
    LetterSlots copy() {
        LetterSlots copy = new LetterSlots(memory);
        for (long slot = 0; slot < size; slot++) {
            if (position(slot) != 0) {
                copy.add(id(slot), isConflict(slot), position(slot), 0);
            }
        }
        return copy;
    }

    @Override
    public void close() {
        arenas.forEach(Arena::close);
        memory.give(CHUNK_BYTES * arenas.size());
        arenas.clear();
        chunks.clear();
        size = 0;
        live = 0;
    }
}
