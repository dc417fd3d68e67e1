package dev.onefold.core.totals;

import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.pipeline.Measure;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/// Adds leaves up to the groups above them, in one pass in the order of their names: of each level one group is open at
/// a time. A parent's extreme is that of its leaves; its distinct values are counted over them.
final class LineMaker {
    private final Leaves leaves;
    private final Leaves.Asked asked;
    private final Lines lines;
    private final Open[] open;

    /// A group whose leaves are being added.
    private static final class Open {
        final long line;
        final int from; // Of the leaves.
        final long[] cell;
        final @Nullable BigInteger[] extremes;

        Open(long line, int from, int stride, int valued) {
            this.line = line;
            this.from = from;
            cell = new long[stride];
            extremes = new BigInteger[valued];
        }
    }

    LineMaker(Leaves leaves, Leaves.Asked asked, Lines lines) {
        this.leaves = leaves;
        this.asked = asked;
        this.lines = lines;
        open = new Open[asked.last() + 1];
    }

    void make(int[] filled) {
        int[] numbers = lines.valuedMeasures();
        int openTo = asked.first() - 1; // The deepest level that is open.
        for (int i = 0; i < filled.length; i++) {
            int common = i == 0 ? asked.first() - 1 : leaves.groups.levelsInCommon(filled[i - 1], filled[i]);
            int keep = Math.max(asked.first() - 1, Math.min(common, asked.last()));
            close(filled, keep + 1, openTo, i);
            for (int depth = keep + 1; depth <= asked.last(); depth++) {
                open[depth] = new Open(lines.add(filled[i], depth), i, leaves.stride, numbers.length);
            }
            openTo = asked.last();
            addLeaf(filled[i], numbers);
        }
        close(filled, asked.first(), openTo, filled.length);
        if (asked.figure() < 0 && lines.isEmpty() && asked.first() == 0) {
            long line = lines.add(-1, 0); // The total of nothing is an answer.
            lines.set(line, new long[leaves.stride], new BigInteger[numbers.length], new long[numbers.length]);
        }
    }

    private void addLeaf(int leaf, int[] numbers) {
        long[] cell = leaves.cell(leaf);
        @Nullable BigInteger[] extremes = new BigInteger[numbers.length];
        for (int number = 0; number < numbers.length; number++) {
            Boolean isLeast = isLeast(numbers[number]);
            extremes[number] = isLeast == null ? null : leaves.values.extreme(leaf, number, isLeast);
        }
        for (int depth = asked.first(); depth <= asked.last(); depth++) {
            Cells.add(cell, 0, open[depth].cell, 0, cell.length);
            for (int number = 0; number < numbers.length; number++) {
                BigInteger mine = open[depth].extremes[number];
                BigInteger other = extremes[number];
                if (other != null) {
                    boolean wins = mine == null
                            || (Boolean.TRUE.equals(isLeast(numbers[number]))
                                    ? other.compareTo(mine) < 0
                                    : other.compareTo(mine) > 0);
                    open[depth].extremes[number] = wins ? other : mine;
                }
            }
        }
    }

    /// Whether a measure is a minimum; `null` if it is a distinct count.
    private @Nullable Boolean isLeast(int measure) {
        return leaves.rollup.measures().get(measure) instanceof Measure.Numeric numeric
                ? numeric.fold() == Measure.Fold.MIN
                : null;
    }

    private void close(int[] filled, int from, int to, int leavesTo) {
        for (int depth = to; depth >= from; depth--) {
            Open closed = open[depth];
            int[] numbers = lines.valuedMeasures();
            long[] distinct = new long[numbers.length];
            for (int number = 0; number < numbers.length; number++) {
                if (isLeast(numbers[number]) == null) {
                    distinct[number] = leaves.values.distinct(filled, closed.from, leavesTo, number);
                }
            }
            lines.set(closed.line, closed.cell, closed.extremes, distinct);
        }
    }
}
