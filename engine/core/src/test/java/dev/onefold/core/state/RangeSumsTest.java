package dev.onefold.core.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RangeSumsTest {
    private record Entry(byte[] key, long content) {}

    private static byte[] key(int number) {
        return ("key-" + number).getBytes(StandardCharsets.UTF_8);
    }

    private static RangeSums sums(List<Entry> entries) {
        RangeSums sums = new RangeSums();
        entries.forEach(entry -> sums.add(entry.key(), entry.content()));
        return sums;
    }

    @Test
    void in_any_order_the_same_rows_have_the_same_sums_and_one_other_row_is_found_in_its_range() {
        Seeds.forAllSeeds(10, random -> {
            List<Entry> entries = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                entries.add(new Entry(key(i), random.nextLong()));
            }
            RangeSums sums = sums(entries);
            Collections.shuffle(entries, new Random(random.nextLong()));
            assertThat(sums(entries).differing(sums).isEmpty()).isTrue();
            Entry changed = entries.get(random.nextInt(entries.size()));
            entries.set(entries.indexOf(changed), new Entry(changed.key(), changed.content() + 1));
            BitSet differing = sums(entries).differing(RangeSums.read(sums.toBytes()));
            assertThat(differing.stream().boxed()).containsExactly(RangeSums.rangeOf(changed.key()));
        });
    }

    @Test
    void rows_that_exchange_their_contents_are_found_and_deleted_ones_are_as_good_as_absent() {
        RangeSums one = sums(List.of(new Entry(key(1), 7), new Entry(key(2), 8)));
        RangeSums exchanged = sums(List.of(new Entry(key(1), 8), new Entry(key(2), 7)));
        assertThat(one.differing(exchanged).stream().boxed())
                .containsExactlyInAnyOrder(RangeSums.rangeOf(key(1)), RangeSums.rangeOf(key(2)));
        RangeSums deleted =
                sums(List.of(new Entry(key(1), 7), new Entry(key(2), 8), new Entry(key(3), RowMark.NOTHING)));
        assertThat(one.differing(deleted).isEmpty()).isTrue();
        assertThat(deleted.count(RangeSums.rangeOf(key(3)))).isEqualTo(1);
        assertThat(RangeSums.read(deleted.toBytes()).rows())
                .as("rows that are not deleted")
                .isEqualTo(2);
        assertThatThrownBy(() -> RangeSums.read(new byte[7])).hasMessageContaining("bytes");
    }
}
