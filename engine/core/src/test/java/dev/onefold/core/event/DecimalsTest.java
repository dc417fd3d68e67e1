package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.onefold.core.pipeline.DecimalType;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Numbers are exact, and bounded at the door (hazards 20 and 21).
class DecimalsTest {
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?");
    private static final List<String> ENDLESS = List.of(
            "1e999999999",
            "-1e999999999",
            "1e-999999999",
            "100e2147483647",
            "1000e2147483646",
            "1e2147483648",
            "1e-2147483646",
            "1.5e-2147483648",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "0e999999999",
            "0e-999999999",
            "0.0e99999999999999999999",
            "-0e-99999999999999999999");

    private static Decoding decimal(int precision, int scale) {
        return Decoding.measure("sum(v) decimal(" + precision + "," + scale + ")");
    }

    private static String record(String number) {
        return "{\"v\":" + number + "}";
    }

    @ParameterizedTest
    @CsvSource({
        "18, 2, 9999999999999999.99, 10000000000000000",
        "18, 2, -9999999999999999.99, -10000000000000000",
        "18, 2, 0.01, 0.001",
        "18, 2, -0.01, -0.015",
        "18, 0, 999999999999999999, 1000000000000000000",
        "18, 18, 0.999999999999999999, 1",
        "19, 1, 999999999999999999.9, 1000000000000000000",
        "1, 0, 9, 10",
        "1, 1, 0.9, 1",
        "1, 1, -0.9, -1.1",
        "17, 0, 99999999999999999, 100000000000000000",
        "28, 2, 99999999999999999999999999.99, 100000000000000000000000000",
        "28, 0, 9999999999999999999999999999, 10000000000000000000000000000",
        "38, 0, 9999999999999999999999999999, 10000000000000000000000000000",
        "38, 0, -9999999999999999999999999999, -10000000000000000000000000000",
        "38, 10, 999999999999999999.9999999999, 1000000000000000000",
        "38, 20, 99999999.99999999999999999999, 100000000",
        "38, 38, 0.00000000009999999999999999999999999999, 0.0000000001",
    })
    void the_greatest_value_of_a_type_fits_and_the_next_is_refused(
            int precision, int scale, String most, String beyond) {
        Decoding decoding = decimal(precision, scale);
        assertThat(decoding.number(record(most))).isEqualTo(new BigDecimal(most).setScale(scale));
        assertThat(decoding.number("{\"v\":\"" + most + "\"}")).isEqualTo(new BigDecimal(most).setScale(scale));
        Malformed refusal = decoding.refusal(record(beyond));
        assertThat(refusal.reason()).isEqualTo(Reason.REFUSED);
        assertThat(refusal.message())
                .contains("Field v is '" + beyond.substring(0, Math.min(40, beyond.length())))
                .contains("does not fit decimal(" + precision + "," + scale + "): at most "
                        + Math.max(0, Math.min(28, precision) - scale) + " digits before the point and " + scale
                        + " behind it" + (precision > 28 ? ", because a value has at most 28 in all" : ";"))
                .contains("refused, never rounded");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.50",
                "1.5000000000000000000000",
                "15e-1",
                "0.15E1",
                "0.15e+1",
                "150e-2",
                "1.5e0",
                "1.5e00000000000000"
            })
    void one_number_has_many_spellings(String spelling) {
        assertThat(decimal(18, 2).number(record(spelling))).isEqualTo(new BigDecimal("1.50"));
        assertThat(decimal(38, 20).number(record(spelling))).isEqualTo(new BigDecimal("1.50").setScale(20));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-0", "0.000", "-0.0e7", "0e0", "0e999999999", "0e-99999999999999999999"})
    void zero_is_zero_however_it_is_written(String zero) {
        assertThat(decimal(4, 2).number(record(zero))).isEqualTo(new BigDecimal("0.00"));
    }

    @Test
    void text_may_have_leading_zeros_and_escapes_but_nothing_else_that_a_number_has_not() {
        Decoding decoding = decimal(18, 2);
        assertThat(decoding.number("{\"v\":\"0000000000000000000000007.5\"}")).isEqualTo(new BigDecimal("7.50"));
        assertThat(decoding.number("{\"v\":\"007\"}")).isEqualTo(new BigDecimal("7.00"));
        assertThat(decoding.number("{\"v\":\"\\u0037.5\"}")).isEqualTo(new BigDecimal("7.50"));
        for (String text : List.of(
                "",
                "-",
                "+1",
                " 1",
                "1 ",
                "1.",
                ".5",
                "1e",
                "1e+",
                "1e5.",
                "0x1",
                "1,5",
                "NaN",
                "Infinity",
                "--1",
                "1.2.3",
                "1-",
                "\u0661")) {
            assertThat(decoding.refusal("{\"v\":\"" + text + "\"}").message())
                    .startsWith("Field v is '")
                    .contains("which is not a number");
        }
    }

    @Test
    void what_is_no_number_at_all_is_refused() {
        for (String value : List.of("true", "false", "{}", "[1]")) {
            assertThat(decimal(18, 2).refusal(record(value)).message()).isEqualTo("Field v is not a number");
        }
    }

    @Test
    void a_missing_number_is_refused_or_ignored_or_stood_in_for_as_the_measure_says() {
        for (String record : List.of("{}", record("null"), "{\"V\":1}")) {
            assertThat(decimal(18, 2).refusal(record).message()).contains("Field v is missing");
            assertThat(Decoding.measure("sum(v) decimal(18,2) missing ignore").number(record))
                    .isNull();
            assertThat(Decoding.measure("sum(v) decimal(18,2) missing 0").number(record))
                    .isEqualTo(new BigDecimal("0.00"));
            assertThat(Decoding.measure("sum(v) decimal(18,2) missing -12.5").number(record))
                    .isEqualTo(new BigDecimal("-12.50"));
        }
    }

    @Test
    void numbers_that_would_take_forever_cost_nothing() {
        Decoding sum = decimal(38, 20);
        Decoding step = Decoding.level("step(v, 0.5)");
        Decoding text = Decoding.level("v");
        Decoding millis = Decoding.level("bucket(v, 1h, epoch-millis)");
        Decoding seconds = Decoding.level("bucket(v, 1h, epoch-seconds)");
        Decoding condition = Decoding.filter("v > 5");
        assertTimeoutPreemptively(Duration.ofSeconds(5), () -> {
            for (String number : ENDLESS) {
                boolean zero = new BigDecimal(number.replaceFirst("e.*", "")).signum() == 0;
                assertThat(sum.decode(record(number)) == null).as(number).isEqualTo(zero);
                for (Decoding level : List.of(step, text, millis, seconds)) {
                    assertThat(level.decode(record(number)) == null).as(number).isEqualTo(zero);
                }
                assertThat(condition.counts(record(number)))
                        .as(number)
                        .isEqualTo(!zero && !number.startsWith("-") && !number.contains("e-"));
            }
        });
    }

    @Test
    void a_number_of_many_characters_is_measured_and_not_read() {
        assertThat(decimal(38, 0).refusal(record("1" + "0".repeat(200_000))).message())
                .contains("is a number of 200001 characters; 1000 are read at most");
        assertThat(decimal(38, 0).number(record("1." + "0".repeat(998)))).isEqualTo(BigDecimal.ONE);
        assertThat(decimal(38, 0)
                        .refusal(record("\"" + "x".repeat(1_000) + "\""))
                        .message())
                .endsWith("which is not a number");
        assertThat(decimal(38, 0)
                        .refusal(record("\"" + "x".repeat(1_001) + "\""))
                        .message())
                .contains("is a number of 1001 characters");
    }

    @Test
    void any_number_is_what_big_decimal_reads_or_refused_where_it_does_not_fit() {
        Seeds.forAllSeeds(15_000, random -> {
            int precision = random.nextInt(1, 39);
            int scale = random.nextInt(precision + 1);
            String text = number(random);
            Decimals decimals = new Decimals();
            byte[] bytes = ("7" + text + "7").getBytes(StandardCharsets.UTF_8);
            String wrong = decimals.read(bytes, 1, bytes.length - 1, new DecimalType(precision, scale));
            BigDecimal expected = expected(text, precision, scale);
            assertThat(wrong == null ? Decimals.decimal(decimals.hi, decimals.lo, scale) : null)
                    .as("%s as decimal(%d,%d): %s", text, precision, scale, wrong)
                    .isEqualTo(expected);
        });
    }

    private static @Nullable BigDecimal expected(String text, int precision, int scale) {
        if (!NUMBER.matcher(text).matches()) {
            return null;
        }
        BigDecimal number = new BigDecimal(text);
        BigDecimal scaled = number.setScale(scale, java.math.RoundingMode.DOWN);
        BigInteger limit = BigInteger.TEN.pow(Math.min(precision, 28));
        return scaled.compareTo(number) == 0 && scaled.unscaledValue().abs().compareTo(limit) < 0 ? scaled : null;
    }

    private static String number(RandomGenerator random) {
        StringBuilder text = new StringBuilder(random.nextInt(3) == 0 ? "-" : "");
        append(random, random.nextInt(random.nextBoolean() ? 5 : 32), text);
        if (random.nextInt(3) > 0) {
            text.append('.');
            append(random, random.nextInt(random.nextBoolean() ? 4 : 30), text);
        }
        if (random.nextInt(4) == 0) {
            text.append(random.nextBoolean() ? "e" : "E-").append(random.nextInt(40));
        }
        if (random.nextInt(20) == 0) {
            text.insert(random.nextInt(text.length() + 1), "+-. eE0/:".charAt(random.nextInt(9)));
        }
        return text.toString().replaceFirst("([eE][+-]?[0-9]{3})[0-9]*", "$1");
    }

    private static void append(RandomGenerator random, int digits, StringBuilder text) {
        boolean nines = random.nextInt(4) == 0;
        boolean zeros = random.nextInt(4) == 0;
        for (int i = 0; i < digits; i++) {
            text.append(nines ? 9 : zeros && random.nextInt(8) > 0 ? 0 : random.nextInt(10));
        }
    }
}
