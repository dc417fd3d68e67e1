package dev.onefold.tables.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.state.RangeSums;
import org.junit.jupiter.api.Test;

class RemovalsTest {
    private static final int END = RangeSums.RANGES;

    @Test
    void of_six_million_rows_the_first_slice_shows_that_the_source_lacks_too_many() {
        assertThat(new Removals(6_000_000, false).allow(300_000, END / 20, 3_000_000))
                .isFalse();
        assertThat(new Removals(6_000_000, false).allow(300_000, END, 5_700_000))
                .isTrue();
        assertThat(new Removals(6_000_000, true).allow(300_000, END / 20, 0)).isTrue();
    }

    @Test
    void what_was_found_in_front_counts_too() {
        Removals removals = new Removals(100_000, false);
        assertThat(removals.allow(5_000, END / 2, 90_000)).isTrue();
        assertThat(removals.allow(5_000, END, 90_000)).isTrue();
        assertThat(removals.allow(1, END, 90_000)).isFalse();
    }

    @Test
    void a_few_rows_may_go_unless_the_source_has_none() {
        assertThat(new Removals(100, false).allow(99, END, 1)).isTrue();
        assertThat(new Removals(200, false).allow(101, END, 99)).isFalse();
        assertThat(new Removals(1, false).allow(1, END, 0)).isFalse();
    }
}
