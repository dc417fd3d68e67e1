package dev.onefold.core.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.bytes.Hash;
import dev.onefold.core.event.Tuple;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Each group has one number, whoever asks.
class GroupsTest {
    private static Tuple group(int i) {
        return Tuple.of(List.of("group " + i, "\0".repeat(i % 3)));
    }

    private static int number(Groups.Cache cache, Tuple tuple) {
        byte[] framed = new byte[tuple.bytes().length + 2 + Hash.PADDING];
        Arrays.fill(framed, (byte) framed.length);
        System.arraycopy(tuple.bytes(), 0, framed, 2, tuple.bytes().length);
        return cache.number(framed, 2, 2 + tuple.bytes().length);
    }

    @Test
    void groups_are_numbered_in_the_order_of_their_first_appearance_and_keep_their_number() {
        Groups groups = new Groups();
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 100; i++) {
                assertThat(groups.number(group(i))).isEqualTo(i);
            }
        }
        assertThat(groups.size()).isEqualTo(100);
        assertThat(groups.tuple(42)).isEqualTo(group(42));
        assertThat(groups.find(group(42))).isEqualTo(42);
        assertThat(groups.find(group(100))).isEqualTo(-1);
        assertThat(groups.size()).isEqualTo(100);
        assertThatThrownBy(() -> groups.tuple(100)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void a_cache_gives_the_same_numbers_as_it_grows_and_beyond_its_limit() {
        Groups groups = new Groups();
        Groups.Cache cache = new Groups.Cache(groups);
        int count = (1 << 16) + 5_000;
        for (int i = 0; i < count; i++) {
            assertThat(number(cache, group(i))).isEqualTo(i);
        }
        for (int i = 0; i < count; i++) {
            if (number(cache, group(i)) != i || number(cache, group(count - 1 - i)) != count - 1 - i) {
                throw new AssertionError("Group " + i + " has another number");
            }
        }
        assertThat(groups.size()).isEqualTo(count);
        assertThat(number(cache, Tuple.of(List.of()))).isEqualTo(count);
        assertThat(number(cache, Tuple.of(List.of()))).isEqualTo(count);
    }

    @Test
    void groups_that_begin_alike_are_different() {
        Groups.Cache cache = new Groups.Cache(new Groups());
        List<Tuple> tuples = List.of(
                Tuple.of(List.of("")),
                Tuple.of(List.of("", "")),
                Tuple.of(List.of("a")),
                Tuple.of(List.of("a\0")),
                Tuple.of(List.of("a", "")),
                Tuple.of(List.of()));
        assertThat(tuples.stream().map(tuple -> number(cache, tuple))).containsExactly(0, 1, 2, 3, 4, 5);
        assertThat(tuples.stream().map(tuple -> number(cache, tuple))).containsExactly(0, 1, 2, 3, 4, 5);
    }

    @Test
    void many_threads_with_caches_of_their_own_get_the_same_numbers() throws Exception {
        Groups groups = new Groups();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Callable<int[]>> tasks = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                SplittableRandom random = new SplittableRandom(thread);
                tasks.add(() -> {
                    Groups.Cache cache = new Groups.Cache(groups);
                    int[] numbers = new int[2_000];
                    Arrays.fill(numbers, -1);
                    for (int i = 0; i < 20_000; i++) {
                        int group = random.nextInt(numbers.length);
                        int number = number(cache, group(group));
                        if (numbers[group] >= 0 && numbers[group] != number) {
                            throw new AssertionError("Group " + group + " has two numbers");
                        }
                        numbers[group] = number;
                    }
                    return numbers;
                });
            }
            for (Future<int[]> result : threads.invokeAll(tasks)) {
                int[] numbers = result.get();
                for (int i = 0; i < numbers.length; i++) {
                    if (numbers[i] >= 0) {
                        assertThat(groups.tuple(numbers[i])).isEqualTo(group(i));
                    }
                }
            }
        }
        assertThat(new HashSet<>(IntStream.range(0, groups.size())
                        .mapToObj(groups::tuple)
                        .toList()))
                .hasSize(groups.size());
        assertThat(IntStream.range(0, groups.size()).allMatch(i -> groups.number(groups.tuple(i)) == i))
                .isTrue();
    }
}
