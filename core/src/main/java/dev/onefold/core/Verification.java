package dev.onefold.core;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Totals recomputed from the truth and compared with those that are served.
///
/// @param truth what they were recomputed from, such as "7,000,000 rows"
/// @param groups how many groups were compared
/// @param differences each measure of each leaf group that differs
public record Verification(String truth, long groups, List<Difference> differences) {
    public Verification {
        differences = List.copyOf(differences);
    }

    /// Whether all is equal.
    public boolean isEqual() {
        return differences.isEmpty();
    }

    /// A group whose served values differ from what the truth says; the values are in the order of the measures.
    public record Difference(
            String rollup,
            List<String> group,
            List<@Nullable BigDecimal> served,
            List<@Nullable BigDecimal> recomputed) {
        public Difference {
            group = List.copyOf(group);
            served = Collections.unmodifiableList(new ArrayList<>(served));
            recomputed = Collections.unmodifiableList(new ArrayList<>(recomputed));
        }
    }
}
