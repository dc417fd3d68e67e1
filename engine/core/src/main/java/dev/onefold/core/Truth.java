package dev.onefold.core;

import java.util.Objects;

/// The data from which totals are recomputed.
public sealed interface Truth {
    /// The rows.
    Truth ROWS = new Rows(1);

    /// Requires that a truth is given.
    static Truth given(Truth truth) {
        return Objects.requireNonNull(truth, "What the totals are recomputed from is null");
    }

    /// The rows.
    ///
    /// @param oneIn the sample: one leaf group in this number, other groups each time; 1 and more, 1 is all
    ///     groups
    record Rows(int oneIn) implements Truth {
        public Rows {
            if (oneIn < 1) {
                throw new IllegalArgumentException("The sample is one group in " + oneIn + "; it is 1 or more");
            }
        }
    }

    /// The sources, read again, and the journal if it was kept. Intake waits meanwhile, answers do not.
    record Sources() implements Truth {}
}
