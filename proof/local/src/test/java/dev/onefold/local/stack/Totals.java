package dev.onefold.local.stack;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/// Totals made of plain maps, in the order of an answer.
final class Totals {
    private Totals() {}

    /// What one key contributes.
    ///
    /// @param group its leaf group
    /// @param named what is counted once in each group
    record Part(List<String> group, BigDecimal value, String named) {}

    /// Sum of the values, parts, greatest value and names of each group.
    static SortedMap<List<String>, List<BigDecimal>> of(List<Part> parts) {
        SortedMap<List<String>, List<Part>> groups =
                new TreeMap<>((a, b) -> Arrays.compare(a.toArray(String[]::new), b.toArray(String[]::new)));
        for (Part part : parts) {
            for (int depth = 0; depth <= part.group().size(); depth++) {
                groups.computeIfAbsent(part.group().subList(0, depth), _ -> new ArrayList<>())
                        .add(part);
            }
        }
        SortedMap<List<String>, List<BigDecimal>> totals = new TreeMap<>(groups.comparator());
        groups.forEach((group, its) -> totals.put(
                group,
                List.of(
                        its.stream().map(Part::value).reduce(BigDecimal.ZERO, BigDecimal::add),
                        BigDecimal.valueOf(its.size()),
                        its.stream().map(Part::value).reduce(BigDecimal::max).orElseThrow(),
                        BigDecimal.valueOf(
                                its.stream().map(Part::named).distinct().count()))));
        return totals;
    }
}
