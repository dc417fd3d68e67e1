package dev.onefold.embedded.fold;

import dev.onefold.core.Verification;
import java.util.ArrayList;
import java.util.List;

/// Compares the totals of states.
public final class Comparison {
    private Comparison() {}

    /// The totals that are served against what the rows come to.
    public static Verification ofRows(State state, Workers workers) {
        List<Verification.Difference> differences = new ArrayList<>();
        long[] groups = new long[1];
        state.recompute(
                workers,
                (rollup, recomputed) ->
                        groups[0] += Verification.compare(state.served(rollup), recomputed, differences));
        return new Verification(state.rows() + " rows", groups[0], differences);
    }

    /// The totals that are served against those of another state of the same definition.
    public static Verification of(State served, State recomputed, String truth) {
        List<Verification.Difference> differences = new ArrayList<>();
        long groups = 0;
        for (int rollup = 0; rollup < served.groups.length; rollup++) {
            groups += Verification.compare(served.served(rollup), recomputed.served(rollup), differences);
        }
        return new Verification(truth, groups, differences);
    }
}
