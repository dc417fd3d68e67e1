package dev.onefold.embedded.guard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Status.OfDelay;
import dev.onefold.embedded.guard.Delays.From;
import java.time.Instant;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DelaysTest {
    private static final Instant NOW = Instant.parse("2026-11-28T10:00:00.000001Z");

    private final Delays delays = new Delays(() -> NOW);

    @Test
    void a_percentile_is_the_true_one_or_up_to_an_eighth_longer() {
        for (long seed = 0; seed < 200; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            Delays some = new Delays(() -> NOW);
            long[] all = random.longs(1 + random.nextInt(300))
                    .map(any -> any >>> random.nextInt(12, 64))
                    .toArray();
            for (long micros : all) {
                some.note(From.FILES, some.nowMicros() - micros, 1);
            }
            Arrays.sort(all);
            OfDelay said = some.all().getFirst();
            assertThat(said.records()).isEqualTo(all.length);
            assertThat(said.longestMicros()).isEqualTo(all[all.length - 1]);
            assertThat(said.meanMicros())
                    .isCloseTo(Math.round(Arrays.stream(all).average().orElseThrow()), within(all));
            requireNear(said.p50Micros(), all[(all.length + 1) / 2 - 1], seed);
            requireNear(said.p99Micros(), all[(all.length * 99 + 99) / 100 - 1], seed);
        }
    }

    private static org.assertj.core.data.Offset<Long> within(long[] all) {
        return org.assertj.core.data.Offset.offset(all[all.length - 1] / 1_000_000 + 1);
    }

    private static void requireNear(long said, long right, long seed) {
        assertThat(said).as("seed " + seed).isBetween(right, right + right / 8);
    }

    @Test
    void records_that_came_together_count_each() {
        delays.note(From.REQUESTS, delays.nowMicros() - 7, 99);
        delays.note(From.REQUESTS, delays.nowMicros() - 5_000_000, 1);
        assertThat(delays.all()).containsExactly(new OfDelay("requests", 100, 50_007, 7, 7, 5_000_000));
    }

    @Test
    void a_time_that_is_to_come_is_no_delay_and_one_that_is_not_known_is_left_out() {
        delays.note(From.QUEUES, LongStream.of(NOW.toEpochMilli() + 5_000, Long.MAX_VALUE));
        delays.note(From.LOGS, LongStream.of(-1, NOW.toEpochMilli() - 2));
        delays.note(From.FILES, 1, 0);
        assertThat(delays.all())
                .containsExactly(
                        new OfDelay("logs", 1, 2_001, 2_001, 2_001, 2_001), new OfDelay("queues", 2, 0, 0, 0, 0));
    }
}
