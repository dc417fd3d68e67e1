package dev.onefold.core.aggregate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Amount;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Values off the heap are equal to a map of them.
class ValuesTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .rollup(
                    "main",
                    r -> r.levels("g")
                            .count("rows")
                            .measure("least", "min(n) decimal(38,2)")
                            .measure("texts", "distinct(t)")
                            .measure("most", "max(m) decimal(38,2)")
                            .measure("others", "distinct(u)"))
            .build();
    private static final int LEAST = 0;
    private static final int TEXTS = 1;
    private static final int MOST = 2;
    private static final int OTHERS = 3;
    private static final List<Measure> MEASURES =
            Rollups.of(PIPELINE).named("main").measures();
    private static final BigInteger MAXIMUM = BigInteger.TEN.pow(38).subtract(BigInteger.ONE);

    private final AtomicLong bytes = new AtomicLong();

    private Values values(int parts) {
        return new Values(MEASURES, parts, bytes::addAndGet);
    }

    private record Value(int leaf, int number, Object value) {
        byte[] key() {
            byte[] key = new byte[Values.KEY_BYTES_MAX + Values.PADDING];
            Values.putPlace(leaf, number, key);
            return key;
        }

        int put(byte[] key) {
            if (value instanceof BigInteger integer) {
                return Values.putNumber(integer.shiftRight(64).longValue(), integer.longValue(), key);
            }
            byte[] text = ((String) value).getBytes(StandardCharsets.UTF_8);
            System.arraycopy(text, 0, key, Values.VALUE_AT, text.length);
            return Values.VALUE_AT + text.length;
        }

        Amount amount() {
            return value instanceof BigInteger integer
                    ? new Amount.Number(new BigDecimal(integer, 2))
                    : new Amount.Text((String) value);
        }

        void add(Values values, long count) {
            byte[] key = key();
            values.add(key, put(key), count);
        }
    }

    private static BigInteger integer(RandomGenerator random) {
        BigInteger integer = switch (random.nextInt(6)) {
            case 0 -> MAXIMUM.subtract(BigInteger.valueOf(random.nextInt(2)));
            case 1 -> BigInteger.valueOf(random.nextInt(3));
            case 2 -> BigInteger.ONE.shiftLeft(8 * random.nextInt(1, 16) - random.nextInt(2));
            case 3 -> BigInteger.ONE.shiftLeft(63 + random.nextInt(3)).subtract(BigInteger.ONE);
            default -> BigInteger.valueOf(random.nextLong() >> random.nextInt(64));
        };
        return random.nextBoolean() ? integer : integer.negate();
    }

    private static String text(RandomGenerator random) {
        return switch (random.nextInt(6)) {
            case 0 -> "";
            case 1 -> "ä€😀".repeat(random.nextInt(1, 3));
            case 2 -> "\0".repeat(random.nextInt(3));
            case 3 -> "x".repeat(1_980) + random.nextInt(30); // Differs only where it ends.
            case 4 -> "x".repeat(random.nextInt(1_990));
            default -> "t" + random.nextInt(500);
        };
    }

    private static Value value(RandomGenerator random, int leaves) {
        int number = random.nextInt(4);
        return new Value(
                random.nextInt(5) == 0 ? 70_000 + random.nextInt(leaves) : random.nextInt(leaves),
                number,
                number == LEAST || number == MOST ? integer(random) : text(random));
    }

    private static void requireSame(Map<Value, Long> expected, Values values) {
        Set<Integer> leaves = new HashSet<>();
        expected.keySet().forEach(value -> leaves.add(value.leaf));
        leaves.add(12_345_678);
        for (int leaf : leaves) {
            Aggregate aggregate = new Aggregate(MEASURES);
            expected.forEach((value, count) -> {
                if (value.leaf == leaf) {
                    aggregate.add(1 + value.number, value.amount(), count);
                }
            });
            assertThat(LeafReading.of(MEASURES, leaf, values).isSame(aggregate)).isTrue();
            assertThat(values.distinct(leaf, TEXTS))
                    .isEqualTo(aggregate.answers().get(2).longValue());
            assertThat(values.distinct(leaf, OTHERS))
                    .isEqualTo(aggregate.answers().get(4).longValue());
            assertThat(values.extreme(leaf, LEAST, true))
                    .isEqualTo(unscaled(aggregate.answers().get(1)));
            assertThat(values.extreme(leaf, MOST, false))
                    .isEqualTo(unscaled(aggregate.answers().get(3)));
        }
        int[] some = leaves.stream().mapToInt(Integer::intValue).sorted().toArray();
        Set<Object> distinct = new HashSet<>();
        expected.keySet().stream()
                .filter(value -> value.number == TEXTS && value.leaf != some[0])
                .forEach(value -> distinct.add(value.value));
        assertThat(values.distinct(some, 1, some.length, TEXTS)).isEqualTo(distinct.size());
    }

    private static @Nullable BigInteger unscaled(@Nullable BigDecimal number) {
        return number == null ? null : number.unscaledValue();
    }

    /// Takes the written values, as a checkpoint does, in the order in which they are written.
    private static final class Log implements Values.Visitor {
        final List<Map.Entry<String, Long>> words = new ArrayList<>();

        @Override
        public void value(byte[] key, int length, long count) {
            words.add(Map.entry(HexFormat.of().formatHex(key, 0, length), count));
        }

        void replay(Values values) {
            for (Map.Entry<String, Long> word : words) {
                byte[] key = HexFormat.of().parseHex(word.getKey());
                values.set(Arrays.copyOf(key, key.length + Values.PADDING), key.length, word.getValue());
            }
        }
    }

    private static void change(RandomGenerator random, Map<Value, Long> expected, Values values, int leaves) {
        boolean retract = random.nextInt(10) < 4 && !expected.isEmpty();
        Value value =
                retract ? List.copyOf(expected.keySet()).get(random.nextInt(expected.size())) : value(random, leaves);
        long count = retract ? -Math.min(expected.get(value), 1 + random.nextInt(2)) : 1 + random.nextInt(2);
        value.add(values, count);
        if (expected.merge(value, count, Long::sum) == 0) {
            expected.remove(value);
        }
    }

    @Test
    void values_that_come_and_go_are_those_of_a_map_and_what_is_written_of_them_makes_them_again() {
        Seeds.forAllSeeds(60, random -> {
            int leaves = random.nextInt(1, 4);
            try (Values values = values(random.nextInt(1, 4));
                    Values replayed = values(random.nextInt(1, 4))) {
                Map<Value, Long> expected = new java.util.LinkedHashMap<>();
                for (int round = 0; round < 4; round++) {
                    int changes = random.nextInt(150);
                    for (int i = 0; i < changes; i++) {
                        change(random, expected, values, leaves);
                    }
                    Log log = new Log();
                    long changed = values.changedCount();
                    values.writeChanged(log);
                    assertThat(log.words).hasSize((int) changed);
                    assertThat(values.changedCount()).isZero();
                    log.replay(replayed);
                    requireSame(expected, values);
                    requireSame(expected, replayed);
                    assertThat(replayed.changedCount()).isZero();
                }
            }
            assertThat(bytes.get()).isZero();
        });
    }

    @Test
    void values_are_written_again_in_pieces_of_any_size_while_they_change() {
        Seeds.forAllSeeds(40, random -> {
            try (Values values = values(3);
                    Values replayed = values(2)) {
                Map<Value, Long> expected = new java.util.LinkedHashMap<>();
                Log log = new Log();
                for (int i = 0; i < 200; i++) {
                    change(random, expected, values, 2);
                }
                values.writeChanged(new Log()); // Stands in an older log.
                Values.Place place = Values.Place.START;
                while (place != null) {
                    change(random, expected, values, 2);
                    int most = random.nextInt(1, 20);
                    int before = log.words.size();
                    place = values.write(place, most, log);
                    assertThat(log.words.size() - before).isLessThanOrEqualTo(most);
                    values.writeChanged(log);
                }
                log.replay(replayed);
                requireSame(expected, replayed);
            }
        });
    }

    @Test
    void of_values_that_replace_others_only_what_differs_is_written() {
        Seeds.forAllSeeds(60, random -> {
            Values served = values(3);
            try (Values right = values(3);
                    Values replayed = values(1)) {
                Map<Value, Long> expected = new java.util.LinkedHashMap<>();
                Map<Value, Long> wrong = new java.util.LinkedHashMap<>();
                for (int i = 0; i < 100; i++) {
                    Value value = value(random, 2);
                    value.add(right, 1);
                    if (random.nextInt(4) == 0) { // A value that left and came back is not written.
                        value.add(right, -1);
                        value.add(right, 1);
                    }
                    expected.merge(value, 1L, Long::sum);
                    value.add(served, 1);
                    wrong.merge(value, 1L, Long::sum);
                }
                Log log = new Log();
                served.writeChanged(log);
                int common = random.nextInt(5); // Both see them, and they are not written yet.
                for (int i = 0; i < common; i++) {
                    Value value = random.nextBoolean()
                            ? value(random, 2)
                            : List.copyOf(expected.keySet()).get(random.nextInt(expected.size()));
                    long more = random.nextBoolean() ? 1 : -expected.getOrDefault(value, -1L);
                    for (Map<Value, Long> each : List.of(expected, wrong)) {
                        if (each.merge(value, more, Long::sum) == 0) {
                            each.remove(value);
                        }
                    }
                    value.add(right, more);
                    value.add(served, more);
                }
                int damage = random.nextInt(5);
                for (int i = 0; i < damage; i++) {
                    change(random, wrong, served, 2);
                }
                if (random.nextBoolean()) {
                    served.writeChanged(log);
                }
                right.replaces(served);
                served.close();
                assertThat(right.changedCount()).isLessThanOrEqualTo(2L * damage + common);
                right.writeChanged(log);
                log.replay(replayed);
                requireSame(expected, right);
                requireSame(expected, replayed);
                for (int leaf = 0; leaf < 3; leaf++) {
                    assertThat(right.isSame(leaf, right, leaf)).isTrue();
                    assertThat(right.isSame(leaf, right, leaf + 1))
                            .isEqualTo(ofLeaf(expected, leaf).equals(ofLeaf(expected, leaf + 1)));
                }
            }
        });
    }

    private static Map<String, Long> ofLeaf(Map<Value, Long> values, int leaf) {
        Map<String, Long> some = new TreeMap<>();
        values.forEach((value, count) -> {
            if (value.leaf == leaf) {
                some.put(value.number + " " + value.value, count);
            }
        });
        return some;
    }

    @Test
    void numbers_are_kept_in_their_order() {
        Seeds.forAllSeeds(300, random -> {
            BigInteger one = integer(random);
            BigInteger other = integer(random);
            byte[] oneKey = new byte[40];
            byte[] otherKey = new byte[40];
            int oneLength = new Value(0, 0, one).put(oneKey);
            int otherLength = new Value(0, 0, other).put(otherKey);
            assertThat(Integer.signum(Arrays.compareUnsigned(oneKey, 0, oneLength, otherKey, 0, otherLength)))
                    .isEqualTo(one.compareTo(other));
            assertThat(Values.number(oneKey, oneLength)).isEqualTo(one);
        });
    }

    @Tag("campaign")
    @Test
    void a_hundred_thousand_values_in_any_order_take_less_than_a_hundred_bytes_each_and_all_of_it_is_used_again() {
        for (int step : new int[] {1, -1, 65_537}) {
            try (Values values = values(2)) {
                long before = bytes.get();
                for (int round = 0; round < 2; round++) {
                    for (int i = 0; i < 100_000; i++) {
                        new Value(0, LEAST, BigInteger.valueOf(Math.floorMod((long) i * step, 100_003L) * 1_000_003L))
                                .add(values, 1);
                    }
                    assertThat(bytes.get() - before).isLessThan(100 * 100_000 * 6 / 10);
                    for (int i = 0; i < 100_000; i++) {
                        BigInteger least = values.extreme(0, LEAST, true);
                        new Value(0, LEAST, java.util.Objects.requireNonNull(least)).add(values, -1);
                    }
                    assertThat(values.extreme(0, LEAST, true)).isNull();
                    values.writeChanged(new Log());
                }
            }
        }
    }

    @Test
    void more_than_was_added_cannot_be_retracted() {
        try (Values values = values(1)) {
            Value value = new Value(0, TEXTS, "a");
            assertThatThrownBy(() -> value.add(values, -1)).isInstanceOf(IllegalStateException.class);
            value.add(values, 1);
            assertThatThrownBy(() -> value.add(values, -2)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void what_a_batch_takes_is_never_more_than_was_foreseen() {
        Seeds.forAllSeeds(20, random -> {
            try (Values values = values(random.nextInt(1, 5))) {
                for (int batch = 0; batch < 6; batch++) {
                    int rows = random.nextInt(400);
                    List<Value> added = new ArrayList<>();
                    for (int i = 0; i < rows; i++) {
                        added.add(new Value(random.nextInt(3), TEXTS, text(random) + i));
                        added.add(new Value(random.nextInt(3), MOST, integer(random)));
                    }
                    long textBytes = added.stream()
                            .filter(value -> value.value instanceof String)
                            .mapToLong(value -> value.put(value.key()) - Values.VALUE_AT)
                            .sum();
                    long foreseen = values.bytes() + values.bytesFor(rows, textBytes);
                    added.forEach(value -> value.add(values, 1));
                    assertThat(values.bytes()).isLessThanOrEqualTo(foreseen);
                }
            }
        });
    }

    @Test
    void distinct_values_that_outgrow_the_table_are_counted_in_passes() {
        try (Values values = values(2)) {
            Set<Integer> distinct = new HashSet<>();
            SplittableRandom random = new SplittableRandom(7);
            for (int i = 0; i < 9_000; i++) {
                int text = random.nextInt(5_000);
                new Value(1 + random.nextInt(3), TEXTS, "x".repeat(text % 50) + text).add(values, 1);
                new Value(1 + random.nextInt(3), OTHERS, "" + i).add(values, 1);
                distinct.add(text);
            }
            int[] leaves = {1, 2, 3, 4};
            for (int slots : new int[] {1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 22}) {
                assertThat(new DistinctUnion(values, TEXTS, leaves, 0, 4).count(slots))
                        .isEqualTo(distinct.size());
            }
            assertThat(values.distinct(leaves, 0, 4, TEXTS)).isEqualTo(distinct.size());
            assertThat(values.distinct(leaves, 3, 4, TEXTS)).isZero();
        }
    }

    @Test
    void a_value_that_stays_is_written_once_and_of_one_that_leaves_only_that() {
        try (Values values = values(1)) {
            Value value = new Value(0, TEXTS, "a");
            value.add(values, 1);
            value.add(values, 2);
            Log log = new Log();
            values.writeChanged(log);
            assertThat(log.words).extracting(Map.Entry::getValue).containsExactly(3L);
            value.add(values, -1);
            value.add(values, -2);
            values.writeChanged(log);
            assertThat(log.words).extracting(Map.Entry::getValue).containsExactly(3L, 0L);
        }
    }

    @Test
    void values_spread_over_all_parts_and_their_memory_is_stated() {
        try (Values values = values(4)) {
            for (int i = 0; i < 1_000; i++) {
                new Value(0, MOST, BigInteger.valueOf(i)).add(values, 1);
            }
            assertThat(values.count()).isEqualTo(1_000);
            assertThat(values.parts).allMatch(part -> part.present.size() > 150);
            assertThat(values.bytes()).isEqualTo(bytes.get()).isPositive();
        }
        assertThat(bytes.get()).isZero();
    }

    @Test
    void the_place_of_a_value_is_in_its_key() {
        byte[] key = new byte[Values.VALUE_AT];
        for (int leaf : new int[] {0, 1, 255, 256, 65_536, 1 << 24, 0x12345678, Integer.MAX_VALUE}) {
            Values.putPlace(leaf, 3, key);
            assertThat(Values.leaf(key)).isEqualTo(leaf);
            assertThat(key[4]).isEqualTo((byte) 3);
        }
    }

    @Test
    void the_longest_text_is_set_again_and_what_is_no_value_of_the_roll_up_is_refused() {
        try (Values values = values(1)) {
            Value longest = new Value(0, TEXTS, "x".repeat(2_000));
            byte[] key = longest.key();
            int length = longest.put(key);
            values.set(key, length, 2);
            requireSame(Map.of(longest, 2L), values);
            byte[] other = new byte[Values.KEY_BYTES_MAX + 1 + Values.PADDING];
            for (int wrong : new int[] {-1, 4, 5}) {
                Values.putPlace(0, wrong, other);
                assertThatThrownBy(() -> values.set(other, 9, 1)).isInstanceOf(IllegalArgumentException.class);
            }
            Values.putPlace(0, TEXTS, other);
            for (int wrong : new int[] {4, Values.KEY_BYTES_MAX + 1}) {
                assertThatThrownBy(() -> values.set(other, wrong, 1)).isInstanceOf(IllegalArgumentException.class);
            }
            assertThatThrownBy(() -> values.set(other, 9, -1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void what_large_batches_take_is_never_more_than_was_foreseen() {
        try (Values values = values(1)) {
            long forNumbers = values.bytesFor(20_000, 0);
            for (int i = 0; i < 20_000; i++) {
                BigInteger number = MAXIMUM.subtract(BigInteger.valueOf(i * 7_919L % 20_000));
                new Value(0, LEAST, number).add(values, 1);
                new Value(0, MOST, number).add(values, 1);
            }
            assertThat(values.bytes()).isLessThanOrEqualTo(forNumbers);
        }
        try (Values values = values(1)) {
            long forTexts = values.bytesFor(1_000, 1_000 * 1_994L);
            for (int i = 0; i < 1_000; i++) {
                new Value(0, TEXTS, "x".repeat(1_990) + (1_000 + i * 7 % 1_000)).add(values, 1);
            }
            assertThat(values.bytes()).isLessThanOrEqualTo(forTexts);
        }
        try (Values none =
                new Values(Rollups.of(PIPELINE).named("main").measures().subList(0, 1), 4, _ -> {})) {
            assertThat(none.bytesFor(1_000, 1_000)).isZero();
        }
    }
}
