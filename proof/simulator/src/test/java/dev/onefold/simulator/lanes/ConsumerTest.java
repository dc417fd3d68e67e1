package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.simulator.lanes.ConsumerFigures.Figures;
import org.junit.jupiter.api.Test;

/// The price of a consumer, by the units that the service counts.
class ConsumerTest {
    private static final double DOLLARS_MAX = 2.5;

    @Test
    void a_million_records_that_are_handed_over_directly_cost_less_than_two_and_a_half_dollars() {
        Figures figures = ConsumerFigures.of(true, 4_200, 100);
        assertThat(figures.dollars()).isLessThan(DOLLARS_MAX);
        assertThat(figures.writeUnits()).isLessThan(2_500_000);
    }
}
