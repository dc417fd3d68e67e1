package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.fixtures.Seeds;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.temporal.IsoFields;
import java.time.temporal.TemporalAdjusters;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Days, weeks, months, quarters and years in a zone, against java.time.
class CalendarTest {
    private static final List<String> ZONES =
            List.of("Europe/Madrid", "America/St_Johns", "Africa/Cairo", "Pacific/Apia", "America/Toronto", "+05:30");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bucket(v, 1d, Europe/Madrid)|2024-03-31T21:59:59Z|2024-03-31",
                "bucket(v, 1d, Europe/Madrid)|2024-03-31T22:00:00Z|2024-04-01",
                "bucket(v, 24h, UTC)|2024-03-31T22:00:00Z|2024-03-31",
                "bucket(v, week, Europe/Madrid)|2024-05-05T22:00:00Z|2024-05-06",
                "bucket(v, week)|2024-05-05T23:59:59Z|2024-04-29T00:00:00Z",
                "bucket(v, week-from-sunday)|2024-05-05T00:00:00Z|2024-05-05T00:00:00Z",
                "bucket(v, week-from-sunday)|2024-05-04T23:59:59Z|2024-04-28T00:00:00Z",
                "bucket(v, week-from-saturday, Asia/Dubai)|2024-05-03T20:00:00Z|2024-05-04",
                "bucket(v, week-from-saturday, Asia/Dubai)|2024-05-03T19:59:59Z|2024-04-27",
                "bucket(v, month, iso, +02:00)|2024-05-31T22:00:00Z|2024-06-01",
                "bucket(v, quarter, America/New_York)|2024-10-01T03:59:59Z|2024-07-01",
                "bucket(v, year)|2024-12-31T23:59:59Z|2024-01-01T00:00:00Z",
            })
    void a_time_is_in_the_part_of_the_calendar_that_has_its_date(String level, String time, String group) {
        assertThat(Decoding.level(level).group("{\"v\":\"" + time + "\"}")).containsExactly(group);
    }

    @Test
    void the_zone_of_the_input_is_that_of_days_and_longer_parts_and_stands_in_their_names() {
        var pipeline = PipelineBuilder.named("p")
                .zone("Europe/Madrid")
                .rollup(r -> r.levels("bucket(v, 1d)", "bucket(v, month, UTC)", "bucket(v, 1h)")
                        .count("n"))
                .build();
        assertThat(Rollups.of(pipeline).all().getFirst().levels().stream().map(Level::name))
                .containsExactly("bucket(v, 1d, Europe/Madrid)", "bucket(v, month, UTC)", "bucket(v, 1h)");
        assertThat(Decoding.of(pipeline).group("{\"v\":\"2024-06-01 00:30:00\"}"))
                .containsExactly("2024-06-01", "2024-05-01", "2024-05-31T22:00:00Z");
        String text = PipelineText.write(pipeline);
        assertThat(PipelineText.write(((dev.onefold.core.grammar.Reading.Read) PipelineText.read(text)).pipeline()))
                .isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "bucket(v, 1h, UTC)|write 1d, week, month, quarter or year",
                "bucket(v, 7d, Europe/Madrid)|write 1d, week, month, quarter or year",
                "bucket(v, 1d, Europe/Nowhere)|'Europe/Nowhere' is not a zone of this Java",
                "bucket(v, 1d, iso, Europe)|'Europe' is not a zone of this Java",
                "bucket(v, weeks)|'weeks' is not a time span",
            })
    void another_bucket_is_refused(String level, String message) {
        assertThatThrownBy(() -> Decoding.level(level)).hasMessageContaining(message);
    }

    @Test
    void the_dates_are_those_of_java_time_in_any_order_also_where_a_zone_goes_back_behind_midnight() {
        Seeds.forAllSeeds(60, random -> {
            ZoneId zone = ZoneId.of(ZONES.get(random.nextInt(ZONES.size())));
            Decoding all = Decoding.of(PipelineBuilder.named("p")
                    .zone(zone.getId())
                    .rollup(r -> r.levels(
                                    "bucket(v, 1d)",
                                    "bucket(v, week)",
                                    "bucket(v, month)",
                                    "bucket(v, quarter)",
                                    "bucket(v, year)")
                            .count("n")));
            long around = random.nextLong(-2_200_000_000L, 7_200_000_000L);
            var next = zone.getRules().nextTransition(Instant.ofEpochSecond(around));
            for (int i = 0; i < 100; i++) {
                long seconds = (i % 2 == 0 || next == null ? around : next.toEpochSecond())
                        + random.nextLong(-100_000, 100_000) / (random.nextBoolean() ? 1 : 20);
                LocalDate date = Instant.ofEpochSecond(seconds).atZone(zone).toLocalDate();
                assertThat(all.group("{\"v\":" + seconds + "}"))
                        .as("%d in %s", seconds, zone)
                        .containsExactly(
                                date.toString(),
                                date.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY))
                                        .toString(),
                                date.with(TemporalAdjusters.firstDayOfMonth()).toString(),
                                date.with(IsoFields.DAY_OF_QUARTER, 1).toString(),
                                date.with(TemporalAdjusters.firstDayOfYear()).toString());
            }
        });
    }
}
