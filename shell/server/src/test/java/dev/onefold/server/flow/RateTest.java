package dev.onefold.server.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RateTest {
    private static final long MS = 1_000_000;

    private static long taken(Rate rate, LongStream times) {
        return times.filter(rate::tryTake).count();
    }

    @Test
    void a_second_has_as_many_requests_as_are_allowed_whatever_the_clock_says() {
        for (long start : new long[] {0, -5_000 * MS, Long.MAX_VALUE - 1_000 * MS}) {
            Rate rate = new Rate(10);
            assertThat(taken(rate, LongStream.range(0, 50).map(_ -> start)))
                    .as("at once")
                    .isEqualTo(10);
            assertThat(rate.tryTake(start + 99 * MS)).isFalse();
            assertThat(rate.tryTake(start + 100 * MS)).isTrue();
            assertThat(taken(rate, LongStream.range(0, 2_000).map(ms -> start + 100 * MS + ms * MS)))
                    .as("in two seconds more")
                    .isBetween(19L, 20L);
        }
    }
}
