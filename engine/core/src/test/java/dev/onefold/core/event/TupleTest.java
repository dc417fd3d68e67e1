package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.bytes.Hash;
import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// Tuples keep parts of any content apart, and are ordered as their parts are (hazard 22).
class TupleTest {
    private static final List<String> PIECES =
            List.of("\0", "\1", "\0\1", "\0\u00ff", "a", "b", "ä", "\u07ff", "\uffff", "😀", "FX:Spot", "/", "\u007f");

    private static List<String> parts(RandomGenerator random) {
        List<String> parts = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            StringBuilder text = new StringBuilder();
            for (int j = random.nextInt(4); j > 0; j--) {
                text.append(PIECES.get(random.nextInt(PIECES.size())));
            }
            parts.add(text.toString());
        }
        return parts;
    }

    private static int compare(List<String> one, List<String> other) {
        for (int i = 0; i < Math.min(one.size(), other.size()); i++) {
            int order = Arrays.compareUnsigned(
                    one.get(i).getBytes(StandardCharsets.UTF_8), other.get(i).getBytes(StandardCharsets.UTF_8));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(one.size(), other.size());
    }

    @Test
    void the_order_is_that_of_the_parts_by_their_utf_8_bytes_a_shorter_tuple_first() {
        Seeds.forAllSeeds(20_000, random -> {
            List<String> one = parts(random);
            List<String> other = parts(random);
            if (random.nextInt(3) == 0) {
                other.addAll(0, one);
            }
            assertThat(Integer.signum(Tuple.of(one).compareTo(Tuple.of(other))))
                    .as("%s and %s", one, other)
                    .isEqualTo(Integer.signum(compare(one, other)));
            assertThat(Tuple.of(one).equals(Tuple.of(other))).isEqualTo(one.equals(other));
        });
    }

    @Test
    void the_parts_come_back_as_they_were() {
        Seeds.forAllSeeds(10_000, random -> {
            List<String> parts = parts(random);
            Tuple tuple = Tuple.of(parts);
            assertThat(tuple.parts()).isEqualTo(parts);
            assertThat(tuple)
                    .isEqualTo(new Tuple(tuple.bytes().clone()))
                    .hasSameHashCodeAs(new Tuple(tuple.bytes().clone()));
            assertThat(tuple).hasToString(parts.toString());
        });
    }

    @Test
    void a_prefix_holds_the_first_parts_and_only_what_begins_with_them_starts_with_it() {
        Seeds.forAllSeeds(5_000, random -> {
            List<String> parts = parts(random);
            Tuple tuple = Tuple.of(parts);
            for (int i = 0; i <= parts.size(); i++) {
                assertThat(tuple.prefix(i).parts()).isEqualTo(parts.subList(0, i));
                assertThat(tuple.startsWith(tuple.prefix(i))).isTrue();
            }
            assertThat(tuple.prefix(parts.size())).isSameAs(tuple);
            List<String> other = parts(random);
            boolean starts = parts.size() >= other.size()
                    && parts.subList(0, other.size()).equals(other);
            assertThat(tuple.startsWith(Tuple.of(other)))
                    .as("%s and %s", parts, other)
                    .isEqualTo(starts);
        });
    }

    @Test
    void a_text_that_looks_like_a_separator_is_none() {
        assertThat(Tuple.of(List.of("a\0\1b"))).isNotEqualTo(Tuple.of(List.of("a", "b")));
        assertThat(Tuple.of(List.of("", ""))).isNotEqualTo(Tuple.of(List.of("")));
        assertThat(Tuple.of(List.of("a\0"))).isGreaterThan(Tuple.of(List.of("a", "z")));
        assertThat(Tuple.of(List.of("a")).startsWith(Tuple.of(List.of("a\0")))).isFalse();
        assertThat(Tuple.of(List.of("a\0")).startsWith(Tuple.of(List.of("a")))).isFalse();
        assertThat(Tuple.of(List.of("\0\0")).bytes()).containsExactly(0, -1, 0, -1, 0, 1);
        assertThat(Tuple.of(List.of()).bytes()).isEmpty();
        assertThat(Tuple.of(List.of("a"))).isNotEqualTo("a");
    }

    /// Shards of the embedded engine and lanes on AWS depend on these values. Another value needs another
    /// version.
    @Test
    void the_hash_of_a_key_is_the_same_in_every_release() {
        assertThat(Hash.VERSION).isEqualTo(1);
        List<String> keys = List.of("", "a", "trade-1", "12345678", "123456789", "größe 東京", "x".repeat(100));
        assertThat(keys.stream().map(TupleTest::hash).toList())
                .containsExactly(
                        -829541951099292099L,
                        5232787201495420294L,
                        -2377536631273627717L,
                        1297654767599038086L,
                        1444850060084135857L,
                        2259830813073536824L,
                        90629921523116573L);
    }

    private static long hash(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return Hash.of(Arrays.copyOf(bytes, bytes.length + Hash.PADDING), 0, bytes.length);
    }

    @Test
    void the_hash_of_bytes_depends_on_all_of_them_and_on_nothing_behind_them() {
        Seeds.forAllSeeds(5_000, random -> {
            byte[] bytes = new byte[random.nextInt(1, 40)];
            random.nextBytes(bytes);
            byte[] padded = Arrays.copyOf(bytes, bytes.length + Hash.PADDING);
            byte[] other = new byte[bytes.length + Hash.PADDING + 3];
            Arrays.fill(other, (byte) -1);
            System.arraycopy(bytes, 0, other, 3, bytes.length);
            long hash = Hash.of(padded, 0, bytes.length);
            assertThat(Hash.of(other, 3, 3 + bytes.length)).isEqualTo(hash);
            padded[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            assertThat(Hash.of(padded, 0, bytes.length)).isNotEqualTo(hash);
            assertThat(Hash.of(padded, 0, bytes.length - 1)).isNotEqualTo(Hash.of(padded, 0, bytes.length));
        });
    }
}
