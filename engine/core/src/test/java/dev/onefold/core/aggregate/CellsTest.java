package dev.onefold.core.aggregate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Cells add and retract exactly, and the written cells are equal to them.
class CellsTest {
    private static final BigInteger MOST = BigInteger.TEN.pow(28).subtract(BigInteger.ONE);
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .rollup("other", r -> r.levels("x").sum("unused", "z", 9, 0))
            .rollup(
                    "main",
                    r -> r.levels("g")
                            .count("rows")
                            .measure("sum", "sum(n) decimal(38,2) missing ignore")
                            .measure("mean", "average(m) decimal(38,0) missing ignore")
                            .measure("least", "min(n) decimal(38,2) missing ignore")
                            .measure("most", "max(n) decimal(38,2) missing ignore")
                            .measure("texts", "distinct(t) missing ignore"))
            .build();

    private static final List<Measure> MEASURES =
            Rollups.of(PIPELINE).named("main").measures();

    /// A row by hand: null where there is no value.
    private record Row(
            int leaf,
            @Nullable BigInteger n,
            @Nullable BigInteger m,
            @Nullable String text) {
        Amounts amounts() {
            Amounts amounts = new Amounts(2, 4);
            amounts.counted = true;
            amounts.group[0] = 99;
            amounts.group[1] = leaf;
            put(amounts, 1, n);
            put(amounts, 2, m);
            amounts.present[3] = text != null;
            amounts.text[3] = text == null ? null : text.getBytes(StandardCharsets.UTF_8);
            return amounts;
        }

        private static void put(Amounts amounts, int input, @Nullable BigInteger value) {
            amounts.present[input] = value != null;
            amounts.hi[input] = value == null ? 77 : value.shiftRight(64).longValue();
            amounts.lo[input] = value == null ? 77 : value.longValue();
        }
    }

    private static final Amounts NOTHING = new Amounts(2, 4);

    /// The cells of a shard and the values beside them.
    private record Part(Cells cells, Values values) {
        void move(Amounts before, Amounts after) {
            cells.move(before, after);
        }

        void writeDirty(Log log) {
            cells.writeDirty(log);
            values.writeChanged(log);
        }

        Aggregate aggregate() {
            return new Aggregate(MEASURES);
        }
    }

    private static Part cells() {
        Values values = new Values(MEASURES, 3, _ -> {});
        return new Part(new Cells(PIPELINE, 1, values), values);
    }

    private static Aggregate leaf(Part part, int leaf) {
        return LeafReading.of(MEASURES, leaf, part.values, part.cells);
    }

    private static BigInteger number(RandomGenerator random) {
        BigInteger number = switch (random.nextInt(5)) {
            case 0 -> MOST;
            case 1 -> BigInteger.valueOf(random.nextInt(-2, 3));
            case 2 -> BigInteger.ONE.shiftLeft(63).add(BigInteger.valueOf(random.nextInt(-2, 3)));
            case 3 -> BigInteger.ONE.shiftLeft(64).add(BigInteger.valueOf(random.nextInt(-2, 3)));
            default ->
                BigInteger.valueOf(random.nextLong()).multiply(BigInteger.valueOf(random.nextInt(1_000_000_000)));
        };
        return random.nextBoolean() ? number : number.negate();
    }

    private static Row row(RandomGenerator random, int leaves) {
        return new Row(
                random.nextInt(leaves),
                random.nextInt(5) == 0 ? null : number(random),
                random.nextInt(5) == 0 ? null : number(random),
                random.nextInt(5) == 0 ? null : "t" + random.nextInt(4));
    }

    private static List<@Nullable BigDecimal> expected(List<Row> rows) {
        List<BigInteger> n =
                rows.stream().map(Row::n).filter(java.util.Objects::nonNull).toList();
        List<BigInteger> m =
                rows.stream().map(Row::m).filter(java.util.Objects::nonNull).toList();
        BigDecimal sumOfM = new BigDecimal(m.stream().reduce(BigInteger.ZERO, BigInteger::add));
        List<@Nullable BigDecimal> values = new ArrayList<>();
        values.add(BigDecimal.valueOf(rows.size()));
        values.add(new BigDecimal(n.stream().reduce(BigInteger.ZERO, BigInteger::add), 2));
        values.add(
                m.isEmpty() ? null : sumOfM.divide(BigDecimal.valueOf(m.size()), 0, java.math.RoundingMode.HALF_EVEN));
        values.add(n.stream()
                .min(BigInteger::compareTo)
                .map(v -> new BigDecimal(v, 2))
                .orElse(null));
        values.add(n.stream()
                .max(BigInteger::compareTo)
                .map(v -> new BigDecimal(v, 2))
                .orElse(null));
        values.add(BigDecimal.valueOf(rows.stream()
                .map(Row::text)
                .filter(java.util.Objects::nonNull)
                .distinct()
                .count()));
        return values;
    }

    @Test
    void rows_that_come_and_go_leave_what_the_remaining_ones_come_to() {
        Seeds.forAllSeeds(300, random -> {
            int leaves = 5;
            Part cells = cells();
            Map<Integer, Row> rows = new HashMap<>();
            for (int i = 0; i < 60; i++) {
                int key = random.nextInt(12);
                Row after = random.nextInt(4) == 0 ? null : row(random, leaves);
                Row before = after == null ? rows.remove(key) : rows.put(key, after);
                cells.move(before == null ? NOTHING : before.amounts(), after == null ? NOTHING : after.amounts());
            }
            for (int leaf = 0; leaf < leaves; leaf++) {
                int each = leaf;
                Aggregate aggregate = leaf(cells, leaf);
                assertThat(aggregate.answers())
                        .isEqualTo(expected(rows.values().stream()
                                .filter(row -> row.leaf == each)
                                .toList()));
                assertThat(aggregate.isEmpty()).isEqualTo(aggregate.rows() == 0);
            }
        });
    }

    @Test
    void a_row_that_moves_forth_and_back_leaves_nothing() {
        Seeds.forAllSeeds(1_000, random -> {
            Part cells = cells();
            Amounts one = row(random, 3_000).amounts();
            Amounts other = row(random, 3_000).amounts();
            cells.move(NOTHING, one);
            cells.move(one, other);
            cells.move(other, one);
            cells.move(one, NOTHING);
            for (Amounts each : List.of(one, other)) {
                assertThat(leaf(cells, each.group[1]).isSame(cells.aggregate())).isTrue();
            }
        });
    }

    @Test
    void sums_of_the_greatest_values_there_are_are_exact_in_128_bits() {
        Part cells = cells();
        for (int i = 0; i < 1_000; i++) {
            cells.move(NOTHING, new Row(0, MOST, MOST.negate(), null).amounts());
        }
        List<@Nullable BigDecimal> answers = leaf(cells, 0).answers();
        assertThat(answers.get(1)).isEqualTo(new BigDecimal(MOST.multiply(BigInteger.valueOf(1_000)), 2));
        assertThat(answers.get(2)).isEqualTo(new BigDecimal(MOST.negate()));
    }

    @Test
    void an_extreme_that_leaves_gives_way_to_the_next_and_comes_back_with_an_equal_one() {
        Part cells = cells();
        Amounts five = new Row(0, BigInteger.valueOf(500), null, "a").amounts();
        Amounts seven = new Row(0, BigInteger.valueOf(700), null, "b").amounts();
        cells.move(NOTHING, five);
        cells.move(NOTHING, seven);
        cells.move(NOTHING, seven);
        cells.move(seven, NOTHING);
        assertThat(leaf(cells, 0).answers().get(4)).isEqualTo("7.00");
        cells.move(seven, NOTHING);
        assertThat(leaf(cells, 0).answers().get(4)).isEqualTo("5.00");
        assertThat(leaf(cells, 0).answers().get(5)).isEqualTo("1");
        cells.move(five, NOTHING);
        assertThat(leaf(cells, 0).answers().get(3)).isNull();
        cells.move(NOTHING, five);
        assertThat(leaf(cells, 0).answers().get(3)).isEqualTo("5.00");
    }

    /// Takes the written cells, as a checkpoint does, and gives them to fresh ones.
    private static final class Log implements Cells.Sink, Values.Visitor {
        final Map<Integer, long[]> cells = new TreeMap<>();
        final Map<String, Long> values = new HashMap<>();
        int written;

        @Override
        public void cell(int leaf, long[] cell, int from, int length) {
            cells.put(leaf, Arrays.copyOfRange(cell, from, from + length));
            written++;
        }

        @Override
        public void value(byte[] key, int length, long count) {
            values.put(HexFormat.of().formatHex(key, 0, length), count);
        }

        Part replayed() {
            Part fresh = cells();
            cells.forEach(fresh.cells::setCell);
            values.forEach((hex, count) -> {
                byte[] key = HexFormat.of().parseHex(hex);
                fresh.values.set(Arrays.copyOf(key, key.length + Values.PADDING), key.length, count);
            });
            return fresh;
        }
    }

    private static void assertSame(Part cells, Part others, int leaves) {
        for (int leaf = 0; leaf < leaves; leaf++) {
            Aggregate one = leaf(cells, leaf);
            Aggregate other = leaf(others, leaf);
            if (!one.isSame(other) || !one.answers().equals(other.answers())) {
                throw new AssertionError("Leaf " + leaf + " is " + other.answers() + " and not " + one.answers());
            }
        }
    }

    @Test
    void what_is_written_since_the_beginning_makes_equal_cells() {
        Seeds.forAllSeeds(25, random -> {
            int leaves = random.nextInt(4) > 0 ? 6 : 1_100;
            Part cells = cells();
            Log log = new Log();
            Map<Integer, Amounts> rows = new HashMap<>();
            for (int round = 0; round < 5; round++) {
                java.util.Set<Integer> touched = new java.util.HashSet<>();
                for (int i = 0; i < 12; i++) {
                    Amounts after = random.nextInt(4) == 0
                            ? NOTHING
                            : row(random, leaves).amounts();
                    Amounts before = rows.put(random.nextInt(8), after);
                    cells.move(before == null ? NOTHING : before, after);
                    for (Amounts each : new Amounts[] {before, after}) {
                        if (each != null && each.counted) {
                            touched.add(each.group[1]);
                        }
                    }
                }
                assertThat(cells.cells.dirtyCount()).isEqualTo(touched.size());
                log.written = 0;
                cells.writeDirty(log);
                assertThat(log.written).isEqualTo(touched.size());
                assertThat(cells.cells.dirtyCount()).isZero();
                assertSame(cells, log.replayed(), leaves);
            }
            Log again = new Log();
            assertThat(cells.values.changedCount()).isZero();
            cells.writeDirty(again);
            assertThat(again.cells).isEmpty();
            assertThat(again.values).isEmpty();
            int half = leaves / 2;
            cells.cells.touch(0, half);
            cells.cells.touch(half, leaves + 5_000);
            cells.writeDirty(again);
            int[] left = {1 + random.nextInt(5)};
            Values.Place place = Values.Place.START;
            while (place != null) {
                place = cells.values.write(place, left[0], again);
            }
            assertSame(cells, again.replayed(), leaves);
        });
    }

    @Test
    void touching_some_leaves_writes_those_and_no_others() {
        Part cells = cells();
        for (int leaf = 0; leaf < 4; leaf++) {
            cells.move(NOTHING, new Row(leaf, BigInteger.TWO, BigInteger.ONE, "t").amounts());
        }
        cells.writeDirty(new Log());
        cells.cells.touch(1, 3);
        Log log = new Log();
        cells.writeDirty(log);
        assertThat(log.cells.keySet()).containsExactly(1, 2);
        assertThat(log.values).isEmpty();
        assertThat(log.cells.get(1)).hasSize(cells.cells.stride()).containsExactly(1, 0, 2, 1, 0, 1, 1);
    }

    @Test
    void cells_that_were_replayed_are_not_written_again_until_they_change() {
        Part cells = cells();
        cells.move(NOTHING, new Row(3, BigInteger.TWO, null, "t").amounts());
        Log log = new Log();
        cells.writeDirty(log);
        Part fresh = log.replayed();
        assertThat(fresh.cells.dirtyCount()).isZero();
        Log again = new Log();
        fresh.writeDirty(again);
        assertThat(again.values).isEmpty();
        fresh.move(new Row(3, BigInteger.TWO, null, "t").amounts(), NOTHING);
        fresh.writeDirty(again);
        assertThat(again.values.values()).containsOnly(0L).hasSize(3);
        assertThat(again.replayed().aggregate().isSame(leaf(again.replayed(), 3)))
                .isTrue();
    }

    @Test
    void one_shard_inherits_all_of_another() {
        Seeds.forAllSeeds(25, random -> {
            int leaves = random.nextInt(4) > 0 ? 5 : 2_100;
            Part all = cells();
            Part one = cells();
            Part other = new Part(new Cells(PIPELINE, 1, one.values), one.values);
            for (int i = 0; i < 40; i++) {
                Amounts amounts = row(random, leaves).amounts();
                all.move(NOTHING, amounts);
                (random.nextBoolean() ? one : other).move(NOTHING, amounts);
            }
            one.cells.writeDirty(new Log());
            Log ofBoth = new Log();
            Part heir = new Part(new Cells(PIPELINE, 1, one.values), one.values);
            heir.cells.addAll(one.cells, leaves);
            heir.cells.addAll(other.cells, leaves);
            assertSame(all, heir, leaves);
            heir.writeDirty(ofBoth);
            assertSame(all, ofBoth.replayed(), leaves);
            one.cells.addAll(other.cells, leaves);
            assertSame(all, one, leaves);
        });
    }

    @Test
    void a_leaf_that_was_never_seen_adds_nothing() {
        Part cells = cells();
        cells.move(NOTHING, new Row(2_000, BigInteger.ONE, null, null).amounts());
        for (int leaf : new int[] {0, 1_999, 2_001, 2_048, 5_000_000}) {
            assertThat(leaf(cells, leaf).isSame(cells.aggregate())).isTrue();
        }
        assertThat(leaf(cells, 2_000).rows()).isEqualTo(1);
    }

    @Test
    void what_is_not_counted_moves_nothing() {
        Part cells = cells();
        Amounts amounts = new Row(0, BigInteger.ONE, BigInteger.ONE, "t").amounts();
        amounts.counted = false;
        cells.move(amounts, amounts);
        assertThat(cells.cells.dirtyCount()).isZero();
        assertThat(leaf(cells, 0).isSame(cells.aggregate())).isTrue();
    }

    @Test
    void cells_that_were_emptied_hold_nothing_and_have_nothing_to_write() {
        Part cells = cells();
        cells.move(NOTHING, new Row(5, BigInteger.ONE, BigInteger.ONE, null).amounts());
        cells.cells.clear();
        assertThat(cells.cells.dirtyCount()).isZero();
        long[] cell = new long[cells.cells.stride()];
        cells.cells.addTo(cell, 5);
        assertThat(cell).containsOnly(0);
    }

    @Test
    void cells_take_memory_for_a_thousand_leaves_at_a_time() {
        Cells cells = cells().cells;
        assertThat(cells.bytesOf(0)).isZero();
        assertThat(cells.bytesOf(1)).isEqualTo(1_024L * cells.stride() * 8);
        assertThat(cells.bytesOf(1_024)).isEqualTo(cells.bytesOf(1));
        assertThat(cells.bytesOf(1_025)).isEqualTo(2 * cells.bytesOf(1));
        assertThat(cells.bytesOf(10_000_000_000L)).isEqualTo(9_765_625 * cells.bytesOf(1));
    }
}
