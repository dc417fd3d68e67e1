package dev.onefold.core.map;

import dev.onefold.core.bytes.Hash;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Signed amounts per leaf group: the sum of changes of contributions. It holds leaves only: a parent is the
/// sum of its leaves, made when read. Adding is commutative and associative, and amounts that cancel out are
/// not in it. Immutable.
///
/// @param cells per leaf its rows and sums
/// @param values per leaf, measure and value the change of its count: extremes and distinct counts are made
///     of these
public record Delta(SortedMap<Cell, Sums> cells, SortedMap<Value, Long> values) {
    /// The delta that changes nothing.
    public static final Delta NOTHING = new Delta(new TreeMap<>(), new TreeMap<>());

    /// A leaf group of a roll-up.
    ///
    /// @param rollup its index in the pipeline
    public record Cell(int rollup, Tuple leaf) implements Comparable<Cell> {
        @Override
        public int compareTo(Cell other) {
            return rollup != other.rollup ? Integer.compare(rollup, other.rollup) : leaf.compareTo(other.leaf);
        }

        /// A hash that spreads leaves evenly, and never changes for a leaf.
        public long hash() {
            byte[] bytes = leaf.bytes();
            return Hash.of(Arrays.copyOf(bytes, bytes.length + Hash.PADDING), 0, bytes.length) + rollup;
        }
    }

    /// A value of a measure at a leaf.
    ///
    /// @param measure its index in the roll-up
    /// @param amount the value, never none; a number is at the scale of its declared type
    public record Value(Cell cell, int measure, Amount amount) implements Comparable<Value> {
        private static final Comparator<Value> ORDER = Comparator.comparing(Value::cell)
                .thenComparingInt(Value::measure)
                .thenComparing(Value::amount);

        @Override
        public int compareTo(Value other) {
            return ORDER.compare(this, other);
        }
    }

    /// Rows, and for each sum or average of the roll-up, in their order, the unscaled sum and how many values are in
    /// it.
    public record Sums(long rows, List<BigInteger> sums, List<Long> counts) {
        public Sums {
            sums = List.copyOf(sums);
            counts = List.copyOf(counts);
        }

        /// Both together.
        public Sums plus(Sums other) {
            List<BigInteger> bothSums = new ArrayList<>();
            List<Long> bothCounts = new ArrayList<>();
            for (int i = 0; i < sums.size(); i++) {
                bothSums.add(sums.get(i).add(other.sums.get(i)));
                bothCounts.add(Math.addExact(counts.get(i), other.counts.get(i)));
            }
            return new Sums(Math.addExact(rows, other.rows), bothSums, bothCounts);
        }

        /// Whether it changes nothing.
        public boolean isZero() {
            return rows == 0
                    && sums.stream().allMatch(sum -> sum.signum() == 0)
                    && counts.stream().allMatch(count -> count == 0);
        }
    }

    /// The delta that replaces one contribution of a key by another.
    ///
    /// @param before the contribution that leaves; `null` if the key was never seen
    public static Delta between(Pipeline pipeline, @Nullable Contribution before, Contribution after) {
        Delta addition = of(pipeline, after, 1);
        return before == null ? addition : of(pipeline, before, -1).plus(addition);
    }

    private static Delta of(Pipeline pipeline, Contribution contribution, int sign) {
        if (contribution.kind() != Event.Kind.COUNTED) {
            return NOTHING;
        }
        Delta delta = new Delta(new TreeMap<>(), new TreeMap<>());
        Rollups rollups = Rollups.of(pipeline);
        List<Measure.Input> inputs = rollups.inputs();
        for (int rollup = 0; rollup < rollups.all().size(); rollup++) {
            delta.add(
                    new Cell(rollup, contribution.groups().get(rollup)),
                    rollups.all().get(rollup),
                    input -> contribution.amounts().get(inputs.indexOf(input)),
                    sign);
        }
        return delta;
    }

    private void add(Cell cell, Rollup rollup, Function<Measure.Input, Amount> amountOf, int sign) {
        List<BigInteger> sums = new ArrayList<>();
        List<Long> counts = new ArrayList<>();
        for (int measure = 0; measure < rollup.measures().size(); measure++) {
            switch (rollup.measures().get(measure)) {
                case Measure.Count _ -> {}
                case Measure.Distinct distinct -> addValue(cell, measure, amountOf.apply(distinct.input()), sign);
                case Measure.Numeric numeric
                when numeric.fold().isSummed() -> {
                    Amount amount = amountOf.apply(numeric.input());
                    BigInteger unscaled =
                            amount instanceof Amount.Number(var value) ? value.unscaledValue() : BigInteger.ZERO;
                    sums.add(sign == 1 ? unscaled : unscaled.negate());
                    counts.add(amount instanceof Amount.None ? 0L : sign);
                }
                case Measure.Numeric numeric -> addValue(cell, measure, amountOf.apply(numeric.input()), sign);
            }
        }
        cells.put(cell, new Sums(sign, sums, counts));
    }

    private void addValue(Cell cell, int measure, Amount amount, int sign) {
        if (!(amount instanceof Amount.None)) {
            values.put(new Value(cell, measure, amount), (long) sign);
        }
    }

    /// Both together.
    public Delta plus(Delta other) {
        TreeMap<Cell, Sums> bothCells = new TreeMap<>(cells);
        for (Map.Entry<Cell, Sums> entry : other.cells.entrySet()) {
            if (bothCells.merge(entry.getKey(), entry.getValue(), Sums::plus).isZero()) {
                bothCells.remove(entry.getKey());
            }
        }
        TreeMap<Value, Long> bothValues = new TreeMap<>(values);
        for (Map.Entry<Value, Long> entry : other.values.entrySet()) {
            if (bothValues.merge(entry.getKey(), entry.getValue(), Math::addExact) == 0) {
                bothValues.remove(entry.getKey());
            }
        }
        return new Delta(bothCells, bothValues);
    }

    /// The part of the delta that is in these leaves.
    public Delta in(Predicate<Cell> leaves) {
        TreeMap<Cell, Sums> someCells = new TreeMap<>(cells);
        someCells.keySet().removeIf(leaves.negate());
        TreeMap<Value, Long> someValues = new TreeMap<>(values);
        someValues.keySet().removeIf(value -> !leaves.test(value.cell()));
        return new Delta(someCells, someValues);
    }

    /// Whether it changes nothing.
    public boolean isNothing() {
        return cells.isEmpty() && values.isEmpty();
    }

    /// How many things it touches.
    public int items() {
        return cells.size() + values.size();
    }

    /// About how many bytes it has when it is written; never fewer than its texts have.
    public long bytes() {
        long bytes = 0;
        for (Map.Entry<Cell, Sums> entry : cells.entrySet()) {
            bytes += entry.getKey().leaf().bytes().length
                    + 16L
                    + 24L * entry.getValue().sums().size();
        }
        for (Value value : values.keySet()) {
            bytes += value.cell().leaf().bytes().length + 32L;
            bytes += value.amount() instanceof Amount.Text(var text) ? 3L * text.length() : 0;
        }
        return bytes;
    }
}
