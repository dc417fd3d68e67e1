package dev.onefold.embedded.fold;

import dev.onefold.core.DeadLetter.Place;
import dev.onefold.embedded.disk.Entry;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// The records that a person has settled: a redriven record stands in the place of the first one, or the record was
/// purged. When totals are computed from their sources again, the first records count no more. An event that the user's
/// function has met is no different in that, but it keeps its version: without it another copy of it, or an event that
/// has lost against it, would be folded in its place. Takes 8 bytes of heap for each.
public final class Settled {
    static final long[] NONE = {};

    private final Map<String, long[]> bySource = new HashMap<>(); // Offset, times 4, and the fate.
    private final Map<String, Integer> sizes = new HashMap<>();

    /// What has become of a record. All but the last have a number of two bits.
    public enum Fate {
        /// Purged or redriven, after it had lost a conflict among the events of a function.
        LOST,
        REDRIVEN,
        PURGED,

        /// Purged or redriven, after the function had failed at it.
        FAILED,

        /// Nobody has settled it.
        OPEN;

        /// Whether the function had met the event: it has its place among the others.
        public boolean isMet() {
            return this == LOST || this == FAILED;
        }
    }

    /// Notes what has become of a record.
    @SuppressWarnings("EnumOrdinal") // In memory only.
    public void add(Place place, Entry.Settles settles, boolean purged) {
        if (settles == Entry.Settles.NOTHING) {
            return;
        }
        Fate fate = switch (settles) {
            case FAILED -> Fate.FAILED;
            case LOST -> Fate.LOST;
            case NOTHING, REJECTED, LOST_ROW -> purged ? Fate.PURGED : Fate.REDRIVEN;
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

    /// Whether nobody has settled anything.
    boolean isEmpty() {
        return bySource.isEmpty();
    }

    /// The settled places of a source, for [#fate].
    long[] of(String source) {
        return bySource.getOrDefault(source, NONE);
    }

    /// What has become of the record at a place.
    public Fate fate(Place place) {
        return fate(of(place.source()), place.offset());
    }

    /// How often the record at a place was redriven with effect; 0 where each time counts.
    @SuppressWarnings("EnumOrdinal")
    public int times(Place place) {
        long[] places = of(place.source());
        if (fate(places, place.offset()).isMet()) {
            return 0;
        }
        long redriven = place.offset() << 2 | Fate.REDRIVEN.ordinal();
        int found = Arrays.binarySearch(places, redriven);
        int times = found < 0 ? 0 : 1;
        for (int at = found - 1; at >= 0 && places[at] == redriven; at--) {
            times++;
        }
        for (int at = found + 1; found >= 0 && at < places.length && places[at] == redriven; at++) {
            times++;
        }
        return times;
    }

    static Fate fate(long[] places, long offset) {
        if (isIn(places, offset, Fate.FAILED)) {
            return Fate.FAILED;
        }
        if (isIn(places, offset, Fate.LOST)) {
            return Fate.LOST;
        }
        if (isIn(places, offset, Fate.PURGED)) {
            return Fate.PURGED; // Nothing comes behind a purge: the letter is gone.
        }
        return isIn(places, offset, Fate.REDRIVEN) ? Fate.REDRIVEN : Fate.OPEN;
    }

    @SuppressWarnings("EnumOrdinal")
    private static boolean isIn(long[] places, long offset, Fate fate) {
        return Arrays.binarySearch(places, offset << 2 | fate.ordinal()) >= 0;
    }
}
