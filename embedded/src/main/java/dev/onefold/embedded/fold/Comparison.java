package dev.onefold.embedded.fold;

import dev.onefold.core.Verification;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.query.Totals;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/// Compares the totals of states.
public final class Comparison {
    private static final Tuple ALL = Tuple.of(List.of());

    private Comparison() {}

    /// The totals that are served against what the rows come to.
    public static Verification ofRows(State state, Workers workers) {
        return Verification.of(
                all(state, rollup -> state.served(rollup, ALL)),
                all(state, rollup -> state.recomputed(rollup, workers)),
                state.rows() + " rows");
    }

    /// The totals that are served against those of another state of the same definition.
    public static Verification of(State served, State recomputed, String truth) {
        return Verification.of(
                all(served, rollup -> served.served(rollup, ALL)),
                all(served, rollup -> recomputed.served(rollup, ALL)),
                truth);
    }

    private static List<Totals> all(State state, IntFunction<Totals> totals) {
        return IntStream.range(0, state.groups.length).mapToObj(totals).toList();
    }
}
