package dev.onefold.embedded.letters;

import dev.onefold.embedded.rows.Index;
import dev.onefold.embedded.rows.Memory;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/// Finds slots by a hash of the letters in them. Slots of letters that are gone are passed over. Guarded by the
/// engine's lock.
final class LetterIndex {
    private final Memory memory;
    private final LetterSlots slots;
    private @Nullable Index index; // Made with the first entry: most pipelines have none.

    LetterIndex(Memory memory, LetterSlots slots) {
        this.memory = memory;
        this.slots = slots;
    }

    boolean isEmpty() {
        return index == null;
    }

    /// Bytes that this many more may need; the first ones need few.
    long bytesFor(long more) {
        Index open = index;
        return open == null || open.hasRoom(more) ? 0 : open.bytesAtGrowth();
    }

    void add(long hash, long slot) {
        Index open = index;
        if (open == null) {
            open = new Index();
            memory.take(open.bytes());
            index = open;
        }
        if (open.isFull()) {
            long before = open.bytes();
            memory.take(before / 2 * 3);
            open.grow();
            memory.give(before + before / 2 * 3 - open.bytes());
        }
        long at = open.home(hash);
        while (open.get(at) != 0) {
            at = open.next(at);
        }
        open.add(at, hash, slot);
    }

    /// The slot of the letter with this hash for which `isRight` is true; -1 if there is none.
    long find(long hash, LongPredicate isRight) {
        Index open = index;
        if (open == null) {
            return -1;
        }
        long at = open.home(hash);
        for (long entry = open.get(at); entry != 0; entry = open.get(at)) {
            long slot = Index.location(entry);
            if (Index.mayBe(entry, hash)
                    && slots.position(slot) != 0
                    && slots.tag(slot) == hash
                    && isRight.test(slot)) {
                return slot;
            }
            at = open.next(at);
        }
        return -1;
    }

    /// Visits the slots of all letters that may have this hash.
    void forEach(long hash, LongConsumer visitor) {
        Index open = index;
        if (open == null) {
            return;
        }
        long at = open.home(hash);
        for (long entry = open.get(at); entry != 0; entry = open.get(at)) {
            if (Index.mayBe(entry, hash) && slots.position(Index.location(entry)) != 0) {
                visitor.accept(Index.location(entry));
            }
            at = open.next(at);
        }
    }

    /// Forgets all, and frees the memory.
    void clear() {
        Index open = index;
        if (open != null) {
            memory.give(open.bytes());
            open.close();
            index = null;
        }
    }
}
