package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Input.LocalFold;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.fixtures.Seeds;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Times in the forms of databases and without a zone, against java.time.
class ZonesTest {
    private static final List<String> ZONES =
            List.of("Europe/Berlin", "America/St_Johns", "Africa/Monrovia", "Pacific/Apia", "Asia/Gaza", "+05:30");

    private static Decoding timed(@Nullable String zone, @Nullable LocalFold fold) {
        PipelineBuilder builder =
                PipelineBuilder.named("p").time("t", TimeType.ISO).rollup(r -> r.count("n"));
        builder = zone == null ? builder : builder.zone(zone);
        return Decoding.of(fold == null ? builder : builder.fold(fold));
    }

    private static Decoding ofEdition(int edition) {
        return Decoding.of(PipelineBuilder.named("p")
                .edition(edition)
                .zone("Europe/Berlin")
                .time("t")
                .rollup(r -> r.count("n")));
    }

    private static String record(String text) {
        return "{\"t\":\"" + text + "\"}";
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2024-05-01 10:00:00Z",
                "2024-05-01 10:00:00.000000Z",
                "2024-05-01 12:00:00+02",
                "2024-05-01 12:00:00.000+02",
                "2024-05-01T12:00:00+0200",
                "2024-05-01 12:00:00 +0200",
                "2024-05-01 12:00:00 +02:00",
                "2024-05-01 10:00:00 UTC",
                "2024-05-01 10:00:00.0 UTC",
                "2024-05-01 10:00:00 Z",
                "2024-05-01T10:00:00.000 Z",
                "2024-05-01 04:30:00-0530",
                "2024-05-01 10:00+00",
            })
    void the_forms_of_databases_are_read_since_edition_3(String text) {
        long expected = Instant.parse("2024-05-01T10:00:00Z").toEpochMilli();
        assertThat(timed(null, null).event(record(text)).timeMs).isEqualTo(expected);
        assertThat(timed("Europe/Berlin", null).event(record(text)).timeMs).isEqualTo(expected);
        Decoding before = Decoding.of(
                PipelineBuilder.named("p").edition(2).time("t", TimeType.ISO).rollup(r -> r.count("n")));
        assertThat(before.refusal(record(text)).message()).endsWith("write under input 'edition: 3'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"2024-05-01 10:00:00", "2024-05-01T10:00:00.000000", "2024-05-01 10:00", "2024-05-01"})
    void a_time_without_a_zone_is_refused_with_the_line_to_write(String text) {
        String message = timed(null, null).refusal(record(text)).message();
        assertThat(message).contains("does not say its zone");
        String zone = message.replaceFirst(".*or 'zone: (.*?)' if it is not a version.*", "$1");
        assertThat(timed(zone, null).event(record(text)).timeMs)
                .isEqualTo(Instant.parse(text.length() == 10 ? "2024-04-30T22:00:00Z" : "2024-05-01T08:00:00Z")
                        .toEpochMilli());
    }

    @Test
    void a_local_time_of_edition_3_is_refused_before_it_with_the_edition_to_write() {
        String message = ofEdition(1).refusal(record("2024-05-01 23:00:00")).message();
        assertThat(message).endsWith("write under input 'edition: 3'");
        assertThat(ofEdition(3).event(record("2024-05-01 23:00:00")).timeMs)
                .isEqualTo(Instant.parse("2024-05-01T21:00:00Z").toEpochMilli());
        Decoding without = Decoding.of(
                PipelineBuilder.named("p").edition(2).time("t", TimeType.AUTO).rollup(r -> r.count("n")));
        assertThat(without.refusal(record("2024-05-01 23:00:00")).message()).doesNotContain("edition");
    }

    @ParameterizedTest
    @CsvSource({
        "19844, Europe/Berlin, 2024-04-30T22:00:00Z",
        "19844.0, UTC, 2024-05-01T00:00:00Z",
        "19844, , 2024-05-01T00:00:00Z",
        "-1, , 1969-12-31T00:00:00Z",
        "19631, America/Asuncion, 2023-10-01T04:00:00Z",
        "19839, Africa/Cairo, 2024-04-25T22:00:00Z",
    })
    void a_count_of_days_is_the_first_instant_of_a_day(String days, @Nullable String zone, Instant expected) {
        PipelineBuilder builder = PipelineBuilder.named("p").time("t", TimeType.EPOCH_DAYS);
        builder = zone == null ? builder : builder.zone(zone);
        Decoding decoding = Decoding.of(builder.rollup(r -> r.count("n")));
        assertThat(decoding.event("{\"t\":" + days + "}").timeMs).isEqualTo(expected.toEpochMilli());
        assertThat(decoding.event(record(days)).timeMs).isEqualTo(expected.toEpochMilli());
    }

    @Test
    void a_number_that_is_no_day_is_refused_and_a_unit_that_fits_is_named() {
        Decoding days = Decoding.of(
                PipelineBuilder.named("p").time("t", TimeType.EPOCH_DAYS).rollup(r -> r.count("n")));
        assertThat(days.refusal("{\"t\":1.5}").message()).contains("wanted is whole days since 1970");
        assertThat(days.refusal("{\"t\":1714550400}").message()).endsWith("write the type epoch-seconds");
        assertThat(days.refusal("{\"t\":9e15}").message()).contains("wanted is whole days since 1970");
        Decoding auto = Decoding.of(PipelineBuilder.named("p").time("t").rollup(r -> r.count("n")));
        assertThat(auto.refusal("{\"t\":19844}").message()).contains("if it is days since 1970, epoch-days;");
        assertThat(auto.refusal("{\"t\":20240501}").message()).endsWith("write the type epoch-seconds");
    }

    @Test
    void a_day_without_a_zone_is_none_of_the_calendar_of_a_zone() {
        String level = "bucket(t, month, epoch-days, America/New_York)";
        String message = Decoding.level(level).refusal("{\"t\":19844}").message();
        assertThat(message).endsWith("'zone: America/New_York'");
        Decoding zoned = Decoding.of(PipelineBuilder.named("p")
                .zone("America/New_York")
                .rollup(r -> r.levels(level).count("n")));
        assertThat(zoned.group("{\"t\":19844}")).containsExactly("2024-05-01");
        assertThat(Decoding.level("bucket(t, month, epoch-days)").group("{\"t\":19844}"))
                .containsExactly("2024-05-01T00:00:00Z");
    }

    @ParameterizedTest
    @CsvSource({
        "2023-10-01, America/Asuncion",
        "2024-04-26, Africa/Cairo",
        "2024-05-01, Europe/Berlin",
        "2024-11-03, America/Havana"
    })
    void a_date_is_the_first_instant_of_its_day_also_where_midnight_is_left_out_or_comes_twice(
            String date, String zone) {
        long expected = java.time.LocalDate.parse(date)
                .atStartOfDay(ZoneId.of(zone))
                .toInstant()
                .toEpochMilli();
        assertThat(timed(zone, null).event(record(date)).timeMs).isEqualTo(expected);
        for (LocalFold fold : LocalFold.values()) {
            assertThat(timed(zone, fold).event(record(date)).timeMs).isEqualTo(expected);
        }
    }

    @Test
    void an_hour_that_comes_twice_and_one_that_is_left_out_are_refused_unless_the_file_says_which() {
        Decoding none = timed("Europe/Berlin", null);
        String twice = record("2024-10-27 02:30:00");
        String never = record("2024-03-31 02:30:00");
        assertThat(none.refusal(twice).message())
                .isEqualTo("Field t is '2024-10-27 02:30:00', an hour that comes twice in Europe/Berlin; write 'fold:"
                        + " earlier' or 'fold: later' under input to take one of the two times");
        assertThat(none.refusal(never).message()).contains("an hour that is left out in Europe/Berlin");
        Decoding earlier = timed("Europe/Berlin", LocalFold.EARLIER);
        Decoding later = timed("Europe/Berlin", LocalFold.LATER);
        assertThat(Instant.ofEpochMilli(earlier.event(twice).timeMs)).hasToString("2024-10-27T00:30:00Z");
        assertThat(Instant.ofEpochMilli(later.event(twice).timeMs)).hasToString("2024-10-27T01:30:00Z");
        assertThat(Instant.ofEpochMilli(earlier.event(never).timeMs)).hasToString("2024-03-31T00:30:00Z");
        assertThat(Instant.ofEpochMilli(later.event(never).timeMs)).hasToString("2024-03-31T01:30:00Z");
    }

    @Test
    void local_times_are_those_of_java_time_in_any_order() {
        Seeds.forAllSeeds(60, random -> {
            ZoneId zone = ZoneId.of(ZONES.get(random.nextInt(ZONES.size())));
            Decoding none = timed(zone.getId(), null);
            Decoding later = timed(zone.getId(), LocalFold.LATER);
            LocalDateTime around =
                    LocalDateTime.ofEpochSecond(random.nextLong(-2_000_000_000L, 4_000_000_000L), 0, ZoneOffset.UTC);
            var next = zone.getRules().nextTransition(around.toInstant(ZoneOffset.UTC));
            LocalDateTime jump = next == null ? around : next.getDateTimeBefore();
            for (int i = 0; i < 100; i++) {
                LocalDateTime time = (i % 2 == 0 ? around : jump)
                        .plusMinutes(random.nextLong(-180, 180))
                        .plusSeconds(random.nextInt(4) == 0 ? random.nextLong(-60, 60) : 0);
                String text = record(
                        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").format(time));
                List<ZoneOffset> offsets = zone.getRules().getValidOffsets(time);
                assertThat(none.decode(text) == null).as("%s in %s", text, zone).isEqualTo(offsets.size() == 1);
                if (offsets.size() == 1) {
                    assertThat(none.event(text).timeMs)
                            .isEqualTo(time.toInstant(offsets.getFirst()).toEpochMilli());
                }
                long last = offsets.isEmpty()
                        ? time.atZone(zone).toEpochSecond() // java.time takes the offset before a gap.
                        : time.toEpochSecond(offsets.getLast());
                assertThat(later.event(text).timeMs).as("%s in %s", text, zone).isEqualTo(last * 1_000);
            }
        });
    }

    @Test
    void a_local_time_is_a_version_in_a_zone_without_jumps_alone() {
        PipelineBuilder builder =
                PipelineBuilder.named("p").key("k").version("v", TimeType.ISO).rollup(r -> r.count("n"));
        Decoding utc = Decoding.of(builder.zone("UTC"));
        assertThat(utc.version("{\"k\":1,\"v\":\"2024-05-01 10:00:02.500000\"}"))
                .isEqualTo(utc.version("{\"k\":1,\"v\":\"2024-05-01T10:00:02.5Z\"}"));
        assertThatThrownBy(() -> PipelineBuilder.named("p")
                        .key("k")
                        .version("v", TimeType.ISO)
                        .zone("Europe/Berlin")
                        .rollup(r -> r.count("n"))
                        .build())
                .hasMessageContaining("an hour that comes twice has no order; write a zone that never does");
    }

    @ParameterizedTest
    @CsvSource({
        "EPOCH_MICROS, 1714607999999999, 1714607999999999000",
        "EPOCH_MICROS, 1714607999999999.123, 1714607999999999123",
        "EPOCH_MICROS, -1, -1000",
        "EPOCH_NANOS, 1714607999999999999, 1714607999999999999",
        "EPOCH_NANOS, 9223372036854775808, 9223372036854775808",
        "EPOCH_NANOS, 9999999999999999999, 9999999999999999999",
        "EPOCH_NANOS, 5.0, 5",
        "EPOCH_NANOS, 1.7e18, 1700000000000000000",
        "EPOCH_NANOS, -1, -1",
    })
    void microseconds_and_nanoseconds_are_exact(TimeType type, String number, BigInteger nanos) {
        Decoding versions = Decoding.of(
                PipelineBuilder.named("p").key("k").version("v", type).rollup(r -> r.count("n")));
        assertThat(versions.version("{\"k\":1,\"v\":" + number + "}")).isEqualTo(nanos);
        assertThat(versions.version("{\"k\":1,\"v\":\"" + number + "\"}")).isEqualTo(nanos);
    }

    @Test
    void a_fraction_of_a_nanosecond_is_refused() {
        Decoding versions = Decoding.of(PipelineBuilder.named("p")
                .key("k")
                .version("v", TimeType.EPOCH_NANOS)
                .rollup(r -> r.count("n")));
        for (String number : List.of("1.5", "1.", "x", "1e-1")) {
            assertThat(versions.refusal("{\"k\":1,\"v\":\"" + number + "\"}").message())
                    .endsWith("wanted is epoch nanoseconds");
        }
    }

    @Test
    void texts_of_spreadsheets_are_those_of_java_time_in_the_zone_of_the_input() {
        List<String> patterns = List.of("d.M.uuuu", "dd/MM/uuuu HH:mm", "d-M-uuuu H:mm:ss", "d.M.uuuu, HH:mm:ss.SSS");
        List<String> american = List.of("M/d/uuuu", "MM/dd/uuuu h:mm a", "M-d-uuuu hh:mm:ss a", "M.d.uuuu H:mm");
        Seeds.forAllSeeds(300, random -> {
            boolean isDayFirst = random.nextBoolean();
            String zone = ZONES.get(random.nextInt(ZONES.size()));
            Decoding decoding = Decoding.of(PipelineBuilder.named("p")
                    .zone(zone)
                    .fold(LocalFold.EARLIER)
                    .time("t", isDayFirst ? TimeType.DMY : TimeType.MDY)
                    .rollup(r -> r.count("n")));
            String pattern = (isDayFirst ? patterns : american).get(random.nextInt(4));
            DateTimeFormatter format = DateTimeFormatter.ofPattern(pattern, java.util.Locale.ROOT);
            LocalDateTime local = LocalDateTime.ofEpochSecond(random.nextLong(0, 2_000_000_000L), 0, ZoneOffset.UTC)
                    .withNano(0);
            String text = local.format(format);
            LocalDateTime said = pattern.contains(":")
                    ? LocalDateTime.parse(text, format)
                    : local.toLocalDate().atStartOfDay();
            assertThat(decoding.event(record(text)).timeMs)
                    .as("%s as %s in %s", text, pattern, zone)
                    .isEqualTo(said.atZone(ZoneId.of(zone)).toInstant().toEpochMilli());
        });
    }

    @Test
    void a_text_of_a_spreadsheet_is_refused_without_a_type_a_zone_or_a_day_that_there_is() {
        assertThat(timed(null, null).refusal(record("05/01/2024")).message())
                .endsWith("Write the type dmy if the day comes first, or mdy if the month does");
        assertThat(timed(null, null).refusal(record("31.12.2024 14:30")).message())
                .endsWith("Write the type dmy");
        assertThat(timed(null, null).refusal(record("12/31/2024 2:30 PM")).message())
                .endsWith("Write the type mdy");
        PipelineBuilder days =
                PipelineBuilder.named("p").time("t", TimeType.DMY).rollup(r -> r.count("n"));
        assertThat(Decoding.of(days).refusal(record("31.12.2024")).message())
                .contains("does not say its zone; write it under input, such as 'zone: UTC'");
        Decoding utc = Decoding.of(days.zone("UTC"));
        for (String wrong : List.of(
                "12/31/2024",
                "31.12/2024",
                "31.12.24",
                "31.2.2024",
                "1.1.2024 13:00 PM",
                "1.1.2024 24:00",
                "1.1.2024Z")) {
            assertThat(utc.refusal(record(wrong)).message()).contains("wanted is day, month and year");
        }
    }

    @Test
    void dates_are_read_where_numbers_have_the_same_separators() {
        Decoding german = Decoding.of(PipelineBuilder.named("p")
                .csv("t", "n")
                .delimiter(';')
                .numbers(',', '.')
                .zone("UTC")
                .time("t", TimeType.DMY)
                .rollup(r -> r.sum("s", "n", 9, 2)));
        assertThat(german.event("31.12.2024;1.234,50").timeMs)
                .isEqualTo(Instant.parse("2024-12-31T00:00:00Z").toEpochMilli());
    }

    @Test
    void a_day_that_a_zone_leaves_out_is_refused_as_its_hours_are() {
        assertThat(timed("Pacific/Apia", null).refusal(record("2011-12-30")).message())
                .contains("an hour that is left out in Pacific/Apia");
        assertThat(timed("Pacific/Apia", LocalFold.LATER).event(record("2011-12-30")).timeMs)
                .isEqualTo(Instant.parse("2011-12-30T10:00:00Z").toEpochMilli());
    }
}
