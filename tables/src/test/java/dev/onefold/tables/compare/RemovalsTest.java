package dev.onefold.tables.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.state.RangeSums;
import org.junit.jupiter.api.Test;

class RemovalsTest {
    private static final int END = RangeSums.RANGES;

    @Test
    void of_six_million_rows_the_first_slice_shows_that_the_source_lacks_too_many() {
        assertThat(new Removals(6_000_000, false, 0).allow(300_000, END / 20, 3_000_000))
                .isFalse();
        assertThat(new Removals(6_000_000, false, 0).allow(300_000, END, 5_700_000))
                .isTrue();
        assertThat(new Removals(6_000_000, true, 0).allow(300_000, END / 20, 0)).isTrue();
    }

    @Test
    void what_was_found_in_front_counts_too() {
        Removals removals = new Removals(100_000, false, 0);
        assertThat(removals.allow(5_000, END / 2, 90_000)).isTrue();
        assertThat(removals.allow(5_000, END, 90_000)).isTrue();
        assertThat(removals.allow(1, END, 90_000)).isFalse();
    }

    @Test
    void a_few_rows_may_go_unless_the_source_has_none() {
        assertThat(new Removals(100, false, 0).allow(99, END, 1)).isTrue();
        assertThat(new Removals(200, false, 0).allow(101, END, 99)).isFalse();
        assertThat(new Removals(1, false, 0).allow(1, END, 0)).isFalse();
    }

    @Test
    void what_failed_comparisons_have_removed_is_a_part_of_all_rows() {
        assertThat(new Removals(100_000, false, 5_000, 0, 5_000).allow(1, END / 5, 95_000))
                .isTrue();
        assertThat(new Removals(100_000, false, 5_000, 0, 5_000).allow(2_001, END / 5, 95_000))
                .isFalse();
        assertThat(new Removals(100_000, false, 9_999, 0, 9_999).allow(2, END / 5, 90_000))
                .isFalse();
    }

    @Test
    void what_an_attempt_has_found_that_did_not_end_counts_once() {
        Removals again = new Removals(1_000, false, 30, 60);
        assertThat(again.allow(50, END / 2, 900)).isTrue();
        assertThat(again.ghosts()).isEqualTo(90);
        assertThat(again.latest()).isEqualTo(60);
        assertThat(again.allow(10, END, 900)).isTrue();
        assertThat(again.ghosts()).isEqualTo(100);
        assertThat(again.allow(1, END, 900)).isFalse();
        assertThat(new Removals(1_000, false, 0, 60).allow(101, END, 900)).isFalse();
    }
}
