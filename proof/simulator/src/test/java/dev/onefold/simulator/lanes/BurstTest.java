package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.simulator.lanes.BurstFigures.Figures;
import dev.onefold.simulator.lanes.BurstFigures.Setup;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// What bursts cost. A refused transaction is paid like one that is in, so the price is that of what was
/// refused.
class BurstTest {
    private static final Setup AMPLE = new Setup(200_000, 8);
    private static final int TRANSACTIONS = 33; // Of 3,000 messages.

    @Test
    void collectors_side_by_side_meet_neither_in_lanes_nor_in_the_claims_of_duplicates() {
        Figures figures = BurstFigures.lanes(3_000, AMPLE);
        assertThat(figures.refused()).isLessThan(TRANSACTIONS / 2);
    }

    @Test
    @Tag("campaign")
    void a_burst_that_a_table_throttles_is_sealed_as_fast_as_the_table_takes_it() {
        Figures figures = BurstFigures.lanes(40_000, new Setup(4_000, 16));
        assertThat(figures.again()).isZero();
        assertThat(figures.writeUnits()).isLessThan(3_600_000);
        assertThat(figures.sealed()).isLessThan(Duration.ofSeconds(60));
    }
}
