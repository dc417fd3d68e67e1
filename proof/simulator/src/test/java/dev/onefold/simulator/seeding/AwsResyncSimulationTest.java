package dev.onefold.simulator.seeding;

import dev.onefold.fixtures.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AwsResyncSimulationTest {
    private static final int SHARE = 4;
    private static final int ALL = 200;

    @Test
    void hazard_79_what_the_stream_of_a_deployment_has_lost_is_found_exactly_and_repaired_exactly() {
        Seeds.forEachSeed(0, SHARE, AwsResyncSimulation::run);
    }

    @Test
    @Tag("campaign")
    void there_is_no_false_alarm_in_many_lives_of_deployments() {
        Seeds.forEachSeed(0, ALL, AwsResyncSimulation::run);
    }
}
