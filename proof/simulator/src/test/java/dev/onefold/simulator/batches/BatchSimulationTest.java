package dev.onefold.simulator.batches;

import dev.onefold.fixtures.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class BatchSimulationTest {
    private static final int SHARE = 80;
    private static final int ALL = 900;

    @Test
    void whatever_happens_each_distinct_record_is_in_exactly_one_batch_that_never_changes() {
        Seeds.forEachSeed(0, SHARE, BatchSimulation::run);
    }

    @Test
    void whatever_happens_no_record_is_handed_over_before_an_earlier_one_of_its_key_is_over() {
        Seeds.forEachSeed(0, SHARE, BatchSimulation::runByKey);
    }

    /// The log of deliveries took what a killed process had left for forced, and was refused after a power cut.
    @Test
    void deliveries_that_a_killed_process_left_unforced_survive_a_power_cut_or_are_made_again() {
        BatchSimulation.run(2_622);
    }

    @Test
    @Tag("campaign")
    void whatever_happens_in_many_histories_each_distinct_record_is_in_exactly_one_batch() {
        Seeds.forEachSeed(0, ALL, BatchSimulation::run);
    }

    @Test
    @Tag("campaign")
    void whatever_happens_in_many_histories_no_record_is_handed_over_before_an_earlier_one_of_its_key_is_over() {
        Seeds.forEachSeed(0, ALL, BatchSimulation::runByKey);
    }
}
