package dev.onefold.embedded.fold;

import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Compares the totals of states.
public final class Comparison {
    /// What cannot be compared here.
    public static final Map<Capability, String> MISSING =
            Map.of(Capability.SAMPLE, "A sample of groups is for totals on AWS; here all groups are recomputed.");

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

    /// Requires that a pipeline has the rows that a comparison wants.
    public static void requireRows(Pipeline pipeline, Truth.Rows rows) {
        if (rows.oneIn() > 1) {
            throw new IllegalArgumentException(MISSING.get(Capability.SAMPLE));
        }
        if (pipeline.input().identity() instanceof Identity.ByPlace) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " keeps no rows to recompute from: its records count by their place. Verify from its sources"
                    + " (--from-sources).");
        }
    }
}
