package dev.onefold.core.totals;

import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Query;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// The leaves of one roll-up as a runtime keeps them: the fast form of [Totals], with equal answers. Nobody
/// changes them meanwhile.
public final class Leaves {
    final Rollup rollup;
    final Groups groups;
    final Values values;
    final int stride;
    private final Cells[] shards;
    private final Tuple first;

    /// @param shards the cells of each
    /// @param first group that is shown; those before it are not. Without levels: all are
    public Leaves(Rollup rollup, Groups groups, Cells[] shards, Values values, Tuple first) {
        this.first = first;
        this.rollup = rollup;
        this.groups = groups;
        this.shards = shards;
        this.values = values;
        stride = shards[0].stride();
    }

    /// The groups whose leaves they are.
    public Groups groups() {
        return groups;
    }

    public Rollup rollup() {
        return rollup;
    }

    /// The first group that is shown; without levels if all are.
    public Tuple first() {
        return first;
    }

    /// Whether answers show a leaf.
    public boolean isShown(int leaf) {
        return groups.has(leaf)
                && (first.parts().isEmpty() || groups.tuple(leaf).compareTo(first) >= 0);
    }

    /// Rows and sums of a leaf, as [Cells] has them.
    public long[] cell(int leaf) {
        long[] cell = new long[stride];
        for (Cells shard : shards) {
            shard.addTo(cell, leaf);
        }
        return cell;
    }

    /// Whether nothing is in a leaf, also no value.
    public boolean isNothing(int leaf) {
        return Arrays.stream(cell(leaf)).allMatch(each -> each == 0) && values.isSame(leaf, values, -1);
    }

    /// Whether a leaf is the same as one of others, part by part.
    public boolean isSame(int leaf, Leaves others, int otherLeaf) {
        return Arrays.equals(cell(leaf), others.cell(otherLeaf)) && values.isSame(leaf, others.values, otherLeaf);
    }

    /// The figures of a leaf, as answers show them.
    public List<@Nullable BigDecimal> answers(int leaf) {
        long[] cell = cell(leaf);
        List<@Nullable BigDecimal> answers = new ArrayList<>();
        int at = 1;
        int valued = 0;
        for (Measure measure : rollup.measures()) {
            Aggregate.Parts parts = switch (measure) {
                case Measure.Count _ -> new Aggregate.Parts(cell[0], BigInteger.ZERO, 0, null);
                case Measure.Distinct _ ->
                    new Aggregate.Parts(cell[0], BigInteger.ZERO, values.distinct(leaf, valued++), null);
                case Measure.Numeric numeric
                when numeric.fold().isSummed() -> {
                    at += 3;
                    yield new Aggregate.Parts(cell[0], Cells.integer(cell[at - 3], cell[at - 2]), cell[at - 1], null);
                }
                case Measure.Numeric numeric ->
                    new Aggregate.Parts(
                            cell[0],
                            BigInteger.ZERO,
                            0,
                            values.extreme(leaf, valued++, numeric.fold() == Measure.Fold.MIN));
            };
            answers.add(parts.answer(measure));
        }
        return new Figures(rollup).of(answers);
    }

    /// How many bytes the lines of an answer may take, given the groups there are now. Called at any time.
    ///
    /// @throws IllegalArgumentException for a group or a measure that cannot be
    public long bytesOf(Query query) {
        Asked asked = new Asked(rollup, query);
        int[] order = groups.order();
        int from = Math.max(shownFrom(order), groups.rank(order, asked.root(), false));
        int to = groups.rank(order, asked.root(), true);
        long lines = 1;
        for (int i = from; i < to; i++) {
            int common = i == from ? asked.first() - 1 : groups.levelsInCommon(order[i - 1], order[i]);
            lines += asked.opened(common);
        }
        return lines * Lines.bytesOfLine(this);
    }

    /// The lines of an answer. Those of a top list are ranked when a reader asks for them: ranking takes
    /// longer than copying, and needs no state that may change.
    ///
    /// @param account receives the bytes of memory that they take, before they are taken
    /// @throws IllegalArgumentException for a group or a measure that cannot be
    public Lines lines(Query query, LongConsumer account) {
        Asked asked = new Asked(rollup, query);
        int[] order = groups.order();
        int from = Math.max(shownFrom(order), groups.rank(order, asked.root(), false));
        int to = groups.rank(order, asked.root(), true);
        int[] filled = new int[Math.max(0, to - from)];
        int count = 0;
        for (int i = from; i < to; i++) {
            if (rows(order[i]) != 0) {
                filled[count++] = order[i];
            }
        }
        Lines lines = new Lines(this, asked, account);
        boolean made = false;
        try {
            new LineMaker(this, asked, lines).make(Arrays.copyOf(filled, count));
            made = true;
        } finally {
            if (!made) {
                lines.close();
            }
        }
        return lines;
    }

    /// How many entries of the groups in their order are before the first group that is shown.
    public int shownFrom(int[] order) {
        return groups.rank(order, first, false);
    }

    private long rows(int leaf) {
        return cell(leaf)[0];
    }

    /// A question about a roll-up, checked.
    ///
    /// @param first number of levels of the greatest groups in the answer
    /// @param last number of levels of the smallest groups
    /// @param figure place of the figure that a top list ranks by, or -1
    record Asked(Tuple root, int first, int last, int figure, int linesMax) {
        Asked(Rollup rollup, Query query) {
            this(
                    Tuple.of(query.group()),
                    query.top() == null ? depth(rollup, query, 0) : depth(rollup, query, query.depth()),
                    depth(rollup, query, query.depth()),
                    query.top() == null ? -1 : Totals.figure(rollup, query.top().measure()),
                    query.top() == null ? Integer.MAX_VALUE : query.top().count());
        }

        private static int depth(Rollup rollup, Query query, int below) {
            Totals.requireLevels(rollup, query);
            return (int) Math.min(
                    (long) query.group().size() + below, rollup.levels().size());
        }

        /// The number of lines that begin at a leaf that has `common` levels in common with the one before.
        int opened(int common) {
            return Math.max(0, last - Math.max(common, first - 1));
        }
    }
}
