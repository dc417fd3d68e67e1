package dev.onefold.simulator.keyed;

import dev.onefold.fixtures.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class KeyedSimulationTest {
    private static final int SHARE = 35;
    private static final int ALL = 1_500;

    @Test
    void whatever_happens_contexts_tables_and_roll_ups_are_those_of_the_events_that_are_in() {
        Seeds.forEachSeed(0, SHARE, KeyedSimulation::run);
    }

    @Test
    @Tag("campaign")
    void whatever_happens_in_many_histories_contexts_tables_and_roll_ups_are_right() {
        Seeds.forEachSeed(0, ALL, KeyedSimulation::run);
    }
}
