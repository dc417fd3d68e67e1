package dev.onefold.simulator.seeding;

import dev.onefold.fixtures.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AwsComparedSimulationTest {
    private static final int SHARE = 3;
    private static final int ALL = 100;

    @Test
    void a_function_that_compares_finds_what_the_stream_has_lost_whatever_ends_its_invocations() {
        Seeds.forEachSeed(0, SHARE, AwsComparedSimulation::run);
    }

    @Test
    @Tag("campaign")
    void no_comparison_of_many_lives_says_too_much_or_too_little() {
        Seeds.forEachSeed(0, ALL, AwsComparedSimulation::run);
    }
}
