package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Instants, against java.time and BigDecimal.
class TimesTest {
    private static final BigDecimal SECONDS_MAX = BigDecimal.valueOf(Instant.MAX.getEpochSecond());

    private static Decoding time(TimeType type) {
        return Decoding.of(PipelineBuilder.named("p").time("t", type).rollup(r -> r.count("n")));
    }

    private static Decoding version(TimeType type) {
        return Decoding.of(
                PipelineBuilder.named("p").key("k").version("t", type).rollup(r -> r.count("n")));
    }

    /// The time that is read, in nanoseconds; `null` if it is refused.
    private static @Nullable BigInteger read(String text, boolean number, TimeType type) {
        Times times = new Times();
        byte[] bytes = ("9" + text + "9Z").getBytes(StandardCharsets.UTF_8);
        String wrong = times.read(bytes, 1, bytes.length - 2, number, type);
        if (wrong != null) {
            assertThat(wrong).startsWith("is '").contains("which is not a time; wanted is ");
            return null;
        }
        assertThat(times.nanos).isBetween(0, 999_999_999);
        return nanos(times.seconds, times.nanos);
    }

    private static BigInteger nanos(long seconds, int nanos) {
        return BigInteger.valueOf(seconds)
                .multiply(BigInteger.valueOf(1_000_000_000))
                .add(BigInteger.valueOf(nanos));
    }

    private static @Nullable BigInteger javaTime(String text) {
        try {
            OffsetDateTime time = OffsetDateTime.parse(text);
            return nanos(time.toEpochSecond(), time.getNano());
        } catch (DateTimeException e) {
            return null;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1970-01-01T00:00:00Z, 0",
        "1970-01-01T00:00:00.000000001Z, 1",
        "1969-12-31T23:59:59.999999999Z, -1",
        "2019-10-27T22:20:18Z, 1572214818000000000",
        "2019-10-27T23:20:18+01:00, 1572214818000000000",
        "2019-10-27T16:35:18.5-05:45, 1572214818500000000",
        "2020-02-29T12:00:00Z, 1582977600000000000",
        "2000-02-29T00:00:00Z, 951782400000000000",
        "0000-01-01T00:00:00Z, -62167219200000000000",
        "9999-12-31T23:59:59.999999999Z, 253402300799999999999",
    })
    void an_iso_time_is_its_nanoseconds_since_1970(String text, BigInteger nanos) {
        assertThat(read(text, false, TimeType.ISO)).isEqualTo(nanos);
        assertThat(read(text, false, TimeType.AUTO)).isEqualTo(nanos);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "2019-10-27_22:20:18Z",
                "2019-10-27 22:20:18 +2",
                "2019-10-27 22:20:18 CET",
                "2019-02-29T00:00:00Z",
                "1900-02-29T00:00:00Z",
                "2019-04-31T00:00:00Z",
                "2019-13-01T00:00:00Z",
                "2019-00-01T00:00:00Z",
                "2019-01-00T00:00:00Z",
                "2019-10-27T24:20:18Z",
                "2019-10-27T22:60:18Z",
                "2019-10-27T22:20:60Z",
                "2019-10-27T22:20:18.1234567890Z",
                "2019-10-27T22:20:18+19:00",
                "2019-10-27T22:20:18ZZ",
                "2019-10-27T22:20:1\u06618Z",
                "1572214818",
                "99999999999999999999999999999999999999999Z",
            })
    void what_is_no_iso_time_with_an_offset_is_refused(String text) {
        assertThat(read(text, false, TimeType.ISO)).isNull();
        assertThat(time(TimeType.ISO).refusal("{\"t\":\"" + text + "\"}").message())
                .startsWith("Field t is '")
                .endsWith("wanted is ISO-8601 with an offset, such as 2026-11-21T09:30:00Z");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1572214818, 1572214818000000000",
        "-1, -1000000000",
        "-0.000000001, -1",
        "1.5, 1500000000",
        "1.000000001, 1000000001",
        "1.500000000000, 1500000000",
        "1e3, 1000000000000",
        "15E-1, 1500000000",
        "31556889864403199, 31556889864403199000000000",
        "-31556889864403199, -31556889864403199000000000",
    })
    void epoch_seconds_have_up_to_nine_decimals(String text, BigInteger nanos) {
        assertThat(read(text, true, TimeType.EPOCH_SECONDS)).isEqualTo(nanos);
        assertThat(read(text, true, TimeType.AUTO)).isEqualTo(nanos);
        assertThat(read(text, false, TimeType.EPOCH_SECONDS)).isEqualTo(nanos);
        assertThat(read(text, true, TimeType.ISO)).isNull();
        assertThat(read(text, false, TimeType.AUTO)).isNull();
        if (!text.contains("E-")) {
            assertThat(version(TimeType.EPOCH_SECONDS).version("{\"k\":1,\"t\":" + text + "}"))
                    .isEqualTo(nanos);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1572214818123, 1572214818123000000",
        "1572214818123.456789, 1572214818123456789",
        "1572214818123.4567890, 1572214818123456789",
        "-1, -1000000",
        "-0.000001, -1",
        "-1500.5, -1500500000",
        "1e3, 1000000000",
        "31556889864403199000, 31556889864403199000000000",
    })
    void epoch_milliseconds_have_up_to_six_decimals(String text, BigInteger nanos) {
        assertThat(read(text, true, TimeType.EPOCH_MILLIS)).isEqualTo(nanos);
        assertThat(read(text, false, TimeType.EPOCH_MILLIS)).isEqualTo(nanos);
    }

    @Test
    void an_epoch_time_finer_than_nanoseconds_or_beyond_a_thousand_million_years_is_refused() {
        for (String text : List.of(
                "1.0000000001",
                "31556889864403200",
                "-31556889864403200",
                "1e17",
                "1e300",
                "-",
                "1.",
                "",
                "1x",
                "1.5x",
                "1.5.5",
                "0x1")) {
            assertThat(read(text, true, TimeType.EPOCH_SECONDS)).as(text).isNull();
        }
        for (String text : List.of("1.0000001", "31556889864403200000", "-31556889864403200000", "1e20", "1e-7")) {
            assertThat(read(text, true, TimeType.EPOCH_MILLIS)).as(text).isNull();
        }
        assertThat(time(TimeType.EPOCH_SECONDS).refusal("{\"t\":\"x\"}").message())
                .endsWith("wanted is epoch seconds");
        assertThat(time(TimeType.EPOCH_MILLIS).refusal("{\"t\":\"x\"}").message())
                .endsWith("wanted is epoch milliseconds");
        assertThat(time(TimeType.AUTO).refusal("{\"t\":\"1572214818\"}").message())
                .endsWith("wanted is ISO-8601 text with an offset, or epoch seconds as a number. Write the type"
                        + " epoch-seconds");
    }

    @Test
    void what_is_neither_text_nor_number_is_no_time_and_a_missing_time_refuses_the_record() {
        for (String value : List.of("true", "{}", "[]")) {
            assertThat(time(TimeType.AUTO).refusal("{\"t\":" + value + "}").message())
                    .isEqualTo("Field t is not a time");
        }
        for (String count : List.of(
                "20240501",
                "19844",
                "45413",
                "45413.5",
                "2024",
                "202405",
                "0",
                "99999999.5",
                "'20240501'",
                "'45413'")) {
            String value = count.replace('\'', '"');
            assertThat(time(TimeType.AUTO).refusal("{\"t\":" + value + "}").message())
                    .startsWith("Field t is '" + count.replace("'", "")
                            + "', which may be a date, a year or a count of days")
                    .contains("If it is seconds, write the type epoch-seconds");
            time(TimeType.EPOCH_SECONDS).event("{\"t\":" + value + "}");
        }
        assertThat(time(TimeType.AUTO).refusal("{\"t\":null}").message()).isEqualTo("Field t is missing; it is a time");
        assertThat(time(TimeType.AUTO).refusal("{}").message()).isEqualTo("Field t is missing; it is a time");
    }

    @ParameterizedTest
    @CsvSource({
        "1714550400, EPOCH_SECONDS",
        "1714550400.25, EPOCH_SECONDS",
        "1714550400000, EPOCH_MILLIS",
        "1714550400000000, EPOCH_MICROS",
        "1714550400000000000, EPOCH_NANOS"
    })
    void a_text_of_digits_is_told_its_unit(String digits, TimeType type) {
        String record = "{\"t\":\"" + digits + "\"}";
        assertThat(time(TimeType.AUTO).refusal(record).message()).endsWith(". Write the type " + type.word());
        time(type).event(record);
    }

    @Test
    void a_version_that_is_no_time_refuses_the_record() {
        for (String value : List.of("\"yesterday\"", "1572214818", "true", "null")) {
            assertThat(version(TimeType.ISO)
                            .refusal("{\"k\":\"a\",\"t\":" + value + "}")
                            .message())
                    .startsWith("Field t is ");
        }
        assertThat(version(TimeType.EPOCH_MILLIS)
                        .refusal("{\"k\":\"a\",\"t\":1e-7}")
                        .reason())
                .isEqualTo(Reason.REFUSED);
    }

    @Test
    void escapes_in_a_time_are_read_as_some_writers_escape_the_plus() {
        String plain = "{\"k\":\"a\",\"t\":\"2019-10-27T23:20:18+01:00\"}";
        String escaped = "{\"k\":\"a\",\"t\":\"2019-10-27T23:20:18\\u002B01:00\"}";
        assertThat(version(TimeType.ISO).versionBytes(escaped))
                .isEqualTo(version(TimeType.ISO).versionBytes(plain));
        assertThat(time(TimeType.AUTO).event(escaped).timeMs).isEqualTo(1572214818000L);
        assertThat(Decoding.level("bucket(t, 1h)").group(escaped)).containsExactly("2019-10-27T22:00:00Z");
    }

    @Test
    void event_time_is_rounded_down_to_milliseconds() {
        assertThat(time(TimeType.EPOCH_SECONDS).event("{\"t\":1.9999}").timeMs).isEqualTo(1999);
        assertThat(time(TimeType.EPOCH_SECONDS).event("{\"t\":-1.9999}").timeMs).isEqualTo(-2000);
        assertThat(time(TimeType.EPOCH_SECONDS).event("{\"t\":-0.000000001}").timeMs)
                .isEqualTo(-1);
        assertThat(Decoding.level("t").event("{\"t\":1}").timeMs).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void an_iso_time_has_17_to_40_characters() {
        for (String text : List.of(
                "2019-10-27T22:20Z",
                "2019-10-27T22:20:18Z",
                "2019-10-27T22:20:18.1Z",
                "2019-10-27T22:20+01:00",
                "2019-10-27T22:20:18.123456789Z",
                "+12019-10-27T22:20:18.123456789+01:00:00")) {
            assertThat(read(text, false, TimeType.ISO)).as(text).isNotNull().isEqualTo(javaTime(text));
        }
        assertThat(read("+112019-10-27T22:20:18.123456789+01:00:00", false, TimeType.ISO))
                .isNull();
        assertThat(read("2019-10-27T22:2Z", false, TimeType.ISO)).isNull();
    }

    @Test
    void any_iso_text_is_read_as_java_time_reads_it() {
        Seeds.forAllSeeds(15_000, random -> {
            String text = iso(random);
            if (text.length() <= 40) {
                assertThat(read(text, false, TimeType.ISO)).as(text).isEqualTo(javaTime(text));
            }
        });
    }

    private static String iso(RandomGenerator random) {
        LocalDate date = random.nextInt(4) == 0
                ? LocalDate.of(random.nextInt(10_000), random.nextBoolean() ? 2 : 3, random.nextInt(1, 29))
                        .plusDays(random.nextInt(5))
                : LocalDate.ofEpochDay(random.nextLong(-719_528, 2_932_897));
        LocalTime time = LocalTime.ofNanoOfDay(random.nextLong(86_400_000_000_000L));
        time = random.nextBoolean() ? time.withNano(0) : time;
        ZoneOffset offset = random.nextBoolean()
                ? ZoneOffset.UTC
                : ZoneOffset.ofTotalSeconds(random.nextInt(-18 * 60, 18 * 60 + 1) * 60);
        StringBuilder text =
                new StringBuilder(OffsetDateTime.of(date, time, offset).toString());
        for (int i = random.nextInt(4) == 0 ? random.nextInt(1, 3) : 0; i > 0; i--) {
            int at = random.nextInt(text.length());
            char character = "0123456789-:.+TZtz /\u00e9".charAt(random.nextInt(21));
            switch (random.nextInt(3)) {
                case 0 -> text.setCharAt(at, character);
                case 1 -> text.insert(at, character);
                default -> text.deleteCharAt(at);
            }
        }
        return text.toString();
    }

    @Test
    void any_epoch_number_is_its_exact_nanoseconds_or_refused() {
        Seeds.forAllSeeds(8_000, random -> {
            String text = (random.nextInt(3) == 0 ? "-" : "")
                    + random.nextLong(random.nextBoolean() ? 100 : 1L << random.nextInt(1, 63))
                    + (random.nextBoolean() ? "" : "." + random.nextLong(1L << random.nextInt(1, 40)))
                    + (random.nextInt(5) > 0 ? "" : "e" + random.nextInt(-12, 20));
            for (int shift = 0; shift <= 3; shift += 3) {
                BigDecimal seconds = new BigDecimal(text).scaleByPowerOfTen(-shift);
                BigDecimal nanos = seconds.scaleByPowerOfTen(9).stripTrailingZeros();
                BigInteger expected = nanos.scale() <= 0
                                && seconds.abs()
                                                .setScale(0, java.math.RoundingMode.CEILING)
                                                .compareTo(SECONDS_MAX)
                                        <= 0
                        ? nanos.toBigInteger()
                        : null;
                assertThat(read(text, true, shift == 0 ? TimeType.EPOCH_SECONDS : TimeType.EPOCH_MILLIS))
                        .as("%s, shifted by %d", text, shift)
                        .isEqualTo(expected);
            }
        });
    }
}
