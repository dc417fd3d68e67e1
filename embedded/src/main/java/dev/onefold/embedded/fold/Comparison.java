package dev.onefold.embedded.fold;

import dev.onefold.core.Verification;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Rollup;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/// Compares totals, leaf by leaf and part by part.
public final class Comparison {
    private static final Tuple ALL = Tuple.of(List.of());

    private Comparison() {}

    /// The totals that are served against what the rows come to.
    public static Verification ofRows(State state, Workers workers) {
        List<Verification.Difference> differences = new ArrayList<>();
        long groups = 0;
        for (int rollup = 0; rollup < state.groups.length; rollup++) {
            groups += compare(
                    state.pipeline.rollups().get(rollup),
                    state.served(rollup, ALL).leaves(),
                    state.recomputed(rollup, workers).leaves(),
                    differences);
        }
        return new Verification(state.rows() + " rows", groups, differences);
    }

    /// The totals that are served against those of another state of the same definition.
    public static Verification of(State served, State recomputed, String truth) {
        List<Verification.Difference> differences = new ArrayList<>();
        long groups = 0;
        for (int rollup = 0; rollup < served.groups.length; rollup++) {
            groups += compare(
                    served.pipeline.rollups().get(rollup),
                    served.served(rollup, ALL).leaves(),
                    recomputed.served(rollup, ALL).leaves(),
                    differences);
        }
        return new Verification(truth, groups, differences);
    }

    private static long compare(
            Rollup rollup,
            Map<Tuple, Aggregate> served,
            Map<Tuple, Aggregate> recomputed,
            List<Verification.Difference> differences) {
        Map<Tuple, Aggregate> mine = withoutEmpty(served);
        Map<Tuple, Aggregate> theirs = withoutEmpty(recomputed);
        TreeSet<Tuple> leaves = new TreeSet<>(mine.keySet());
        leaves.addAll(theirs.keySet());
        Aggregate nothing = new Aggregate(rollup.measures());
        for (Tuple leaf : leaves) {
            Aggregate one = mine.getOrDefault(leaf, nothing);
            Aggregate other = theirs.getOrDefault(leaf, nothing);
            if (!one.isSame(other)) {
                differences.add(
                        new Verification.Difference(rollup.name(), leaf.parts(), one.answers(), other.answers()));
            }
        }
        return leaves.size();
    }

    private static Map<Tuple, Aggregate> withoutEmpty(Map<Tuple, Aggregate> leaves) {
        Map<Tuple, Aggregate> some = new TreeMap<>();
        leaves.forEach((leaf, aggregate) -> {
            if (!aggregate.isSame(new Aggregate(aggregate.measures()))) {
                some.put(leaf, aggregate);
            }
        });
        return some;
    }
}
