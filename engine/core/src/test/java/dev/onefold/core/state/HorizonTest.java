package dev.onefold.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class HorizonTest {
    private static final long ARRIVED = Instant.parse("2030-01-10T00:00:00Z").toEpochMilli();
    private static final long DAY = Duration.ofDays(1).toMillis();

    private final Horizon horizon = new Horizon(Duration.ofDays(7));

    @Test
    void a_time_counts_from_the_horizon_before_its_arrival_to_a_day_ahead_of_it() {
        assertThat(horizon.refusal(ARRIVED - 7 * DAY, ARRIVED)).isEmpty();
        assertThat(horizon.refusal(ARRIVED + DAY, ARRIVED)).isEmpty();
        assertThat(horizon.refusal(ARRIVED - 7 * DAY - 1, ARRIVED))
                .map(Malformed::reason)
                .contains(Reason.TOO_OLD);
        assertThat(horizon.refusal(ARRIVED + DAY + 1, ARRIVED))
                .map(Malformed::reason)
                .contains(Reason.TOO_NEW);
    }

    @Test
    void a_refusal_says_both_times_and_the_bound() {
        assertThat(horizon.refusal(ARRIVED - 9 * DAY, ARRIVED))
                .map(Malformed::message)
                .contains("The record's time, 2030-01-01T00:00:00Z, is 9 days before its arrival at"
                        + " 2030-01-10T00:00:00Z; the horizon is 7 days");
        assertThat(horizon.refusal(ARRIVED + 9 * DAY, ARRIVED))
                .map(Malformed::message)
                .contains("The record's time, 2030-01-19T00:00:00Z, is 9 days ahead of its arrival at"
                        + " 2030-01-10T00:00:00Z, and so is wrong; with a horizon at most 24 hours is accepted");
    }
}
