package dev.onefold.simulator.lanes;

import dev.onefold.fixtures.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AwsBatchSimulationTest {
    private static final int SHARE = 15;
    private static final int ALL = 1_300;

    @Test
    void whatever_happens_each_distinct_message_is_in_one_batch_that_comes_in_whole() {
        Seeds.forEachSeed(0, SHARE, AwsBatchSimulation::run);
    }

    @Test
    @Tag("campaign")
    void whatever_happens_in_many_lives_each_distinct_message_is_in_one_batch_that_comes_in_whole() {
        Seeds.forEachSeed(0, ALL, AwsBatchSimulation::run);
    }
}
