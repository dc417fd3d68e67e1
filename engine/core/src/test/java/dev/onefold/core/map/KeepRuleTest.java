package dev.onefold.core.map;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.fixtures.Seeds;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// Which groups are shown, and when their rows are freed.
class KeepRuleTest {
    private static final List<String> BUCKETS = List.of("90m", "1h", "1d", "week", "month", "year");
    /// Some have gone back behind midnight, or over the line of dates.
    private static final List<String> ZONES = List.of(
            "America/St_Johns", "America/Havana", "Africa/Cairo", "Pacific/Kwajalein", "Pacific/Apia", "Europe/Madrid");

    private static Pipeline pipeline(List<String> levels, Duration keep) {
        PipelineBuilder builder = PipelineBuilder.named("p").id("id").time("at");
        for (int i = 0; i < levels.size(); i++) {
            String level = levels.get(i);
            builder.rollup("r" + i, rollup -> rollup.levels(level).keep(keep).count("n"));
        }
        return builder.build();
    }

    private static String bucket(RandomGenerator random) {
        String size = BUCKETS.get(random.nextInt(BUCKETS.size()));
        boolean isOfZone = !size.endsWith("m") && !size.endsWith("1h") && random.nextInt(3) > 0;
        return "bucket(at, " + size + (isOfZone ? ", " + ZONES.get(random.nextInt(ZONES.size())) : "") + ")";
    }

    private static Instant time(RandomGenerator random) {
        ZoneRules rules = ZoneId.of(ZONES.get(random.nextInt(ZONES.size()))).getRules();
        Instant any = Instant.ofEpochSecond(random.nextLong(-2_000_000_000L, 1_700_000_000L));
        ZoneOffsetTransition next = rules.nextTransition(any); // Some zones have had their last one.
        ZoneOffsetTransition near = next == null ? rules.previousTransition(any) : next;
        return near.getInstant().plusSeconds(random.nextInt(100_000) - 50_000L);
    }

    private static Tuple group(Level.Source.Timed bucket, long ms) {
        return Tuple.of(List.of(bucket.text(bucket.start(Math.floorDiv(ms, 1_000L)))));
    }

    @Test
    void a_row_is_freed_when_its_groups_are_shown_no_more_whatever_comes() {
        Seeds.forAllSeeds(3_000, random -> {
            Duration kept = Duration.ofHours(random.nextInt(1, 300));
            Pipeline pipeline = pipeline(List.of(bucket(random), bucket(random)), kept);
            Keep keep = Keep.of(pipeline).orElseThrow();
            long seenMs = time(random).toEpochMilli();
            long freedMs = keep.rowsFromMs(seenMs) - 1 - random.nextInt(90_000_000);
            long shownMs = seenMs - kept.toMillis() + random.nextInt(90_000_000);
            long laterMs = seenMs + random.nextInt(200_000_000);
            for (int rollup = 0; rollup < 2; rollup++) {
                Level.Source.Timed bucket = (Level.Source.Timed) Rollups.of(pipeline)
                        .all()
                        .get(rollup)
                        .levels()
                        .getFirst()
                        .source();
                assertThat(group(bucket, freedMs)).isLessThan(keep.first(rollup, seenMs));
                assertThat(group(bucket, freedMs)).isLessThan(keep.first(rollup, laterMs));
                assertThat(keep.startMs(rollup, group(bucket, shownMs)))
                        .isBetween(keep.rowsFromMs(seenMs), shownMs + 999);
                assertThat(shownMs).isGreaterThanOrEqualTo(keep.rowsFromMs(seenMs));
            }
            assertThat(keep.shownFromMs(seenMs)).isGreaterThanOrEqualTo(keep.rowsFromMs(seenMs));
            assertThat(keep.mayHaveEnded(keep.shownFromMs(seenMs) - 1, seenMs)).isTrue();
        });
    }

    @Test
    void the_rows_of_a_day_that_is_shown_again_are_not_freed() {
        Pipeline pipeline = pipeline(List.of("bucket(at, 1d, America/St_Johns)"), Duration.ofDays(1));
        Keep keep = Keep.of(pipeline).orElseThrow();
        Instant back = Instant.parse("2010-11-07T02:31:00Z"); // From 00:01 to 23:01 of the day before.
        long seenMs = back.minusSeconds(30).plus(Duration.ofDays(1)).toEpochMilli();
        Tuple again = keep.first(0, seenMs + 60_000);
        assertThat(again).isLessThan(keep.first(0, seenMs));
        assertThat(keep.startMs(0, again)).isGreaterThanOrEqualTo(keep.rowsFromMs(seenMs));
    }

    @Test
    void before_anything_has_come_nothing_has_ended() {
        Keep keep =
                Keep.of(pipeline(List.of("bucket(at, 1h)"), Duration.ofDays(1))).orElseThrow();
        assertThat(keep.first(0, Keep.NOTHING_SEEN)).isEqualTo(Tuple.of(List.of()));
        assertThat(keep.shownFromMs(Keep.NOTHING_SEEN)).isEqualTo(Keep.NOTHING_SEEN);
        assertThat(keep.rowsFromMs(Keep.NOTHING_SEEN)).isEqualTo(Keep.NOTHING_SEEN);
    }

    @Test
    void rows_of_one_definition_are_enough_for_another_that_keeps_no_more() {
        Keep two = Keep.of(pipeline(List.of("bucket(at, 1h)", "bucket(at, month)"), Duration.ofDays(9)))
                .orElseThrow();
        assertThat(two.keeps(two)).isTrue();
        assertThat(two.keeps(Keep.of(pipeline(List.of("bucket(at, month)"), Duration.ofDays(8)))
                        .orElseThrow()))
                .isTrue();
        assertThat(two.keeps(Keep.of(pipeline(List.of("bucket(at, month)"), Duration.ofDays(10)))
                        .orElseThrow()))
                .isFalse();
        assertThat(two.keeps(Keep.of(pipeline(List.of("bucket(at, 1d)"), Duration.ofDays(1)))
                        .orElseThrow()))
                .isFalse();
    }
}
