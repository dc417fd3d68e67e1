package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The functions of levels.
class LevelsTest {
    private static String group(String level, String value) {
        return Decoding.level(level).group("{\"v\":" + value + "}").getFirst();
    }

    @ParameterizedTest
    @CsvSource({
        "1699999199.999999999, 1h, 2023-11-14T21:00:00Z",
        "1699999200, 1h, 2023-11-14T22:00:00Z",
        "-0.000000001, 1h, 1969-12-31T23:00:00Z",
        "-1, 1s, 1969-12-31T23:59:59Z",
        "-3600, 1h, 1969-12-31T23:00:00Z",
        "-3600.5, 1h, 1969-12-31T22:00:00Z",
        "1572214818, 1h, 2019-10-27T22:00:00Z",
        "1572214818, 1d, 2019-10-27T00:00:00Z",
        "1572214818, 7d, 2019-10-24T00:00:00Z",
        "1572214818, 15m, 2019-10-27T22:15:00Z",
        "1572214818, 1s, 2019-10-27T22:20:18Z",
        "1572214818, 36500d, 1970-01-01T00:00:00Z",
        "-1, 36500d, 1870-01-25T00:00:00Z",
        "-2208988800, 1d, 1900-01-01T00:00:00Z",
        "7258118399.999, 1d, 2199-12-31T00:00:00Z",
        "'\"2019-10-27T23:20:18.5+01:00\"', 1h, 2019-10-27T22:00:00Z",
        "'\"2019-10-27T23:59:59.999999999-00:01\"', 1h, 2019-10-28T00:00:00Z",
    })
    void a_bucket_is_the_start_of_its_time_also_before_1970(String time, String size, String start) {
        assertThat(group("bucket(v, " + size + ")", time)).isEqualTo(start);
    }

    @Test
    void a_bucket_reads_its_field_as_it_is_told() {
        assertThat(group("bucket(v, 1h, epoch-millis)", "1572214818123")).isEqualTo("2019-10-27T22:00:00Z");
        assertThat(group("bucket(v, 1h, epoch-seconds)", "\"1572214818\"")).isEqualTo("2019-10-27T22:00:00Z");
        assertThat(group("bucket(v, 1h, iso)", "\"2019-10-27T22:20:18Z\"")).isEqualTo("2019-10-27T22:00:00Z");
        for (String value : List.of("true", "[]", "{}")) {
            assertThat(Decoding.level("bucket(v, 1h)")
                            .refusal("{\"v\":" + value + "}")
                            .message())
                    .isEqualTo("Field v is not a time");
        }
        assertThat(Decoding.level("bucket(v, 1h, iso)")
                        .refusal("{\"v\":1572214818}")
                        .message())
                .contains("which is not a time; wanted is ISO-8601");
        assertThat(Decoding.level("bucket(v, 1h)").refusal("{}").message())
                .isEqualTo("Field v is missing; it is a level without a default");
    }

    @ParameterizedTest
    @CsvSource({
        "1763700000000, auto, As epoch-millis it is 2025-11-21T04:40:00Z: write the type epoch-millis",
        "1763700000000000, auto, As epoch-micros it is 2025-11-21T04:40:00Z: write the type epoch-micros",
        "1763700000000000, epoch-millis, As epoch-micros it is 2025-11-21T04:40:00Z: write the type epoch-micros",
        "1763700000000000000, epoch-millis, As epoch-nanos it is 2025-11-21T04:40:00Z: write the type epoch-nanos",
        "-2208988801, epoch-seconds, is read as the time 1899-12-31T23:59:59Z; taken are the years 1900 to 2199",
        "7258118400, auto, is read as the time 2200-01-01T00:00:00Z; taken are the years 1900 to 2199",
        "'\"9999-12-31T00:00:00Z\"', iso, is read as the time 9999-12-31T00:00:00Z; taken are the years 1900 to 2199",
        "31556889864403199, auto, is read as the time +1000000000-12-31T23:59:59Z",
    })
    void a_time_of_an_event_that_is_not_of_these_centuries_is_refused_with_the_likely_unit(
            String time, String type, String message) {
        String record = "{\"v\":" + time + "}";
        assertThat(Decoding.level("bucket(v, 1h, " + type + ")").refusal(record).message())
                .startsWith("Field v is read as the time ")
                .contains(message);
        Decoding timed = Decoding.of(PipelineBuilder.named("p")
                .time("v", TimeType.valueOf(type.toUpperCase(Locale.ROOT).replace('-', '_')))
                .rollup(r -> r.count("n")));
        assertThat(timed.refusal(record).message()).contains(message);
    }

    @Test
    void a_bucket_that_was_just_asked_for_is_not_mistaken_for_the_next() {
        Decoding decoding = Decoding.of(PipelineBuilder.named("p")
                .rollup(r -> r.levels(
                                "bucket(v, 1h, epoch-seconds)",
                                "bucket(v, 1m, epoch-seconds)",
                                "bucket(w, 1h, epoch-seconds)")
                        .count("n")));
        Seeds.forAllSeeds(5_000, random -> {
            long v = random.nextLong(-100_000, 100_000);
            long w = random.nextLong(-10_000, 10_000);
            assertThat(decoding.group("{\"v\":" + v + ",\"w\":" + w + "}"))
                    .containsExactly(start(v, 3600), start(v, 60), start(w, 3600));
        });
    }

    private static String start(long seconds, long size) {
        return Instant.ofEpochSecond(Math.floorDiv(seconds, size) * size).toString();
    }

    @ParameterizedTest
    @CsvSource({
        "'\"abc\"', 1, a",
        "'\"abc\"', 2, ab",
        "'\"abc\"', 3, abc",
        "'\"abc\"', 1000, abc",
        "'\"\"', 2, ''",
        "'\"äöü\"', 2, äö",
        "'\"a€𝄞😀\"', 3, a€𝄞",
        "'\"\\ud834\\udd1ex\"', 1, 𝄞",
        "'\"\\u00e9\\n\"', 1, é",
        "12345, 2, 12",
        "-1.50, 3, -1.",
        "true, 1, t",
    })
    void a_prefix_is_counted_in_code_points(String value, int length, String prefix) {
        assertThat(group("prefix(v, " + length + ")", value)).isEqualTo(prefix);
    }

    @Test
    void a_prefix_ends_with_its_text_whatever_the_one_before_left_behind_it() {
        Decoding decoding = Decoding.level("prefix(v, 5)");
        assertThat(decoding.group("{\"v\":\"xéé\"}")).containsExactly("xéé");
        assertThat(decoding.group("{\"v\":\"yz\"}")).containsExactly("yz");
    }

    @Test
    void a_step_is_taken_of_a_number_of_1000_decimals_and_of_no_more() {
        String digits = "9".repeat(990);
        assertThat(group("step(v, 1)", digits + "e-1000")).isEqualTo("0");
        assertThat(Decoding.level("step(v, 1)")
                        .refusal("{\"v\":" + digits + "e-1001}")
                        .message())
                .endsWith("which is not a number of at most 100 digits");
    }

    @Test
    void a_prefix_of_an_object_refuses_the_record() {
        assertThat(Decoding.level("prefix(v, 2)").refusal("{\"v\":{}}").message())
                .isEqualTo("Field v is not text or a number; it is a level");
    }

    @ParameterizedTest
    @CsvSource({
        "4.7, 1, 4",
        "-0.3, 1, -1",
        "-1, 1, -1",
        "-1.0000000001, 1, -2",
        "0, 1, 0",
        "-0, 1, 0",
        "0.999, 1, 0",
        "7, 2.5, 5",
        "7.5, 2.5, 7.5",
        "-7, 2.5, -7.5",
        "0.3, 0.1, 0.3",
        "0.29, 0.1, 0.2",
        "-0.05, 0.1, -0.1",
        "1234, 100, 1200",
        "1e3, 100, 1000",
        "-1e3, 300, -1200",
        "'\"4.7\"', 1, 4",
        "'\"\\u0034.7\"', 1, 4",
        "0.5, 0.25, 0.5",
        "10, 0.01, 10",
        "1e99, 1, 1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    })
    void a_step_is_the_greatest_multiple_that_is_not_above(String value, String step, String multiple) {
        assertThat(group("step(v, " + step + ")", value)).isEqualTo(multiple);
    }

    @Test
    void any_step_is_the_floor_of_exact_division() {
        Seeds.forAllSeeds(10_000, random -> {
            BigDecimal number =
                    new BigDecimal(BigInteger.valueOf(random.nextLong(-1L << 40, 1L << 40)), random.nextInt(-3, 12));
            BigDecimal step = new BigDecimal(BigInteger.valueOf(random.nextLong(1, 1L << 20)), random.nextInt(0, 5));
            BigDecimal multiple = new BigDecimal(group("step(v, " + step.toPlainString() + ")", number.toString()));
            assertThat(multiple.remainder(step)).isEqualByComparingTo(BigDecimal.ZERO);
            assertThat(multiple).isLessThanOrEqualTo(number);
            assertThat(multiple.add(step)).isGreaterThan(number);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"x\"", "\"\"", "true", "[]", "{}", "1e100", "-1e100", "1e-102", "\"NaN\"", "1e999999999"})
    void a_step_of_what_is_no_number_of_100_digits_refuses_the_record(String value) {
        assertThat(Decoding.level("step(v, 1)").refusal("{\"v\":" + value + "}").message())
                .startsWith("Field v is '")
                .endsWith("which is not a number of at most 100 digits");
    }

    @Test
    void levels_of_several_roll_ups_each_make_their_own_group() {
        Decoding decoding = Decoding.of(PipelineBuilder.named("p")
                .rollup("one", r -> r.levels("a", "prefix(b, 1)").count("n"))
                .rollup("two", r -> r.count("n"))
                .rollup("three", r -> r.levels("b", "a", "step(c, 10)").count("n")));
        String record = "{\"c\":25,\"a\":\"x\\u0000\",\"b\":\"yz\"}";
        assertThat(decoding.group(record, 0)).containsExactly("x\0", "y");
        assertThat(decoding.group(record, 1)).isEmpty();
        assertThat(decoding.group(record, 2)).containsExactly("yz", "x\0", "20");
    }
}
