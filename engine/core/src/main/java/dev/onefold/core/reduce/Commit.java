package dev.onefold.core.reduce;

import dev.onefold.core.map.ViewDeltas;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Whole deltas that one atomic step adds to the totals.
///
/// @param deltas in the order in which they were taken; each comes after or with those that it retracts
/// @param sum of all of them
/// @param blockers deltas that others wait for and that were not among those read
public record Commit(List<PendingDelta> deltas, ViewDeltas sum, Set<DeltaId> blockers) {
    public Commit {
        deltas = List.copyOf(deltas);
        blockers = Collections.unmodifiableSet(blockers); // In an order that repeats.
    }

    /// The limits of one atomic step. A single delta is taken even if it exceeds them.
    ///
    /// @param deltasMax number of deltas
    /// @param itemsMax deltas to delete and items of the totals to add to, together
    /// @param bytesMax bytes of the sum
    public record Limits(int deltasMax, int itemsMax, long bytesMax) {}

    /// Takes deltas in the order of their ids, in as many passes as are needed until no more fits: ids sort
    /// only roughly by time, so a delta that retracts may come before the one that it retracts.
    ///
    /// @param waiting deltas that were read, in the order of their ids
    /// @param gone deltas that are known to be in the totals
    public static Commit of(List<PendingDelta> waiting, Set<DeltaId> gone, Limits limits) {
        Set<DeltaId> read = new HashSet<>();
        waiting.forEach(delta -> read.add(delta.id()));
        Set<DeltaId> met = new HashSet<>();
        List<PendingDelta> left = new ArrayList<>(waiting);
        List<PendingDelta> taken = new ArrayList<>();
        Set<DeltaId> blockers = new HashSet<>();
        ViewDeltas sum = ViewDeltas.NOTHING;
        boolean more = true;
        while (more) {
            more = false;
            for (PendingDelta delta : List.copyOf(left)) {
                Set<DeltaId> unmet = new HashSet<>(delta.after());
                unmet.removeIf(id -> met.contains(id) || gone.contains(id));
                if (unmet.isEmpty()) {
                    ViewDeltas together = sum.plus(delta.deltas());
                    if (taken.isEmpty() || fits(taken.size() + 1, together, limits)) {
                        sum = together;
                        taken.add(delta);
                        met.add(delta.id());
                        left.remove(delta);
                        more = true;
                    }
                } else {
                    unmet.removeAll(read);
                    blockers.addAll(unmet);
                }
            }
        }
        return new Commit(taken, sum, blockers);
    }

    private static boolean fits(int deltas, ViewDeltas sum, Limits limits) {
        return deltas <= limits.deltasMax && deltas + sum.items() <= limits.itemsMax && sum.bytes() <= limits.bytesMax;
    }

    /// A delta that is not in the totals yet.
    ///
    /// @param after deltas that must be in the totals before this one or together with it, because this one
    ///     retracts what they add
    public record PendingDelta(DeltaId id, Set<DeltaId> after, ViewDeltas deltas) {
        public PendingDelta {
            after = Set.copyOf(after);
        }
    }
}
