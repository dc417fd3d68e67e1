package dev.onefold.core.aggregate;

import dev.onefold.core.map.Delta;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.state.Amount;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The aggregate of a group's rows: their number, and per measure the parts of its answer. Adding is commutative
/// and associative, so parts (of a shard, of a child) may be added in any order; a part alone may be negative.
/// Mutable and not thread-safe.
public final class Aggregate {
    private final List<Measure> measures;
    private long rows;
    private final BigInteger[] sums;
    private final long[] numbers;
    private final Map<?, Long>[] values;

    @SuppressWarnings({"unchecked", "rawtypes"}) // There is no array of a generic type.
    public Aggregate(List<Measure> measures) {
        this.measures = measures;
        sums = new BigInteger[measures.size()];
        numbers = new long[measures.size()];
        values = new Map[measures.size()];
        for (int i = 0; i < sums.length; i++) {
            sums[i] = BigInteger.ZERO;
            values[i] = switch (measures.get(i)) {
                case Measure.Numeric numeric when !numeric.fold().isSummed() -> new TreeMap<BigInteger, Long>();
                case Measure.Distinct _ -> new HashMap<String, Long>();
                case Measure.Numeric _, Measure.Count _ -> Map.of();
            };
        }
    }

    /// Adds another part of the same roll-up.
    public Aggregate plus(Aggregate other) {
        rows += other.rows;
        for (int i = 0; i < sums.length; i++) {
            sums[i] = sums[i].add(other.sums[i]);
            numbers[i] += other.numbers[i];
            for (Map.Entry<?, Long> entry : other.values[i].entrySet()) {
                addValue(i, entry.getKey(), entry.getValue());
            }
        }
        return this;
    }

    /// Adds rows and sums as a delta has them.
    public void add(Delta.Sums part) {
        rows += part.rows();
        int next = 0;
        for (int i = 0; i < sums.length; i++) {
            if (measures.get(i) instanceof Measure.Numeric numeric
                    && numeric.fold().isSummed()) {
                addSum(i, part.sums().get(next), part.counts().get(next));
                next++;
            }
        }
    }

    /// Adds a value of a measure that is made of values, `count` times.
    public void add(int measure, Amount value, long count) {
        switch (value) {
            case Amount.None _ -> {}
            case Amount.Number(var number) -> addValue(measure, number.unscaledValue(), count);
            case Amount.Text(var text) -> addValue(measure, text, count);
        }
    }

    private void addSum(int measure, BigInteger unscaled, long count) {
        sums[measure] = sums[measure].add(unscaled);
        numbers[measure] += count;
    }

    @SuppressWarnings("unchecked") // The constructor fits the map to the measure.
    private void addValue(int measure, Object value, long count) {
        Map<Object, Long> map = (Map<Object, Long>) values[measure];
        if (map.merge(value, count, Long::sum) == 0) {
            map.remove(value);
        }
    }

    /// The measures that it is made of.
    public List<Measure> measures() {
        return measures;
    }

    /// How many rows there are.
    public long rows() {
        return rows;
    }

    /// Whether no row is in it, so that the group does not appear.
    public boolean isEmpty() {
        return rows == 0;
    }

    /// Rows and sums, as a delta has them.
    public Delta.Sums sums() {
        List<BigInteger> summed = new ArrayList<>();
        List<Long> counts = new ArrayList<>();
        for (int i = 0; i < sums.length; i++) {
            if (measures.get(i) instanceof Measure.Numeric numeric
                    && numeric.fold().isSummed()) {
                summed.add(sums[i]);
                counts.add(numbers[i]);
            }
        }
        return new Delta.Sums(rows, summed, counts);
    }

    /// The value of each measure, in the order of the roll-up; `null` where there is none.
    public List<@Nullable BigDecimal> answers() {
        List<@Nullable BigDecimal> answers = new ArrayList<>(sums.length);
        for (int i = 0; i < sums.length; i++) {
            answers.add(answer(i));
        }
        return answers;
    }

    private @Nullable BigDecimal answer(int measure) {
        return switch (measures.get(measure)) {
            case Measure.Numeric numeric
            when !numeric.fold().isSummed() ->
                new Parts(rows, BigInteger.ZERO, 0, extreme(measure, numeric.fold())).answer(numeric);
            case Measure.Distinct distinct ->
                new Parts(rows, BigInteger.ZERO, values[measure].size(), null).answer(distinct);
            case Measure each -> new Parts(rows, sums[measure], numbers[measure], null).answer(each);
        };
    }

    @SuppressWarnings("unchecked") // The constructor fits the map to the measure.
    private @Nullable BigInteger extreme(int measure, Measure.Fold fold) {
        TreeMap<BigInteger, Long> ordered = (TreeMap<BigInteger, Long>) values[measure];
        if (ordered.isEmpty()) {
            return null;
        }
        return fold == Measure.Fold.MIN ? ordered.firstKey() : ordered.lastKey();
    }

    /// The parts of the answer of one measure.
    ///
    /// @param sum the unscaled sum of the values
    /// @param number the number of values in the sum, or of distinct values
    /// @param extreme the least or the greatest value, unscaled; `null` if there is none
    public record Parts(
            long rows,
            BigInteger sum,
            long number,
            @Nullable BigInteger extreme) {
        /// The value of the measure; `null` where there is none.
        public @Nullable BigDecimal answer(Measure measure) {
            return switch (measure) {
                case Measure.Count _ -> BigDecimal.valueOf(rows);
                case Measure.Distinct _ -> BigDecimal.valueOf(number);
                case Measure.Numeric numeric -> {
                    int scale = numeric.input().type().scale();
                    yield switch (numeric.fold()) {
                        case SUM -> new BigDecimal(sum, scale);
                        case AVERAGE ->
                            number == 0
                                    ? null
                                    : new BigDecimal(sum, scale)
                                            .divide(BigDecimal.valueOf(number), scale, RoundingMode.HALF_EVEN);
                        case MIN, MAX -> extreme == null ? null : new BigDecimal(extreme, scale);
                    };
                }
            };
        }
    }

    /// Whether two aggregates hold the same, part by part.
    public boolean isSame(Aggregate other) {
        return rows == other.rows
                && java.util.Arrays.equals(sums, other.sums)
                && java.util.Arrays.equals(numbers, other.numbers)
                && java.util.Arrays.equals(values, other.values);
    }
}
