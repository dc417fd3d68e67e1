package dev.onefold.simulator.seeding;

import dev.onefold.fixtures.Seeds;
import dev.onefold.simulator.embedded.ResyncSimulation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ResyncSimulationTest {
    private static final int SHARE = 20;
    private static final int ALL = 1_000;

    @Test
    void hazard_79_what_a_stream_has_lost_is_found_exactly_and_repaired_exactly_while_both_sides_move() {
        Seeds.forEachSeed(0, SHARE, ResyncSimulation::run);
    }

    @Test
    @Tag("campaign")
    void there_is_no_false_alarm_in_many_lives() {
        Seeds.forEachSeed(0, ALL, ResyncSimulation::run);
    }
}
