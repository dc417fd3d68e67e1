package dev.onefold.simulator.seeding;

import dev.onefold.fixtures.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SeededSimulationTest {
    private static final int SHARE = 35;
    private static final int AWS_SHARE = 10;
    private static final int ALL = 1_300;
    private static final int AWS_ALL = 350;

    @Test
    void whoever_seeds_when_and_however_it_ends_the_rows_are_those_of_the_table() {
        Seeds.forEachSeed(0, SHARE, SeededSimulation::run);
    }

    @Test
    void whoever_seeds_a_deployment_and_whatever_happens_to_it_the_rows_are_those_of_the_table() {
        Seeds.forEachSeed(0, AWS_SHARE, AwsSeededSimulation::run);
    }

    @Test
    @Tag("campaign")
    void in_many_histories_the_rows_are_those_of_the_table() {
        Seeds.forEachSeed(0, ALL, SeededSimulation::run);
    }

    @Test
    @Tag("campaign")
    void in_many_deployments_the_rows_are_those_of_the_table() {
        Seeds.forEachSeed(0, AWS_ALL, AwsSeededSimulation::run);
    }
}
