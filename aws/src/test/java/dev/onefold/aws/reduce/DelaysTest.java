package dev.onefold.aws.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.ArrivalTimes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DelaysTest {
    private static final Instant NOW = Instant.parse("2026-11-22T00:00:00Z");

    private static ArrivalTimes arrivals(long... msAgo) {
        return ArrivalTimes.of(LongStream.of(msAgo)
                .mapToObj(ms -> new Arrival(
                        "s", "1", 0, new byte[0], NOW.minusMillis(ms).toEpochMilli()))
                .toList());
    }

    private static Map<Long, Long> delays(ArrivalTimes... each) {
        Delays delays = new Delays();
        List.of(each).forEach(arrivals -> delays.add(arrivals, NOW));
        return delays.counts();
    }

    @Test
    void each_record_counts_in_the_step_that_its_delay_is_in() {
        assertThat(delays(arrivals(950, 940, 730, 0))).isEqualTo(Map.of(1_000L, 2L, 800L, 1L, 100L, 1L));
    }

    @Test
    void deltas_add_up() {
        assertThat(delays(arrivals(950), arrivals(910, 250))).isEqualTo(Map.of(1_000L, 2L, 400L, 1L));
    }

    @Test
    void a_clock_that_is_behind_the_streams_makes_no_delay_of_it() {
        assertThat(delays(arrivals(-5_000))).isEqualTo(Map.of(100L, 1L));
    }

    @Test
    void a_record_of_which_nobody_says_when_it_came_is_left_out() {
        assertThat(delays(ArrivalTimes.of(List.of(new Arrival("s", "1", 0, new byte[0])))))
                .isEmpty();
    }

    @Test
    void what_came_long_after_the_first_record_looks_later_and_never_earlier() {
        long first = Duration.ofMinutes(10).toMillis();
        assertThat(delays(arrivals(first, 0)).keySet())
                .allSatisfy(ms -> assertThat(ms).isBetween(first - 10_000, first * 13 / 10 + 1));
    }

    @Test
    void delays_of_up_to_a_week_come_to_at_most_100_steps() {
        Delays delays = new Delays();
        for (long ms = 0; ms < Duration.ofDays(7).toMillis(); ms += 1 + ms / 200) {
            delays.add(arrivals(ms), NOW);
        }
        assertThat(delays.counts()).hasSizeLessThanOrEqualTo(100);
    }
}
