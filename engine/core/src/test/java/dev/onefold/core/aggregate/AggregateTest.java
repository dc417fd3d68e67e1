package dev.onefold.core.aggregate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.map.Delta;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Amount;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Adding is commutative and associative, and averages are divided once.
class AggregateTest {
    private static final List<Measure> MEASURES = Rollups.of(PipelineBuilder.named("p")
                    .rollup(r -> r.count("rows")
                            .sum("sum", "n", 18, 2)
                            .average("mean", "n", 18, 2)
                            .min("least", "n", 18, 2)
                            .max("most", "n", 18, 2)
                            .distinct("texts", "t"))
                    .build())
            .named("main")
            .measures();

    private static Aggregate random(RandomGenerator random) {
        Aggregate aggregate = new Aggregate(MEASURES);
        for (int i = random.nextInt(4); i > 0; i--) {
            int count = random.nextInt(-1, 2);
            BigInteger value = BigInteger.valueOf(random.nextInt(-3, 4));
            BigInteger sum = value.multiply(BigInteger.valueOf(count));
            add(aggregate, count, sum, sum, count);
            addValue(aggregate, value, count);
            aggregate.add(5, new Amount.Text("t" + random.nextInt(3)), count);
            aggregate.add(5, new Amount.None(), count);
        }
        return aggregate;
    }

    /// Adds rows, to the sum, to the average, and to the number of values of both.
    private static void add(Aggregate aggregate, long rows, BigInteger sum, BigInteger mean, long count) {
        aggregate.add(new Delta.Sums(rows, List.of(sum, mean), List.of(count, count)));
    }

    /// Adds a value of the extremes this number of times.
    private static void addValue(Aggregate aggregate, BigInteger unscaled, long count) {
        aggregate.add(3, new Amount.Number(new BigDecimal(unscaled, 2)), count);
        aggregate.add(4, new Amount.Number(new BigDecimal(unscaled, 2)), count);
    }

    private static Aggregate sum(Aggregate... parts) {
        Aggregate sum = new Aggregate(MEASURES);
        for (Aggregate part : parts) {
            sum.plus(part);
        }
        return sum;
    }

    @Test
    void parts_may_be_added_in_any_order_and_any_nesting() {
        Seeds.forAllSeeds(2_000, random -> {
            Aggregate a = random(random);
            Aggregate b = random(random);
            Aggregate c = random(random);
            assertThat(sum(a, b, c).isSame(sum(c, b, a))).isTrue();
            assertThat(sum(a, b, c).isSame(sum(a, sum(b, c)))).isTrue();
            assertThat(sum(a, b, c).isSame(sum(sum(c, a), b))).isTrue();
            assertThat(sum(a).isSame(a)).isTrue();
        });
    }

    @Test
    void a_part_is_the_same_only_if_rows_sums_counts_and_values_are() {
        Aggregate empty = new Aggregate(MEASURES);
        Aggregate rows = new Aggregate(MEASURES);
        add(rows, 1, BigInteger.ZERO, BigInteger.ZERO, 0);
        Aggregate sum = new Aggregate(MEASURES);
        add(sum, 0, BigInteger.ONE, BigInteger.ZERO, 0);
        Aggregate count = new Aggregate(MEASURES);
        add(count, 0, BigInteger.ZERO, BigInteger.ZERO, 1);
        Aggregate value = new Aggregate(MEASURES);
        addValue(value, BigInteger.ONE, 1);
        List<Aggregate> all = List.of(empty, rows, sum, count, value);
        for (Aggregate one : all) {
            for (Aggregate other : all) {
                assertThat(one.isSame(other)).isEqualTo(one == other);
            }
        }
        assertThat(rows.isEmpty()).isFalse();
        assertThat(value.isEmpty()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "1, 2, 0.00",
        "3, 2, 0.02",
        "5, 2, 0.02",
        "7, 2, 0.04",
        "-1, 2, 0.00",
        "-3, 2, -0.02",
        "100, 3, 0.33",
        "200, 3, 0.67",
        "0, 5, 0.00",
        "1000, 1, 10.00"
    })
    void an_average_is_divided_once_half_even_at_its_scale(long unscaled, long count, BigDecimal mean) {
        Aggregate aggregate = new Aggregate(MEASURES);
        for (long i = 0; i < count; i++) {
            Aggregate part = new Aggregate(MEASURES);
            add(part, 1, BigInteger.ZERO, i == 0 ? BigInteger.valueOf(unscaled) : BigInteger.ZERO, 1);
            aggregate.plus(part);
        }
        assertThat(aggregate.answers().get(2)).isEqualTo(mean);
    }

    @Test
    void without_values_there_is_no_average_and_no_extreme_but_a_sum_and_counts() {
        Aggregate aggregate = new Aggregate(MEASURES);
        add(aggregate, 2, BigInteger.ZERO, BigInteger.ZERO, 0);
        assertThat(aggregate.answers())
                .containsExactly(new BigDecimal("2"), new BigDecimal("0.00"), null, null, null, new BigDecimal("0"));
    }

    @Test
    void extremes_are_ordered_as_numbers() {
        Aggregate aggregate = new Aggregate(MEASURES);
        for (long value : new long[] {-1000, 900, 1000, -900, 99}) {
            addValue(aggregate, BigInteger.valueOf(value), 1);
        }
        assertThat(aggregate.answers().subList(3, 5))
                .containsExactly(new BigDecimal("-10.00"), new BigDecimal("10.00"));
    }

    @Test
    void rows_and_sums_are_added_to_the_measures_that_are_made_of_them() {
        Aggregate aggregate = new Aggregate(MEASURES);
        add(aggregate, 3, BigInteger.valueOf(500), BigInteger.valueOf(900), 2);
        add(aggregate, 2, BigInteger.valueOf(-100), BigInteger.ZERO, 1);
        addValue(aggregate, BigInteger.TEN, 1);
        aggregate.add(5, new Amount.Text("a"), 2);
        assertThat(aggregate.measures()).isEqualTo(MEASURES);
        assertThat(aggregate.rows()).isEqualTo(5);
        assertThat(aggregate.answers())
                .extracting(Object::toString)
                .containsExactly("5", "4.00", "3.00", "0.10", "0.10", "1");
    }
}
