package dev.onefold.aws.state;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Row;
import dev.onefold.core.reduce.DeltaId;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Transition;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/// What a record wants its key's row to be.
///
/// @param served number of the view that decides conflicts
/// @param views by number, what the record contributes to each
/// @param refused by number, what is to be kept of it for each view that cannot take it
record Candidate(
        byte[] key,
        byte[] version,
        int served,
        SortedMap<Integer, Contribution> views,
        SortedMap<Integer, Contribution> refused,
        Arrival arrival) {
    Candidate {
        views = new TreeMap<>(views);
        refused = new TreeMap<>(refused);
    }

    Contribution contribution() {
        return java.util.Objects.requireNonNull(views.get(served));
    }

    /// What this record does to a row that has another one's version and contributions.
    Transition on(byte[] otherVersion, SortedMap<Integer, Contribution> others) {
        return Transition.of(Arrays.compareUnsigned(version, otherVersion), compareViews(others) == 0);
    }

    /// Whether this record's contributions are above the others': by the served view first, then by the others that
    /// both have, in the order of their numbers.
    int compareViews(SortedMap<Integer, Contribution> others) {
        Contribution other = others.get(served);
        int order = other == null ? 1 : contribution().compareTo(other);
        Iterator<Map.Entry<Integer, Contribution>> mine = views.entrySet().iterator();
        while (order == 0 && mine.hasNext()) {
            Map.Entry<Integer, Contribution> view = mine.next();
            Contribution theirs = others.get(view.getKey());
            order = theirs == null ? 0 : view.getValue().compareTo(theirs);
        }
        return order;
    }

    /// Where the record of a row came from.
    ///
    /// @param read what is left of it
    static Arrival arrival(Row row, byte[] read) {
        String[] place = row.place().split(":", -1);
        return new Arrival(
                String.join(":", Arrays.copyOf(place, place.length - 2)),
                place[place.length - 2],
                Long.parseLong(place[place.length - 1]),
                read);
    }

    Row row(DeltaId delta) {
        return new Row(key, version, delta, place(), views, refused);
    }

    String place() {
        return arrival.shard() + ":" + arrival.sequence() + ":" + arrival.subSequence();
    }
}
