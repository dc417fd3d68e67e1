package dev.onefold.embedded.fold;

import dev.onefold.core.DeadLetter.Place;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// The records that a person has settled: a redriven record stands in the place of the first one, or the record was
/// purged. When totals are computed from their sources again, the first records count no more. Takes 8 bytes of heap
/// for each.
public final class Settled {
    private static final long[] NONE = {};

    private final Map<String, long[]> bySource = new HashMap<>(); // Offset, doubled, and 1 more if it was purged.
    private final Map<String, Integer> sizes = new HashMap<>();

    /// What has become of a record.
    public enum Fate {
        /// Nobody has settled it.
        OPEN,
        REDRIVEN,
        PURGED
    }

    /// Notes a record that was redriven with effect, or purged.
    public void add(Place place, boolean purged) {
        long[] places = bySource.getOrDefault(place.source(), NONE);
        int size = sizes.merge(place.source(), 1, Integer::sum);
        if (size > places.length) {
            places = Arrays.copyOf(places, Math.max(16, 2 * places.length));
            bySource.put(place.source(), places);
        }
        places[size - 1] = place.offset() << 1 | (purged ? 1 : 0);
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

    /// The settled places of a source, for [#fate].
    long[] of(String source) {
        return bySource.getOrDefault(source, NONE);
    }

    /// What has become of the record at a place.
    public Fate fate(Place place) {
        return fate(of(place.source()), place.offset());
    }

    /// How often the record at a place was redriven with effect.
    public int times(Place place) {
        long[] places = of(place.source());
        long redriven = place.offset() << 1;
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
        if (isIn(places, offset << 1 | 1)) {
            return Fate.PURGED; // Nothing comes behind a purge: the letter is gone.
        }
        return isIn(places, offset << 1) ? Fate.REDRIVEN : Fate.OPEN;
    }

    private static boolean isIn(long[] places, long place) {
        return Arrays.binarySearch(places, place) >= 0;
    }
}
