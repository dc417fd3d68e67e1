package dev.onefold.tables.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.state.RangeSums;
import dev.onefold.core.state.RowMark;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlicesTest {
    private static RangeSums sums(int rows) {
        RangeSums sums = new RangeSums();
        for (int i = 0; i < rows; i++) {
            sums.add(("key " + i).getBytes(StandardCharsets.UTF_8), 7);
        }
        return sums;
    }

    @Test
    void as_many_rows_are_compared_at_a_time_as_memory_is_for_however_long_they_are() {
        RangeSums theirs = sums(3_000);
        assertThat(Slices.of(new RangeSums(), theirs, 100)).hasSize(1);
        List<BitSet> slices = Slices.of(new RangeSums(), theirs, 400_000);
        assertThat(slices).hasSizeBetween(9, 10);
        BitSet all = new BitSet();
        for (BitSet slice : slices) {
            assertThat(slice.stream().mapToLong(theirs::count).sum()).isLessThanOrEqualTo(335);
            assertThat(slice.intersects(all)).isFalse();
            all.or(slice);
        }
        assertThat(all).isEqualTo(theirs.differing(new RangeSums()));
        assertThat(Slices.of(theirs, theirs, 100)).isEmpty();
    }

    @Test
    void a_range_is_never_cut_also_if_its_rows_are_too_many() {
        RangeSums crowded = new RangeSums();
        for (int i = 0; i < 10; i++) {
            crowded.add("key".getBytes(StandardCharsets.UTF_8), i == 0 ? 7 : RowMark.NOTHING);
        }
        assertThat(Slices.of(crowded, new RangeSums(), Long.MAX_VALUE)).hasSize(1);
    }
}
