package dev.onefold.local.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.local.meter.Meters.Metric;
import dev.onefold.local.meter.Meters.Statistics;
import java.time.Instant;
import java.util.NavigableMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class MetersTest {
    private static final Instant NOON = Instant.parse("2026-11-24T12:00:00Z");
    private static final Metric DURATION = new Metric("AWS/Lambda", "Duration", "FunctionName", "State");

    private final AtomicReference<Instant> clock = new AtomicReference<>(NOON);
    private final Meters meters = new Meters(clock::get);

    @Test
    void values_are_added_up_by_minute_and_periods_are_of_whole_minutes() {
        for (int second = 0; second < 180; second++) {
            clock.set(NOON.plusSeconds(second));
            meters.add(DURATION, second);
        }
        NavigableMap<Instant, Statistics> minutes = meters.read(DURATION, NOON, NOON.plusSeconds(180), 60);
        assertThat(minutes.keySet()).containsExactly(NOON, NOON.plusSeconds(60), NOON.plusSeconds(120));
        assertThat(minutes.firstEntry().getValue().sum()).isEqualTo(59 * 60 / 2.0);
        Statistics all = meters.read(DURATION, NOON, NOON.plusSeconds(180), 180)
                .firstEntry()
                .getValue();
        assertThat(all.count()).isEqualTo(180);
        assertThat(all.percentile(0)).isZero();
        assertThat(all.percentile(50)).isEqualTo(89);
        assertThat(all.percentile(100)).isEqualTo(179);
        assertThat(meters.read(DURATION, NOON.plusSeconds(60), NOON.plusSeconds(120), 60))
                .hasSize(1);
        assertThat(meters.read(
                        new Metric("AWS/Lambda", "Errors", "FunctionName", "State"), NOON, NOON.plusSeconds(60), 60))
                .isEmpty();
        assertThatThrownBy(() -> meters.read(DURATION, NOON, NOON.plusSeconds(60), 90))
                .hasMessageContaining("90 s");
    }

    @Test
    void a_value_that_was_there_often_weighs_as_often() {
        meters.add(DURATION, 10, 99);
        meters.add(DURATION, 500, 1);
        Statistics minute = meters.read(DURATION, NOON, NOON.plusSeconds(60), 60)
                .firstEntry()
                .getValue();
        assertThat(minute.count()).isEqualTo(100);
        assertThat(minute.sum()).isEqualTo(1_490);
        assertThat(minute.percentile(99)).isEqualTo(10);
        assertThat(minute.percentile(100)).isEqualTo(500);
    }
}
