package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.fixtures.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AwsSimulationTest {
    private static final int SHARE = 20;
    private static final int ALL = 1_500;

    @Test
    void whatever_happens_to_functions_and_requests_the_totals_are_right() {
        Seeds.forEachSeed(0, SHARE, AwsSimulation::run);
    }

    @Test
    void equal_seeds_are_equal_runs() {
        for (long seed = 0; seed < 5; seed++) {
            assertThat(AwsSimulation.run(seed)).isEqualTo(AwsSimulation.run(seed));
        }
    }

    @Test
    @Tag("campaign")
    void whatever_happens_in_many_deployments_the_totals_are_right() {
        Seeds.forEachSeed(0, ALL, AwsSimulation::run);
    }
}
