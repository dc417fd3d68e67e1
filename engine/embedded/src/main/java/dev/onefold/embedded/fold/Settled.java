package dev.onefold.embedded.fold;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.embedded.disk.Entry;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Decisions of people about records: an accepted edit takes the place of its record, and a purge removes its
/// record. When totals are recomputed from their sources, everything else is decided as if it came for the first
/// time. An event that the user's function had met when it was purged keeps its version: without it, another copy
/// of the event, or an event that has lost against it, would be folded in its place. A purged record takes 8
/// bytes of heap. An edit takes its own bytes and about 200 more.
public final class Settled {
    static final Settled NOTHING = new Settled();

    private static final long[] NONE = {};
    private static final long EDIT_BYTES = 200; // Of heap, about, beside its own.

    private final Map<String, long[]> bySource = new HashMap<>(); // Offset, times 4, and the fate.
    private final Map<String, Integer> sizes = new HashMap<>();
    private final Map<String, Map<Long, Edit>> edits = new HashMap<>(); // By source and offset.
    private final Map<String, Map<Long, Long>> readMs = new HashMap<>(); // Of waiting letters, by source and offset.
    private long editBytes;
    private boolean isReadAgain;

    /// The fate of a record. All but the last have a number of two bits.
    public enum Fate {
        /// Purged, after it had lost a conflict among the events of a function.
        LOST,
        PURGED,

        /// Purged, after the function had failed at it.
        FAILED,

        /// Nobody has purged it.
        OPEN;

        /// Whether the function had met the event: it has its place among the others.
        public boolean isMet() {
            return this == LOST || this == FAILED;
        }
    }

    /// The replacement of a record: bytes from a person, or an earlier record.
    record Edit(byte[] bytes, RecordKind kind) {}

    /// Notes an edit, which takes the place of an earlier one.
    public void edit(Place place, byte[] edit, RecordKind kind) {
        Edit before =
                edits.computeIfAbsent(place.source(), _ -> new HashMap<>()).put(place.offset(), new Edit(edit, kind));
        editBytes += edit.length + (before == null ? EDIT_BYTES : -before.bytes.length);
    }

    /// The replacement of a record; `null` if it has none.
    @Nullable
    Edit edit(String source, long offset) {
        Map<Long, Edit> ofSource = edits.get(source);
        return ofSource == null ? null : ofSource.get(offset);
    }

    boolean hasEdits() {
        return !edits.isEmpty();
    }

    /// Notes that the definition has read all records before: one without a letter was not too new.
    public void readAgain() {
        isReadAgain = true;
    }

    /// Notes when a record with a letter was read.
    public void readAgain(DeadLetter letter) {
        readMs.computeIfAbsent(letter.place().source(), _ -> new HashMap<>())
                .put(letter.place().offset(), letter.at().toEpochMilli());
    }

    boolean isReadAgain() {
        return isReadAgain;
    }

    /// When a record was first read, if a letter says so.
    long readMs(String source, long offset) {
        Map<Long, Long> ofSource = readMs.get(source);
        return ofSource == null ? Chunk.NO_ARRIVAL : ofSource.getOrDefault(offset, Chunk.NO_ARRIVAL);
    }

    /// Bytes of heap that the edits take.
    public long editBytes() {
        return editBytes;
    }

    /// Notes a record that was purged.
    @SuppressWarnings("EnumOrdinal") // In memory only.
    public void purge(Place place, Entry.Settles settles) {
        Fate fate = switch (settles) {
            case FAILED -> Fate.FAILED;
            case LOST -> Fate.LOST;
            case NOTHING, REJECTED, LOST_ROW -> Fate.PURGED;
        };
        long[] places = bySource.getOrDefault(place.source(), NONE);
        int size = sizes.merge(place.source(), 1, Integer::sum);
        if (size > places.length) {
            places = Arrays.copyOf(places, Math.max(16, 2 * places.length));
            bySource.put(place.source(), places);
        }
        places[size - 1] = place.offset() << 2 | fate.ordinal();
    }

    /// Ends the notes. Nothing is added any more.
    public Settled sorted() {
        bySource.replaceAll((source, places) -> {
            long[] sorted = Arrays.copyOf(places, sizes.getOrDefault(source, 0));
            Arrays.sort(sorted);
            return sorted;
        });
        return this;
    }

    /// Whether there are no decisions.
    boolean isEmpty() {
        return bySource.isEmpty() && edits.isEmpty();
    }

    /// The settled places of a source, for [#fate].
    long[] of(String source) {
        return bySource.getOrDefault(source, NONE);
    }

    /// The fate of the record at a place.
    public Fate fate(Place place) {
        return fate(of(place.source()), place.offset());
    }

    static Fate fate(long[] places, long offset) {
        if (isIn(places, offset, Fate.FAILED)) {
            return Fate.FAILED;
        }
        if (isIn(places, offset, Fate.LOST)) {
            return Fate.LOST;
        }
        return isIn(places, offset, Fate.PURGED) ? Fate.PURGED : Fate.OPEN;
    }

    @SuppressWarnings("EnumOrdinal")
    private static boolean isIn(long[] places, long offset, Fate fate) {
        return Arrays.binarySearch(places, offset << 2 | fate.ordinal()) >= 0;
    }
}
