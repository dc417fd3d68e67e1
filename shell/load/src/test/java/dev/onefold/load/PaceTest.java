package dev.onefold.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class PaceTest {
    private static final long SECOND = 1_000_000_000L;

    @Test
    void messages_are_due_at_the_rate() {
        Pace pace = new Pace(5_000, 77);

        assertThat(pace.batch(7)).isEqualTo(100);
        assertThat(pace.delayNanos(77)).isZero();
        pace.sent(100);
        assertThat(pace.delayNanos(77)).isEqualTo(SECOND / 50);
        pace.sent(7_400);
        assertThat(pace.delayNanos(77 + SECOND)).isEqualTo(SECOND / 2);
    }

    @Test
    void a_slow_rate_sends_one_at_a_time() {
        Pace pace = new Pace(3, 0);
        pace.sent(pace.batch(7));

        assertThat(pace.delayNanos(0)).isEqualTo(SECOND / 3);
    }

    @Test
    void years_at_the_highest_rate_do_not_overflow() {
        Pace pace = new Pace(Pace.RATE_MAX, 0);
        pace.sent(Pace.RATE_MAX * 1_000_000_000L + 999_999_999);

        assertThat(pace.delayNanos(0)).isEqualTo(SECOND * 1_000_000_000 + 999_999_999);
    }

    @Test
    void one_who_was_held_up_for_an_hour_catches_up_one_second() {
        Pace pace = new Pace(1_000, 0);
        long hour = 3_600 * SECOND;

        assertThat(pace.delayNanos(hour)).isEqualTo(-SECOND);
        pace.sent(1_500);
        assertThat(pace.delayNanos(hour)).isEqualTo(SECOND / 2);
    }

    @Test
    void without_a_rate_nothing_waits() throws InterruptedException {
        Pace pace = new Pace(0, 0);
        assertThat(pace.batch(7)).isEqualTo(7);
        pace.keep(Long.MAX_VALUE);
    }

    @Test
    void a_rate_that_is_none_is_refused() {
        assertThatThrownBy(() -> new Pace(-1, 0))
                .hasMessage("The rate -1 is not from 1 to 1,000,000,000 messages a second.");
    }
}
