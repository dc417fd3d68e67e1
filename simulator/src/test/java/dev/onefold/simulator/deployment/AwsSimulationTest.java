package dev.onefold.simulator.deployment;

import dev.onefold.fixtures.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AwsSimulationTest {
    private static final int SHARE = 300;
    private static final int ALL = 10_000;

    @Test
    void whatever_happens_to_functions_and_requests_the_totals_are_right() {
        Seeds.forEachSeed(0, SHARE, AwsSimulation::run);
    }

    @Test
    @Tag("campaign")
    void whatever_happens_in_ten_thousand_deployments_the_totals_are_right() {
        Seeds.forEachSeed(0, ALL, AwsSimulation::run);
    }
}
