package dev.onefold.embedded.publication;

import dev.onefold.core.TotalsTable.Session;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Answer;
import dev.onefold.core.totals.CellAnswers;
import dev.onefold.core.totals.Leaves;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The cut of a roll-up that is published, or will be: rows and sums of all its groups, off the heap. A
/// parent is updated by the changes of its leaves, so the cost of a cut depends on the changes, not on the
/// number of groups. Not thread-safe.
final class Image implements AutoCloseable {
    private final int rollup;
    private final int levels;
    private final int stride;
    private final Groups leafNames;
    private Tuple first; // That is shown.
    private final CellAnswers answers;
    private final Groups parentNames = new Groups();
    private final Sums leaves;
    private final Sums parents;
    private Sums before; // Of the leaves that have changed since the parents were updated, by their place.
    private final BitSet moved = new BitSet();
    private final BitSet changedLeaves = new BitSet();
    private final BitSet changedParents = new BitSet();

    /// @param rollup its place in the pipeline
    Image(int rollup, Rollup definition, Leaves now) {
        this.rollup = rollup;
        first = now.first();
        levels = definition.levels().size();
        leafNames = now.groups();
        stride = now.cell(0).length;
        answers = new CellAnswers(definition);
        leaves = new Sums(stride);
        parents = new Sums(stride);
        before = new Sums(stride);
    }

    /// Whether the leaves still have the names that this image has of their numbers.
    boolean isOf(Groups[] names) {
        return leafNames == names[rollup];
    }

    /// Copies the changes; a leaf that is not shown is empty here. Called while nobody changes the leaves.
    ///
    /// @param some the leaves that may have changed; `null`: all
    void take(Leaves now, @Nullable BitSet some) {
        if (some != null && !now.first().equals(first)) {
            addBetween(first, now.first(), some);
        }
        first = now.first();
        int size = leafNames.size();
        int place = moved.cardinality();
        for (int leaf = some == null ? 0 : some.nextSetBit(0);
                leaf >= 0 && leaf < size;
                leaf = some == null ? leaf + 1 : some.nextSetBit(leaf + 1)) {
            long[] cell = now.isShown(leaf) ? now.cell(leaf) : new long[stride];
            long[] old = leaves.get(leaf);
            if (!Arrays.equals(cell, old)) {
                before.set(place++, old);
                leaves.set(leaf, cell);
                moved.set(leaf);
            }
        }
    }

    /// Adds the leaves that are shown no more, or again.
    private void addBetween(Tuple one, Tuple other, BitSet leavesToo) {
        int[] order = leafNames.order();
        int from = leafNames.rank(order, one, false);
        int to = leafNames.rank(order, other, false);
        for (int i = Math.min(from, to); i < Math.max(from, to); i++) {
            leavesToo.set(order[i]);
        }
    }

    /// Updates the parents. Called between two calls of `take`.
    void bringForward() {
        int place = 0;
        for (int leaf = moved.nextSetBit(0); leaf >= 0; leaf = moved.nextSetBit(leaf + 1)) {
            long[] delta = minus(before.get(place++));
            Cells.add(leaves.get(leaf), 0, delta, 0, stride);
            Tuple name = leafNames.tuple(leaf);
            for (int depth = 0; depth < levels; depth++) {
                int parent = parentNames.number(name.prefix(depth));
                long[] sum = parents.get(parent);
                Cells.add(delta, 0, sum, 0, stride);
                parents.set(parent, sum);
                changedParents.set(parent);
            }
        }
        changedLeaves.or(moved);
        if (!moved.isEmpty()) {
            before.close();
            before = new Sums(stride);
        }
        moved.clear();
    }

    /// The negative of a cell: of sums in two longs both have to be negated.
    private static long[] minus(long[] cell) {
        long[] negative = new long[cell.length];
        negative[0] = -cell[0];
        for (int i = 1; i < cell.length; i += 3) {
            negative[i] = ~cell[i] + (cell[i + 1] == 0 ? 1 : 0);
            negative[i + 1] = -cell[i + 1];
            negative[i + 2] = -cell[i + 2];
        }
        return negative;
    }

    boolean hasChanged() {
        return !changedLeaves.isEmpty() || !changedParents.isEmpty();
    }

    /// Writes the groups that have changed since the last `confirm`.
    void writeChanged(Session session) {
        for (int parent = changedParents.nextSetBit(0); parent >= 0; parent = changedParents.nextSetBit(parent + 1)) {
            write(session, parentNames.tuple(parent), parents.get(parent));
        }
        for (int leaf = changedLeaves.nextSetBit(0); leaf >= 0; leaf = changedLeaves.nextSetBit(leaf + 1)) {
            write(session, leafNames.tuple(leaf), leaves.get(leaf));
        }
    }

    /// Writes all groups.
    void writeAll(Session session) {
        session.replace(rollup);
        int leafCount = Math.min(leafNames.size(), leaves.size());
        if (levels == 0 ? leafCount == 0 : parentNames.size() == 0) { // Nothing was ever added.
            session.put(rollup, new Answer.Line(List.of(), answers.of(new long[stride])));
        }
        for (int parent = 0; parent < parentNames.size(); parent++) {
            write(session, parentNames.tuple(parent), parents.get(parent));
        }
        for (int leaf = 0; leaf < leafCount; leaf++) {
            if (leafNames.has(leaf)) {
                write(session, leafNames.tuple(leaf), leaves.get(leaf));
            }
        }
    }

    private void write(Session session, Tuple name, long[] cell) {
        var group = name.parts();
        if (cell[0] == 0 && !group.isEmpty()) {
            session.remove(rollup, group);
        } else {
            session.put(rollup, new Answer.Line(group, answers.of(cell))); // The total of nothing is an answer.
        }
    }

    /// All that has changed is published.
    void confirm() {
        changedLeaves.clear();
        changedParents.clear();
    }

    @Override
    public void close() {
        leaves.close();
        parents.close();
        before.close();
    }
}
