package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RisesTest {
    @Test
    void a_counter_of_a_figure_that_falls_goes_on_from_where_it_was() {
        Rises rises = new Rises();
        assertThat(rises.seen("p", "rejected", 5)).isEqualTo(5);
        assertThat(rises.seen("p", "rejected", 2)).isEqualTo(5);
        assertThat(rises.seen("p", "rejected", 3)).isEqualTo(6);
        assertThat(rises.seen("p", "accepted", 1)).isEqualTo(1);
        assertThat(rises.seen("other", "rejected", 1)).isEqualTo(1);
    }
}
