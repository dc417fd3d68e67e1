package dev.onefold.embedded.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.fixtures.Seeds;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.NavigableMap;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class KeyLinesTest {
    private final KeyLines lines = new KeyLines();
    private final NavigableMap<BatchNumber, Set<Long>> all = new TreeMap<>(); // The oracle has no lines.

    private static long[] some(RandomGenerator random, long[] of) {
        return Arrays.stream(of).filter(_ -> random.nextBoolean()).toArray();
    }

    private static Set<Long> set(long[] keys) {
        return LongStream.of(keys).boxed().collect(Collectors.toSet());
    }

    private Set<BatchNumber> free() {
        Set<BatchNumber> free = new TreeSet<>();
        Set<Long> held = new TreeSet<>();
        all.forEach((number, keys) -> {
            if (keys.stream().noneMatch(held::contains)) {
                free.add(number);
            }
            held.addAll(keys);
        });
        return free;
    }

    private void add(BatchNumber number, long[] keys) {
        all.put(number, set(keys));
        boolean isFree = lines.add(number, keys);
        assertThat(isFree).isEqualTo(free().contains(number));
    }

    private void divide(RandomGenerator random, BatchNumber whole) {
        long[] keys = all.remove(whole).stream().mapToLong(Long::longValue).toArray();
        SequencedMap<BatchNumber, long[]> parts = new LinkedHashMap<>();
        for (int part = random.nextInt(1, 3); part > 0; part--) {
            parts.put(whole.part(parts.size() + 1), some(random, keys));
        }
        parts.forEach((number, own) -> all.put(number, set(own)));
        lines.divide(whole, parts);
    }

    private void step(RandomGenerator random, long next) {
        List<BatchNumber> numbers = List.copyOf(all.keySet());
        List<BatchNumber> free = List.copyOf(free());
        switch (numbers.isEmpty() ? 0 : random.nextInt(4)) {
            case 0, 1 -> add(BatchNumber.of(next), some(random, new long[] {1, 2, 3, 4, 5}));
            case 2 -> {
                boolean isDecided = random.nextInt(4) == 0; // A person ends any one.
                BatchNumber number =
                        isDecided ? numbers.get(random.nextInt(numbers.size())) : free.get(random.nextInt(free.size()));
                all.remove(number);
                lines.remove(number);
            }
            default -> divide(random, free.get(random.nextInt(free.size())));
        }
    }

    @Test
    void the_free_deliveries_are_those_that_share_no_key_with_an_earlier_one() {
        Seeds.forAllSeeds(300, random -> {
            KeyLinesTest test = new KeyLinesTest();
            for (long next = 1; next < 60; next++) {
                test.step(random, next);
                assertThat(test.lines.free()).isEqualTo(test.free());
                assertThat(test.lines.places())
                        .isEqualTo(
                                test.all.values().stream().mapToInt(Set::size).sum());
                for (BatchNumber number : test.all.keySet()) {
                    BatchNumber before = test.lines.before(number);
                    assertThat(before == null).isEqualTo(test.free().contains(number));
                    assertThat(before == null || before.compareTo(number) < 0).isTrue();
                }
            }
        });
    }
}
