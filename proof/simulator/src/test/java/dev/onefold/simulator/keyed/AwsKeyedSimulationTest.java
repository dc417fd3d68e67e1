package dev.onefold.simulator.keyed;

import dev.onefold.fixtures.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AwsKeyedSimulationTest {
    private static final int SHARE = 6;
    private static final int ALL = 350;

    @Test
    void whatever_happens_contexts_rows_totals_and_letters_are_those_of_the_events() {
        Seeds.forEachSeed(0, SHARE, AwsKeyedSimulation::run);
    }

    @Test
    @Tag("campaign")
    void whatever_happens_in_many_lives_contexts_rows_totals_and_letters_are_those_of_the_events() {
        Seeds.forEachSeed(0, ALL, AwsKeyedSimulation::run);
    }
}
