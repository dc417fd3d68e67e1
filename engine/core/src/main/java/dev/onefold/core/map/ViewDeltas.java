package dev.onefold.core.map;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/// One delta per view: the effect of the same changes of rows on the totals of each definition. Immutable.
///
/// @param byView deltas by the view's number
public record ViewDeltas(SortedMap<Integer, Delta> byView) {
    /// The deltas that change nothing in any view.
    public static final ViewDeltas NOTHING = new ViewDeltas(new TreeMap<>());

    public ViewDeltas {
        byView = Collections.unmodifiableSortedMap(new TreeMap<>(byView));
    }

    /// Both together.
    public ViewDeltas plus(ViewDeltas other) {
        if (byView.isEmpty()) {
            return other;
        }
        TreeMap<Integer, Delta> both = new TreeMap<>(byView);
        other.byView.forEach((view, delta) -> both.merge(view, delta, Delta::plus));
        return new ViewDeltas(both);
    }

    /// The number of leaves and values that it touches, in all views.
    public int items() {
        return byView.values().stream().mapToInt(Delta::items).sum();
    }

    /// About how many bytes it has when it is written; never fewer than its texts have.
    public long bytes() {
        return byView.values().stream().mapToLong(Delta::bytes).sum();
    }
}
