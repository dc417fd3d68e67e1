package dev.onefold.core;

import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Groups;
import dev.onefold.core.process.KeyDifference;
import dev.onefold.core.totals.Leaves;
import dev.onefold.core.totals.Totals;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Totals recomputed from the truth and compared with those that are served.
///
/// @param truth the data that they were recomputed from, such as "7,000,000 rows"
/// @param groups how many groups were compared
/// @param differences each measure of each leaf group that differs
/// @param keys number of keys whose kept events were folded again
/// @param keyDifferences the differences of these keys
public record Verification(
        String truth, long groups, List<Difference> differences, long keys, List<KeyDifference> keyDifferences) {
    public Verification {
        differences = List.copyOf(differences);
        keyDifferences = List.copyOf(keyDifferences);
    }

    /// Of totals alone.
    public Verification(String truth, long groups, List<Difference> differences) {
        this(truth, groups, differences, 0, List.of());
    }

    /// The same, with keys that were folded again.
    public Verification with(long keysFolded, List<KeyDifference> found) {
        return new Verification(truth, groups, differences, keysFolded, found);
    }

    /// Compares totals leaf by leaf and part by part.
    ///
    /// @param served of each roll-up
    /// @param recomputed of the same roll-ups
    public static Verification of(List<Totals> served, List<Totals> recomputed, String truth) {
        List<Difference> differences = new ArrayList<>();
        long groups = 0;
        for (int i = 0; i < served.size(); i++) {
            groups += compare(served.get(i), recomputed.get(i), differences);
        }
        return new Verification(truth, groups, differences);
    }

    private static long compare(Totals served, Totals recomputed, List<Difference> differences) {
        Map<Tuple, Aggregate> mine = withoutEmpty(served);
        Map<Tuple, Aggregate> theirs = withoutEmpty(recomputed);
        TreeSet<Tuple> leaves = new TreeSet<>(mine.keySet());
        leaves.addAll(theirs.keySet());
        Aggregate nothing = served.empty();
        for (Tuple leaf : leaves) {
            Aggregate one = mine.getOrDefault(leaf, nothing);
            Aggregate other = theirs.getOrDefault(leaf, nothing);
            if (!one.isSame(other)) {
                differences.add(new Difference(
                        served.rollup().name(), leaf.parts(), served.figures(one), served.figures(other)));
            }
        }
        return leaves.size();
    }

    /// Compares leaves one by one and part by part; returns their number. Of other groups those that are shown
    /// are compared.
    ///
    /// @param differences receives those that are found
    public static long compare(Leaves served, Leaves recomputed, List<Difference> differences) {
        Groups mine = served.groups();
        Groups theirs = recomputed.groups();
        long groups = 0;
        int[] order = mine.order();
        for (int i = mine == theirs ? 0 : served.shownFrom(order); i < order.length; i++) {
            int leaf = order[i];
            int other = mine == theirs ? leaf : theirs.find(mine.tuple(leaf));
            if (served.isNothing(leaf) && recomputed.isNothing(other)) {
                continue;
            }
            groups++;
            if (!served.isSame(leaf, recomputed, other)) {
                differences.add(new Difference(
                        served.rollup().name(),
                        mine.tuple(leaf).parts(),
                        served.answers(leaf),
                        recomputed.answers(other)));
            }
        }
        int[] others = mine == theirs ? new int[0] : theirs.order();
        for (int i = mine == theirs ? 0 : recomputed.shownFrom(others); i < others.length; i++) {
            int other = others[i];
            if (mine.find(theirs.tuple(other)) < 0 && !recomputed.isNothing(other)) {
                groups++;
                differences.add(new Difference(
                        served.rollup().name(),
                        theirs.tuple(other).parts(),
                        served.answers(-1),
                        recomputed.answers(other)));
            }
        }
        return groups;
    }

    private static Map<Tuple, Aggregate> withoutEmpty(Totals totals) {
        Map<Tuple, Aggregate> some = new TreeMap<>();
        Aggregate nothing = totals.empty();
        totals.leaves().forEach((leaf, aggregate) -> {
            if (!aggregate.isSame(nothing)) {
                some.put(leaf, aggregate);
            }
        });
        return some;
    }

    /// Whether all is equal.
    public boolean isEqual() {
        return differences.isEmpty() && keyDifferences.isEmpty();
    }

    /// A group whose served values differ from the truth; the values are in the order of the figures.
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
