package dev.onefold.embedded.letters;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.embedded.rows.Memory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/// Finds letters by the place of their records. Guarded by the engine's lock.
final class LetterPlaces implements AutoCloseable {
    private final LetterSlots slots;
    private final LongFunction<DeadLetter> inSlot;
    private final LetterIndex index;

    /// @param inSlot reads the letter of a slot
    LetterPlaces(Memory memory, LetterSlots slots, LongFunction<DeadLetter> inSlot) {
        this.slots = slots;
        this.inSlot = inSlot;
        index = new LetterIndex(memory, slots);
        for (long slot = 0; slot < slots.size(); slot++) {
            if (slots.position(slot) != 0) {
                add(slot);
            }
        }
    }

    void add(long slot) {
        index.add(hash(inSlot.apply(slot).place()), slot);
    }

    /// The ids of the letters at a place, in their order.
    List<Long> at(Place place) {
        List<Long> ids = new ArrayList<>();
        index.forEach(hash(place), slot -> {
            Place other = inSlot.apply(slot).place();
            if (other.source().equals(place.source()) && other.offset() == place.offset()) {
                ids.add(slots.id(slot));
            }
        });
        ids.sort(Long::compare);
        return ids;
    }

    private static long hash(Place place) {
        byte[] text = (place.offset() + " " + place.source()).getBytes(StandardCharsets.UTF_8);
        return new RecordIdentity(text, null).keyHash();
    }

    @Override
    public void close() {
        index.clear();
    }
}
