package dev.onefold.core.aggregate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// Keys and their counts are those of a sorted map. Long keys make a tree of few keys deep.
class ValueTreeTest {
    private final AtomicLong bytes = new AtomicLong();

    private static byte[] padded(String key) {
        return Arrays.copyOf(key.getBytes(StandardCharsets.ISO_8859_1), key.length() + TreePage.PADDING);
    }

    private static String key(RandomGenerator random, int keys) {
        int number = random.nextInt(keys);
        return switch (number % 4) {
            case 0 -> "" + number;
            case 1 -> "x".repeat(1_990) + number; // Only their ends differ, so what separates pages is as long.
            case 2 -> "x".repeat(number % 1_900) + (char) (128 + number % 100);
            default -> number + "\0".repeat(number % 20);
        };
    }

    private static String text(byte[] key, int length) {
        return new String(key, 0, length, StandardCharsets.ISO_8859_1);
    }

    private static Map<String, Long> changed(ValueTree tree) {
        Map<String, Long> changed = new HashMap<>();
        tree.writeChanged((key, length, count) ->
                assertThat(changed.put(text(key, length), count)).isNull());
        return changed;
    }

    private static void requireSame(NavigableMap<String, Long> expected, ValueTree tree) {
        byte[] key = new byte[4_000];
        TreeCursor cursor = tree.cursor();
        TreeMap<String, Long> seen = new TreeMap<>();
        for (boolean more = cursor.seek(key, 0); more; more = cursor.next()) {
            seen.put(text(key, cursor.key(key)), cursor.count());
        }
        assertThat(seen).isEqualTo(expected);
        assertThat(tree.size()).isEqualTo(expected.size());
        List<String> backwards = new ArrayList<>();
        while (cursor.previous()) {
            backwards.add(text(key, cursor.key(key)));
        }
        assertThat(backwards).isEqualTo(List.copyOf(expected.descendingKeySet()));
        assertThat(cursor.previous()).isFalse();
    }

    private static void requireFound(NavigableMap<String, Long> expected, ValueTree tree, String asked) {
        byte[] key = new byte[4_000];
        TreeCursor cursor = tree.cursor();
        assertThat(cursor.seek(padded(asked), asked.length())).isEqualTo(expected.ceilingKey(asked) != null);
        String ceiling = expected.ceilingKey(asked);
        if (ceiling != null) {
            assertThat(text(key, cursor.key(key))).isEqualTo(ceiling);
            assertThat(cursor.startsWith(padded(asked), asked.length())).isEqualTo(ceiling.startsWith(asked));
            assertThat(cursor.startsWith(padded(asked + "z"), asked.length() + 1))
                    .isEqualTo(ceiling.startsWith(asked + "z"));
            byte[] same = padded(ceiling);
            assertThat(tree.isSame(cursor.address(), same, 0, ceiling.length())).isTrue();
            assertThat(tree.isSame(cursor.address(), padded(ceiling + "z"), 0, ceiling.length() + 1))
                    .isFalse();
        }
        cursor.seek(padded(asked), asked.length());
        assertThat(cursor.previous()).isEqualTo(expected.lowerKey(asked) != null);
    }

    /// Adds to a key or sets it; the keys that are noted as changed are those that were added to since.
    private static void change(
            RandomGenerator random, NavigableMap<String, Long> expected, Set<String> added, ValueTree tree, int keys) {
        String key = random.nextInt(3) == 0 && !expected.isEmpty()
                ? List.copyOf(expected.keySet()).get(random.nextInt(expected.size()))
                : key(random, keys);
        long old = expected.getOrDefault(key, 0L);
        boolean sets = random.nextInt(4) == 0;
        long count = random.nextInt(3) == 0 ? 0 : old + 1 + random.nextInt(3);
        if (!sets && count == old) {
            return;
        }
        int came = sets ? tree.set(padded(key), key.length(), count) : tree.add(padded(key), key.length(), count - old);
        assertThat(came).isEqualTo(Long.signum(count) - Long.signum(old));
        if (count == 0) {
            expected.remove(key);
        } else {
            expected.put(key, count);
        }
        if (sets || count == 0) {
            added.remove(key);
        } else {
            added.add(key);
        }
    }

    @Test
    void keys_that_come_and_go_are_those_of_a_sorted_map_and_what_was_added_is_noted_as_changed() {
        Seeds.forAllSeeds(50, random -> {
            try (Pages pages = new Pages(bytes::addAndGet)) {
                ValueTree tree = new ValueTree(pages);
                TreeMap<String, Long> expected = new TreeMap<>();
                requireFound(expected, tree, "");
                int keys = 1 + random.nextInt(400);
                for (int round = 0; round < 4; round++) {
                    Set<String> added = new HashSet<>();
                    for (int i = random.nextInt(300); i > 0; i--) {
                        change(random, expected, added, tree, keys);
                    }
                    requireSame(expected, tree);
                    requireFound(expected, tree, key(random, keys));
                    assertThat(tree.changedCount()).isEqualTo(added.size());
                    assertThat(changed(tree).keySet()).isEqualTo(added);
                    assertThat(tree.changedCount()).isZero();
                    assertThat(changed(tree)).isEmpty();
                    for (String key : List.copyOf(expected.keySet())) {
                        assertThat(tree.touch(padded(key), key.length())).isTrue();
                        assertThat(tree.touch(padded(key + "z"), key.length() + 1))
                                .isEqualTo(expected.containsKey(key + "z"));
                    }
                    assertThat(tree.changedCount()).isEqualTo(expected.size());
                    assertThat(changed(tree)).isEqualTo(expected);
                }
            }
            assertThat(bytes.get()).isZero();
        });
    }

    @Test
    void keys_that_leave_in_any_order_give_all_their_pages_back() {
        Seeds.forAllSeeds(2, random -> {
            try (Pages pages = new Pages(bytes::addAndGet)) {
                ValueTree tree = new ValueTree(pages);
                List<String> keys = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    keys.add("x".repeat(1_990) + (1_000 + i)); // Four keys a page, and four separators.
                }
                long most = 0;
                for (int round = 0; round < 30; round++) {
                    for (String key : keys) {
                        tree.add(padded(key), key.length(), 1);
                    }
                    most = round == 0 ? bytes.get() : most;
                    assertThat(tree.size()).isEqualTo(300);
                    if (round % 3 == 0) {
                        tree.clear();
                    } else {
                        List<String> leaving = new ArrayList<>(keys);
                        Collections.shuffle(leaving, Random.from(random));
                        leaving.forEach(key -> tree.add(padded(key), key.length(), -1));
                    }
                    requireSame(new TreeMap<>(), tree);
                    assertThat(tree.changedCount()).isZero();
                    assertThat(changed(tree)).isEmpty();
                }
                assertThat(bytes.get()).isEqualTo(most);
            }
        });
    }

    @Test
    void a_page_whose_keys_come_and_go_is_used_again_before_another_one_is_taken() {
        Seeds.forAllSeeds(5, random -> {
            try (Pages pages = new Pages(bytes::addAndGet)) {
                ValueTree tree = new ValueTree(pages);
                List<String> keys = new ArrayList<>();
                for (int i = 0; i < 20_000; i++) {
                    if (keys.size() == 500) {
                        String key = keys.remove(random.nextInt(keys.size()));
                        tree.add(padded(key), key.length(), -1);
                    }
                    String key = String.format("%07d", random.nextInt(10_000_000)) + "x".repeat(75);
                    keys.add(key);
                    tree.add(padded(key), key.length(), 1);
                }
                assertThat(bytes.get()).isEqualTo(Pages.SLAB_BYTES);
            }
        });
    }

    @Test
    void a_count_below_zero_and_a_count_of_nothing_are_refused() {
        try (Pages pages = new Pages(bytes::addAndGet)) {
            ValueTree tree = new ValueTree(pages);
            assertThatThrownBy(() -> tree.add(padded("a"), 1, 0)).hasMessageContaining("never added");
            tree.add(padded("a"), 1, 2);
            assertThatThrownBy(() -> tree.add(padded("a"), 1, -3)).hasMessageContaining("more often");
            assertThat(tree.add(padded("a"), 1, -2)).isEqualTo(-1);
        }
    }

    @Test
    void the_memory_of_closed_pages_is_gone() {
        Pages pages = new Pages(bytes::addAndGet);
        java.lang.foreign.MemorySegment page = pages.page(pages.take());
        assertThat(pages.bytes()).isEqualTo(bytes.get()).isEqualTo(Pages.SLAB_BYTES);
        pages.close();
        pages.close();
        assertThat(bytes.get()).isZero();
        assertThatThrownBy(() -> page.get(TreePage.BYTE, 0)).isInstanceOf(IllegalStateException.class);
    }
}
