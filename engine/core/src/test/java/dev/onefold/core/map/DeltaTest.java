package dev.onefold.core.map;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeltaTest {
    private static Delta between(@Nullable Contribution before, Contribution after) {
        return Delta.between(RandomContributions.PIPELINE, before, after);
    }

    @Test
    void steps_in_between_leave_nothing_behind() {
        Seeds.forAllSeeds(300, random -> {
            Contribution one = RandomContributions.contribution(random);
            Contribution two = RandomContributions.contribution(random);
            Contribution three = RandomContributions.contribution(random);
            Delta inSteps = between(null, one).plus(between(one, two)).plus(between(two, three));
            assertThat(inSteps).isEqualTo(between(null, three));
            assertThat(between(one, one).isNothing()).isTrue();
            assertThat(between(null, one).isNothing()).isEqualTo(one.kind() != Event.Kind.COUNTED);
            assertThat(between(one, two).plus(between(two, one)).isNothing()).isTrue();
        });
    }

    @Test
    void the_order_of_adding_does_not_matter() {
        Seeds.forAllSeeds(300, random -> {
            Delta one = between(RandomContributions.contribution(random), RandomContributions.contribution(random));
            Delta two = between(RandomContributions.contribution(random), RandomContributions.contribution(random));
            Delta three = between(null, RandomContributions.contribution(random));
            assertThat(one.plus(two).plus(three)).isEqualTo(three.plus(two.plus(one)));
        });
    }

    @Test
    void leaves_apart_and_the_others_are_all_of_it() {
        Seeds.forAllSeeds(300, random -> {
            Delta delta = between(RandomContributions.contribution(random), RandomContributions.contribution(random))
                    .plus(between(null, RandomContributions.contribution(random)));
            int oneIn = 1 + random.nextInt(4);
            Delta some = delta.in(cell -> Long.remainderUnsigned(cell.hash(), oneIn) == 0);
            Delta others = delta.in(cell -> Long.remainderUnsigned(cell.hash(), oneIn) != 0);
            assertThat(some.plus(others)).isEqualTo(delta);
            assertThat(some.items() + others.items()).isEqualTo(delta.items());
            assertThat(cells(some)).allMatch(cell -> Long.remainderUnsigned(cell.hash(), oneIn) == 0);
            assertThat(cells(others)).noneMatch(cell -> Long.remainderUnsigned(cell.hash(), oneIn) == 0);
        });
    }

    @Test
    void what_one_row_comes_to_is_known_by_hand() {
        Contribution row = new Contribution(
                Event.Kind.COUNTED,
                List.of(Tuple.of(List.of("FX")), Tuple.of(List.of())),
                List.of(new Amount.Number(new BigDecimal("1.50")), new Amount.Text("b")));
        Delta delta = between(null, row);
        assertThat(delta.cells()).hasSize(2);
        Delta.Sums sums = delta.cells().get(new Delta.Cell(0, Tuple.of(List.of("FX"))));
        assertThat(sums.rows()).isEqualTo(1);
        assertThat(sums.sums()).extracting(Object::toString).containsExactly("150", "150");
        assertThat(sums.counts()).containsExactly(1L, 1L);
        assertThat(delta.values().values()).containsOnly(1L).hasSize(3);
        assertThat(delta.items()).isEqualTo(5);
    }

    private static Set<Delta.Cell> cells(Delta delta) {
        Set<Delta.Cell> cells = new HashSet<>(delta.cells().keySet());
        delta.values().keySet().forEach(value -> cells.add(value.cell()));
        return cells;
    }

    /// The sums of rows at the leaves, added by hand: per leaf its rows, sum and number of values, and per
    /// leaf, measure and value how often it is there.
    private static Map<String, List<Long>> expected(Collection<Contribution> rows) {
        Map<String, List<Long>> expected = new HashMap<>();
        for (Contribution row : rows) {
            if (row.kind() == Event.Kind.COUNTED) {
                String desk = row.groups().getFirst().parts().getFirst();
                @Nullable
                BigDecimal value = row.amounts().getFirst() instanceof Amount.Number(var number) ? number : null;
                add(expected, desk, 1, value == null ? 0 : value.unscaledValue().longValue(), value == null ? 0 : 1);
                add(expected, "all", 1);
                if (value != null) {
                    add(expected, desk + " least " + value, 1);
                    add(expected, "all most " + value, 1);
                }
                if (row.amounts().getLast() instanceof Amount.Text(var text)) {
                    add(expected, desk + " book " + text, 1);
                }
            }
        }
        return expected;
    }

    private static void add(Map<String, List<Long>> counts, String what, long... more) {
        counts.merge(
                what,
                Arrays.stream(more).boxed().toList(),
                (one, other) -> IntStream.range(0, one.size())
                        .mapToObj(i -> one.get(i) + other.get(i))
                        .toList());
    }

    private static Map<String, List<Long>> seen(Delta delta) {
        Map<String, List<Long>> seen = new HashMap<>();
        delta.cells().forEach((cell, sums) -> {
            if (cell.rollup() == 0) {
                assertThat(sums.sums()).containsOnly(sums.sums().getFirst()); // A sum and an average of the same field.
                assertThat(sums.counts()).containsOnly(sums.counts().getFirst()).hasSize(2);
                seen.put(
                        cell.leaf().parts().getFirst(),
                        List.of(
                                sums.rows(),
                                sums.sums().getFirst().longValueExact(),
                                sums.counts().getFirst()));
            } else {
                assertThat(sums.sums()).isEmpty();
                seen.put("all", List.of(sums.rows()));
            }
        });
        delta.values().forEach((value, count) -> {
            String leaf =
                    value.cell().rollup() == 0 ? value.cell().leaf().parts().getFirst() : "all";
            String what = value.amount() instanceof Amount.Text(var text)
                    ? " book " + text
                    : (leaf.equals("all") ? " most " : " least ") + ((Amount.Number) value.amount()).value();
            seen.put(leaf + what, List.of(count));
        });
        return seen;
    }

    @Test
    void what_rows_come_to_after_many_changes_is_their_sum_by_hand() {
        Seeds.forAllSeeds(200, random -> {
            Map<Integer, Contribution> rows = new HashMap<>();
            Delta all = Delta.NOTHING;
            for (int i = random.nextInt(30); i > 0; i--) {
                int key = random.nextInt(6);
                Contribution after = RandomContributions.contribution(random);
                all = all.plus(between(rows.put(key, after), after));
            }
            assertThat(seen(all)).isEqualTo(expected(rows.values()));
        });
    }

    @Test
    void sums_change_nothing_only_if_rows_sums_and_counts_are_zero() {
        List<BigInteger> none = List.of(BigInteger.ZERO);
        assertThat(new Delta.Sums(0, none, List.of(0L)).isZero()).isTrue();
        assertThat(new Delta.Sums(1, none, List.of(0L)).isZero()).isFalse();
        assertThat(new Delta.Sums(0, List.of(BigInteger.ONE), List.of(0L)).isZero())
                .isFalse();
        assertThat(new Delta.Sums(0, none, List.of(1L)).isZero()).isFalse();
    }

    private static Delta random(RandomGenerator random) {
        TreeMap<Delta.Cell, Delta.Sums> cells = new TreeMap<>();
        TreeMap<Delta.Value, Long> values = new TreeMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            int sums = random.nextInt(5);
            cells.put(
                    cell(random),
                    new Delta.Sums(
                            random.nextInt(-9, 10),
                            Collections.nCopies(sums, BigInteger.ONE.shiftLeft(random.nextInt(127))),
                            Collections.nCopies(sums, (long) random.nextInt())));
        }
        for (int i = random.nextInt(4); i > 0; i--) {
            Amount amount = random.nextBoolean()
                    ? new Amount.Text("€".repeat(random.nextInt(100)))
                    : new Amount.Number(new BigDecimal(BigInteger.ONE.shiftLeft(random.nextInt(100)), 2));
            values.put(new Delta.Value(cell(random), random.nextInt(4), amount), random.nextLong(1_000_000));
        }
        return new Delta(cells, values);
    }

    private static Delta.Cell cell(RandomGenerator random) {
        return new Delta.Cell(random.nextInt(3), Tuple.of(List.of("x".repeat(random.nextInt(100)))));
    }

    @Test
    void what_is_foreseen_of_its_bytes_is_at_least_what_is_written_and_little_more() {
        Seeds.forAllSeeds(300, random -> {
            Delta one = random(random);
            Delta other = random(random);
            ViewDeltas both = new ViewDeltas(new TreeMap<>(Map.of(0, one, 1, other)));
            int frame = DeltaBytes.of(new ViewDeltas(new TreeMap<>(Map.of(0, Delta.NOTHING, 1, Delta.NOTHING)))).length;
            int written = DeltaBytes.of(both).length - frame;
            int sums = Stream.of(one, other)
                    .flatMap(each -> each.cells().values().stream())
                    .mapToInt(each -> each.sums().size())
                    .sum();
            assertThat(one.items()).isEqualTo(one.cells().size() + one.values().size());
            assertThat(both.items()).isEqualTo(one.items() + other.items());
            assertThat(both.bytes())
                    .isEqualTo(one.bytes() + other.bytes())
                    .isBetween((long) written, written + 32L * both.items() + 24L * sums);
        });
    }

    @Test
    void cells_are_in_the_order_of_their_roll_ups_and_then_of_their_leaves() {
        assertThat(List.of(
                        new Delta.Cell(0, Tuple.of(List.of("a"))),
                        new Delta.Cell(0, Tuple.of(List.of("b"))),
                        new Delta.Cell(1, Tuple.of(List.of("a"))),
                        new Delta.Cell(2, Tuple.of(List.of()))))
                .isSorted()
                .doesNotHaveDuplicates();
    }

    /// The items of a table of totals are found by it.
    @Test
    void a_leaf_has_the_hash_that_it_always_had() {
        long first = new Delta.Cell(0, Tuple.of(List.of("FX", "EMEA"))).hash();
        assertThat(first).isEqualTo(1_756_140_751_443_143_971L);
        assertThat(new Delta.Cell(3, Tuple.of(List.of("FX", "EMEA"))).hash()).isEqualTo(first + 3);
    }
}
