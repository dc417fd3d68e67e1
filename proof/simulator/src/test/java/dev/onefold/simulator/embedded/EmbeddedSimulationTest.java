package dev.onefold.simulator.embedded;

import dev.onefold.fixtures.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class EmbeddedSimulationTest {
    private static final int SHARE = 50;
    private static final int ALL = 1_000;

    @Test
    void whatever_happens_the_totals_are_right_and_what_was_acknowledged_is_in() {
        Seeds.forEachSeed(0, SHARE, EmbeddedSimulation::run);
    }

    @Test
    @Tag("campaign")
    void whatever_happens_in_many_histories_the_totals_are_right() {
        Seeds.forEachSeed(0, ALL, EmbeddedSimulation::run);
    }
}
