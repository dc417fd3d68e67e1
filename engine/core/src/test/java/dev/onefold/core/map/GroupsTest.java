package dev.onefold.core.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.bytes.Hash;
import dev.onefold.core.event.Tuple;
import dev.onefold.fixtures.Seeds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Each group has one number for all threads.
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
    void of_a_copy_without_some_groups_the_numbers_are_given_again_and_the_first_one_stays_as_it_is() {
        Seeds.forAllSeeds(50, random -> {
            Groups groups = new Groups();
            Map<Tuple, Integer> known = new TreeMap<>();
            for (int step = 0; step < 200; step++) {
                Tuple group = group(random.nextInt(300));
                int number = groups.number(group);
                Integer before = known.put(group, number);
                assertThat(before == null || before == number).isTrue();
                assertThat(Set.copyOf(known.values())).hasSize(known.size());
                if (random.nextInt(20) == 0) {
                    BitSet ended = new BitSet();
                    known.values().stream().filter(_ -> random.nextInt(3) == 0).forEach(ended::set);
                    Groups first = groups;
                    List<Tuple> names =
                            Arrays.stream(first.order()).mapToObj(first::tuple).toList();
                    groups = first.without(ended);
                    known.values().removeIf(ended::get);
                    groups.number(group(1_000 + step));
                    known.put(group(1_000 + step), groups.find(group(1_000 + step)));
                    assertThat(Arrays.stream(first.order()).mapToObj(first::tuple))
                            .containsExactlyElementsOf(names);
                }
                if (random.nextInt(5) == 0) {
                    assertThat(Arrays.stream(groups.order()).mapToObj(groups::tuple))
                            .containsExactlyElementsOf(known.keySet());
                }
            }
            assertThat(groups.size()).isLessThan(330);
        });
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

    private static Tuple random(RandomGenerator random) {
        List<String> parts = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            parts.add(List.of("", "a", "a\0", "\0", "b", "ä", "x".repeat(random.nextInt(260, 900)))
                    .get(random.nextInt(7)));
        }
        return Tuple.of(parts);
    }

    private static int inCommon(List<String> one, List<String> other) {
        int levels = 0;
        while (levels < Math.min(one.size(), other.size()) && one.get(levels).equals(other.get(levels))) {
            levels++;
        }
        return levels;
    }

    @Test
    void numbers_names_order_and_ranks_are_those_of_a_list_and_a_sorted_map() {
        Seeds.forAllSeeds(100, random -> {
            Groups groups = new Groups();
            List<Tuple> names = new ArrayList<>();
            TreeMap<Tuple, Integer> sorted = new TreeMap<>();
            for (int round = 0; round < 3; round++) {
                for (int i = random.nextInt(150); i > 0; i--) {
                    Tuple name = random(random);
                    if (sorted.putIfAbsent(name, names.size()) == null) {
                        names.add(name);
                    }
                    assertThat(groups.number(name)).isEqualTo(sorted.get(name));
                }
                int[] order = groups.order();
                assertThat(order).containsExactly(sorted.values().toArray(new Integer[0]));
                assertThat(groups.order()).isSameAs(order); // Nothing is sorted again.
                for (int i = 0; i < names.size(); i++) {
                    assertThat(groups.tuple(i)).isEqualTo(names.get(i));
                    int other = random.nextInt(names.size());
                    assertThat(groups.levelsInCommon(i, other))
                            .isEqualTo(inCommon(
                                    names.get(i).parts(), names.get(other).parts()));
                }
                Tuple asked = random(random);
                assertThat(groups.find(asked)).isEqualTo(sorted.getOrDefault(asked, -1));
                assertThat(groups.rank(order, asked, false))
                        .isEqualTo(sorted.headMap(asked).size());
                assertThat(groups.rank(order, asked, true))
                        .isEqualTo(sorted.headMap(asked).size()
                                + (int) sorted.keySet().stream()
                                        .filter(name -> name.startsWith(asked))
                                        .count());
            }
        });
    }

    @Test
    void what_more_groups_take_is_never_more_than_was_foreseen_and_not_much_less() {
        assertThat(new Groups().bytesWith(0, 0)).isZero();
        Seeds.forAllSeeds(60, random -> {
            Groups groups = new Groups();
            for (int round = 0; round < 4; round++) {
                int length = round == 2 ? 1_900 : 50;
                String prefix = round + ".";
                requireForeseen(
                        groups,
                        IntStream.range(0, random.nextInt(200))
                                .mapToObj(i -> Tuple.of(List.of(prefix + i, "x".repeat(random.nextInt(length)))))
                                .toList());
            }
        });
        requireForeseen(
                new Groups(),
                IntStream.range(0, 40_000)
                        .mapToObj(i -> Tuple.of(List.of("" + i)))
                        .toList());
    }

    private static void requireForeseen(Groups groups, List<Tuple> names) {
        long before = groups.bytesWith(0, 0);
        long bytes = names.stream().mapToLong(name -> name.bytes().length).sum();
        long foreseen = groups.bytesWith(names.size(), bytes);
        names.forEach(groups::number);
        assertThat(groups.bytesWith(0, 0)).isBetween(before + 24L * names.size(), foreseen);
        assertThat(foreseen).isLessThanOrEqualTo((before + bytes + 26L * names.size()) * 104 / 100 + (2 << 16));
    }

    private static Tuple name(int bytes) {
        byte[] name = new byte[bytes];
        Arrays.fill(name, (byte) 'x');
        name[bytes - 2] = 0;
        name[bytes - 1] = 1;
        return new Tuple(name);
    }

    @Test
    void names_fill_a_block_to_its_last_byte_and_no_name_is_longer_than_a_block() {
        int block = 1 << 16;
        Groups groups = new Groups();
        assertThat(groups.number(name(block / 2 + 8 - 2))).isZero();
        assertThat(groups.number(name(block / 2 - 8 - 2))).isEqualTo(1);
        assertThat(groups.bytesWith(0, 0)).isEqualTo(block + 2 * 24);
        assertThat(groups.number(name(block - 2))).isEqualTo(2);
        assertThat(groups.bytesWith(0, 0)).isEqualTo(2 * block + 3 * 24);
        assertThat(groups.tuple(2)).isEqualTo(name(block - 2));
        assertThat(groups.levelsInCommon(2, 2)).isEqualTo(1);
        assertThatThrownBy(() -> groups.number(name(block - 1))).hasMessage("A group of 65535 bytes is over 2000");
    }
}
