package dev.onefold.core.totals;

import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The leaves of one roll-up at one cut, and the answers made of them. Not changed once filled.
public final class Totals {
    private final Rollup rollup;
    private final Figures figures;
    private final TreeMap<Tuple, Aggregate> leaves = new TreeMap<>();

    public Totals(Rollup rollup) {
        this.rollup = rollup;
        figures = new Figures(rollup);
    }

    /// Adds a leaf, or a part of one.
    public void add(Tuple leaf, Aggregate aggregate) {
        leaves.merge(leaf, aggregate, Aggregate::plus);
    }

    /// The roll-up whose totals these are.
    public Rollup rollup() {
        return rollup;
    }

    /// An aggregate of this roll-up that nothing is in.
    public Aggregate empty() {
        return new Aggregate(rollup.measures());
    }

    /// The figures of an aggregate of this roll-up, as answers show them.
    public List<@Nullable BigDecimal> figures(Aggregate aggregate) {
        return figures.of(aggregate.answers());
    }

    /// The groups at the leaves, also empty ones.
    public Map<Tuple, Aggregate> leaves() {
        return leaves;
    }

    /// Answers a query about this roll-up.
    ///
    /// @throws IllegalArgumentException for a group or a measure that cannot be
    public Answer answer(Query query, Answer.Cut cut) {
        int levels = rollup.levels().size();
        int from = query.group().size();
        requireLevels(rollup, query);
        int to = (int) Math.min((long) from + query.depth(), levels);
        Query.Top top = query.top();
        int topFigure = top == null ? -1 : figure(rollup, top.measure());
        Tuple root = Tuple.of(query.group());
        TreeMap<Tuple, Aggregate> nodes = new TreeMap<>();
        for (Map.Entry<Tuple, Aggregate> leaf : leaves.tailMap(root).entrySet()) {
            if (!leaf.getKey().startsWith(root)) {
                break;
            }
            if (!leaf.getValue().isEmpty()) {
                for (int depth = top == null ? from : to; depth <= to; depth++) {
                    nodes.computeIfAbsent(leaf.getKey().prefix(depth), _ -> new Aggregate(rollup.measures()))
                            .plus(leaf.getValue());
                }
            }
        }
        if (nodes.isEmpty() && from == 0 && top == null) {
            nodes.put(root, new Aggregate(rollup.measures())); // The total of nothing is an answer.
        }
        List<Answer.Line> lines = new ArrayList<>();
        nodes.forEach((node, aggregate) -> lines.add(new Answer.Line(node.parts(), figures.of(aggregate.answers()))));
        if (top != null) {
            Comparator<@Nullable BigDecimal> greatestFirst = Comparator.nullsLast(Comparator.reverseOrder());
            lines.sort((a, b) ->
                    greatestFirst.compare(a.values().get(topFigure), b.values().get(topFigure)));
            lines.subList(Math.min(top.count(), lines.size()), lines.size()).clear();
        }
        return new Answer(
                rollup.name(), rollup.levels().stream().map(Level::name).toList(), rollup.figureNames(), lines, cut);
    }

    static void requireLevels(Rollup rollup, Query query) {
        int levels = rollup.levels().size();
        if (query.group().size() > levels) {
            throw new IllegalArgumentException("Group " + query.group() + " has "
                    + query.group().size() + " levels; roll-up " + rollup.name() + " has " + levels);
        }
    }

    static int figure(Rollup rollup, String name) {
        List<String> names = rollup.figureNames();
        if (!names.contains(name)) {
            throw new IllegalArgumentException("There is no measure '" + name + "' in roll-up " + rollup.name()
                    + "; there is " + String.join(", ", names));
        }
        return names.indexOf(name);
    }
}
