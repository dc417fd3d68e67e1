package dev.onefold.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TransitionTest {
    @ParameterizedTest
    @CsvSource({
        "1, false, CHANGED",
        "1, true, CHANGED",
        "7, true, CHANGED",
        "-1, false, STALE",
        "-1, true, STALE",
        "-7, true, STALE",
        "0, true, DUPLICATE",
        "0, false, CONFLICTING",
    })
    void the_version_decides_and_the_contribution_only_between_equal_ones(
            int versionOrder, boolean same, Transition transition) {
        assertThat(Transition.of(versionOrder, same)).isEqualTo(transition);
    }
}
