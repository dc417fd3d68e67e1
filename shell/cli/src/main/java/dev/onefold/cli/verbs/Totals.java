package dev.onefold.cli.verbs;

import dev.onefold.core.query.Answer;
import dev.onefold.load.TradeRiskTotals;
import java.math.BigDecimal;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// The totals of one roll-up, whoever has reckoned them up: the engine, or a producer that knows its own messages.
///
/// @param measures names, in the order of the values
/// @param groups parents before children, with a value of each measure; `null` where there is none
public record Totals(List<String> measures, SortedMap<List<String>, List<@Nullable BigDecimal>> groups) {
    private static final Comparator<List<String>> ORDER = Comparator.comparing(group -> String.join("\0", group));

    public Totals {
        measures = List.copyOf(measures);
        groups = Collections.unmodifiableSortedMap(new TreeMap<>(groups));
    }

    /// None yet, of these measures.
    public static Totals none(List<String> measures) {
        return new Totals(measures, new TreeMap<>(ORDER));
    }

    /// The totals in an answer of an engine.
    public static Totals of(Answer answer) {
        return of(
                answer.measures(),
                answer.lines().stream()
                        .map(line -> Map.entry(line.group(), line.values()))
                        .toList());
    }

    /// The totals that the producer of trade-risk messages has computed.
    public static Totals of(TradeRiskTotals right) {
        List<Map.Entry<List<String>, List<@Nullable BigDecimal>>> groups = new ArrayList<>();
        right.groups()
                .forEach(group -> groups.add(Map.entry(
                        group.path(),
                        List.of(BigDecimal.valueOf(group.cents(), 2), BigDecimal.valueOf(group.trades())))));
        return of(List.of("value", "trades"), groups);
    }

    static Totals of(List<String> measures, List<Map.Entry<List<String>, List<@Nullable BigDecimal>>> groups) {
        TreeMap<List<String>, List<@Nullable BigDecimal>> all = new TreeMap<>(ORDER);
        groups.forEach(group -> all.put(group.getKey(), group.getValue()));
        return new Totals(measures, all);
    }

    /// The same groups with these measures alone, in this order.
    ///
    /// @param chosen of those that there are
    Totals of(List<String> chosen) {
        List<Map.Entry<List<String>, List<@Nullable BigDecimal>>> some = new ArrayList<>();
        groups.forEach((group, values) -> {
            List<@Nullable BigDecimal> row = new ArrayList<>();
            chosen.forEach(measure -> row.add(values.get(measures.indexOf(measure))));
            some.add(new SimpleImmutableEntry<>(group, row));
        });
        return of(chosen, some);
    }

    /// A group with those that are below it.
    ///
    /// @param depth how many levels below
    Totals below(List<String> root, int depth) {
        return of(
                measures,
                groups.entrySet().stream()
                        .filter(group -> group.getKey().size() >= root.size()
                                && group.getKey().subList(0, root.size()).equals(root)
                                && group.getKey().size() - root.size() <= depth)
                        .toList());
    }

    /// The groups that one side has and the other has not, or with other values.
    public List<List<String>> differences(Totals other) {
        return all(other).stream().filter(group -> !isSame(other, group)).toList();
    }

    /// The groups of both sides, in order.
    public List<List<String>> all(Totals other) {
        TreeSet<List<String>> all = new TreeSet<>(ORDER);
        all.addAll(groups.keySet());
        all.addAll(other.groups.keySet());
        return List.copyOf(all);
    }

    /// Whether both say the same of a group. One that is not there has no value at all.
    public boolean isSame(Totals other, List<String> group) {
        for (int i = 0; i < measures.size(); i++) {
            int theirs = other.measures.indexOf(measures.get(i));
            if (theirs < 0 || !isSame(value(group, i), other.value(group, theirs))) {
                return false;
            }
        }
        return isThere(group) == other.isThere(group);
    }

    /// The grand total is there, also where nothing is in it.
    private boolean isThere(List<String> group) {
        return group.isEmpty() || groups.containsKey(group);
    }

    private static boolean isSame(@Nullable BigDecimal one, @Nullable BigDecimal other) {
        return one == null || other == null ? isNothing(one) && isNothing(other) : one.compareTo(other) == 0;
    }

    /// A sum of nothing is 0 in an answer, and no line at all where a producer writes down what it has made.
    private static boolean isNothing(@Nullable BigDecimal value) {
        return value == null || value.signum() == 0;
    }

    /// The value of a measure in a group; `null` where there is none.
    public @Nullable BigDecimal value(List<String> group, int measure) {
        List<@Nullable BigDecimal> values = groups.get(group);
        return values == null ? null : values.get(measure);
    }
}
