package dev.onefold.aws.reduce;

import dev.onefold.aws.item.DeltaId;
import dev.onefold.aws.item.DeltaItem;
import dev.onefold.core.map.Delta;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/// Whole deltas that one transaction can take.
///
/// @param deltas to delete
/// @param sum what they come to, per view
/// @param blockers deltas that others wait for and that were not among those read; each is in another lane, or gone
record Picked(List<DeltaItem> deltas, SortedMap<Integer, Delta> sum, Set<DeltaId> blockers) {
    private static final int ITEMS_MAX = 99; // Of the hundred, one is the lane's header.
    private static final long BYTES_MAX = 2_000_000;

    /// Picks in the order of ids, again and again until no more fits: one that retracts comes with or after what it
    /// retracts, and ids are only about in the order of time.
    ///
    /// @param gone deltas that are known not to be in the table any more
    /// @param deltasMax how many at most
    static Picked of(List<DeltaItem> read, Set<DeltaId> gone, int deltasMax) {
        Set<DeltaId> waiting = new HashSet<>();
        read.forEach(delta -> waiting.add(delta.id()));
        List<DeltaItem> left = new ArrayList<>(read);
        List<DeltaItem> picked = new ArrayList<>();
        Set<DeltaId> blockers = new HashSet<>();
        SortedMap<Integer, Delta> sum = new TreeMap<>();
        boolean more = true;
        while (more) {
            more = false;
            for (DeltaItem delta : List.copyOf(left)) {
                Set<DeltaId> unmet = new HashSet<>(delta.after());
                picked.forEach(done -> unmet.remove(done.id()));
                unmet.removeAll(gone);
                if (unmet.isEmpty()) {
                    SortedMap<Integer, Delta> together = plus(sum, delta);
                    int items = picked.size()
                            + 1
                            + together.values().stream().mapToInt(Delta::items).sum();
                    long bytes =
                            together.values().stream().mapToLong(Delta::bytes).sum();
                    boolean fits = picked.size() < deltasMax && items <= ITEMS_MAX && bytes <= BYTES_MAX;
                    if (fits || picked.isEmpty()) {
                        sum = together;
                        picked.add(delta);
                        left.remove(delta);
                        more = true;
                    }
                } else {
                    unmet.removeAll(waiting);
                    blockers.addAll(unmet);
                }
            }
        }
        return new Picked(picked, sum, blockers);
    }

    private static SortedMap<Integer, Delta> plus(SortedMap<Integer, Delta> sum, DeltaItem delta) {
        TreeMap<Integer, Delta> together = new TreeMap<>(sum);
        delta.views().forEach((view, part) -> together.merge(view, part, Delta::plus));
        return together;
    }
}
