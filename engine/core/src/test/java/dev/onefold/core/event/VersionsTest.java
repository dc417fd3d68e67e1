package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.fixtures.Seeds;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// Versions are typed at the door (hazard 13), and their bytes are ordered as they are.
class VersionsTest {
    private static final Decoding INTEGER =
            Decoding.of(PipelineBuilder.named("p").key("k").version("v").rollup(r -> r.count("n")));

    private static BigInteger version(String value) {
        return INTEGER.version("{\"k\":\"a\",\"v\":" + value + "}");
    }

    private static Malformed refusal(String value) {
        return INTEGER.refusal("{\"k\":\"a\",\"v\":" + value + "}");
    }

    @Test
    void a_version_is_an_integer_of_up_to_64_digits_as_number_or_text() {
        for (String digits : List.of(
                "0",
                "7",
                "-7",
                "255",
                "256",
                "999999999999999999",
                "1000000000000000000",
                "-1000000000000000000",
                "9223372036854775807",
                "9223372036854775808",
                "49590338271490256608559692538361571095921575989136588898",
                "9".repeat(64),
                "-" + "9".repeat(64))) {
            assertThat(version(digits)).isEqualTo(new BigInteger(digits));
            assertThat(version("\"" + digits + "\"")).isEqualTo(new BigInteger(digits));
        }
    }

    @Test
    void leading_zeros_in_text_and_the_sign_of_zero_make_no_difference_and_do_not_count_as_digits() {
        assertThat(version("\"007\"")).isEqualTo(BigInteger.valueOf(7));
        assertThat(version("\"" + "0".repeat(100) + "7\"")).isEqualTo(BigInteger.valueOf(7));
        assertThat(version("\"-" + "0".repeat(100) + "7\"")).isEqualTo(BigInteger.valueOf(-7));
        assertThat(version("\"" + "0".repeat(100) + "\"")).isZero();
        assertThat(version("-0")).isZero();
        assertThat(version("\"-" + "0".repeat(30) + "\"")).isZero();
        assertThat(version("\"" + "0".repeat(100) + "9".repeat(64) + "\"")).isEqualTo(new BigInteger("9".repeat(64)));
        assertThat(version("\"\\u0031\\u0030\"")).isEqualTo(BigInteger.TEN);
    }

    @Test
    void a_version_of_65_digits_is_too_large() {
        for (String digits : List.of("1" + "0".repeat(64), "-1" + "0".repeat(64), "1" + "0".repeat(5_000))) {
            assertThat(refusal(digits).reason()).isEqualTo(Reason.TOO_LARGE);
        }
        assertThat(refusal("1" + "0".repeat(64)).message())
                .isEqualTo("Field v has 65 digits; a version has at most 64");
    }

    @Test
    void an_integer_with_a_fraction_or_an_exponent_is_that_integer_since_edition_3() {
        assertThat(version("100.0")).isEqualTo(BigInteger.valueOf(100));
        assertThat(version("1.7e12")).isEqualTo(BigInteger.valueOf(1_700_000_000_000L));
        assertThat(version("\"-1.50E1\"")).isEqualTo(BigInteger.valueOf(-15));
        assertThat(version("0.0e9")).isZero();
        assertThat(version("1e63")).isEqualTo(BigInteger.TEN.pow(63));
        assertThat(refusal("1e64").message()).isEqualTo("Field v has 65 digits; a version has at most 64");
        assertThat(refusal("1e999999999").reason()).isEqualTo(Reason.TOO_LARGE);
        Decoding before = Decoding.of(
                PipelineBuilder.named("p").edition(2).key("k").version("v").rollup(r -> r.count("n")));
        assertThat(before.refusal("{\"k\":\"a\",\"v\":100.0}").message())
                .isEqualTo("Field v is '100.0', which is not an integer; it is the version");
    }

    @Test
    void what_is_no_integer_is_no_version() {
        for (String value : List.of(
                "1.5",
                "1e-3",
                "\"\"",
                "\"-\"",
                "\"+1\"",
                "\" 1\"",
                "\"1 \"",
                "\"x\"",
                "\"1-\"",
                "\"\u0661\"",
                "true",
                "{}",
                "[1]",
                "\"2019-10-27T22:20:18Z\"")) {
            Malformed refusal = refusal(value);
            assertThat(refusal.reason()).isEqualTo(Reason.REFUSED);
            assertThat(refusal.message())
                    .startsWith("Field v is '")
                    .contains("which is not an integer; it is the version");
        }
        assertThat(refusal("\"2019-10-27 22:20:18\"").message())
                .endsWith("it is the version. If it is a time, write for it under version: "
                        + "{\"field\":\"v\",\"type\":\"iso\"}");
        assertThat(refusal("null").message()).isEqualTo("Field v is missing; it is the version");
        assertThat(INTEGER.refusal("{\"k\":1}").message()).isEqualTo("Field v is missing; it is the version");
    }

    @Test
    void the_order_of_the_bytes_is_the_order_of_the_numbers() {
        Seeds.forAllSeeds(20_000, random -> {
            BigInteger a = number(random);
            BigInteger b =
                    random.nextInt(4) == 0 ? a.add(BigInteger.valueOf(random.nextInt(-300, 300))) : number(random);
            byte[] aBytes = bytes(a);
            byte[] bBytes = bytes(b);
            assertThat(Integer.signum(Arrays.compareUnsigned(aBytes, bBytes)))
                    .as("%s and %s", a, b)
                    .isEqualTo(a.compareTo(b));
            assertThat(VersionBytes.number(aBytes, 0)).isEqualTo(a);
            assertThat(VersionBytes.length(aBytes[0])).isEqualTo(aBytes.length);
        });
    }

    private static BigInteger number(RandomGenerator random) {
        byte[] bytes = new byte[random.nextInt(27)];
        random.nextBytes(bytes);
        BigInteger number = new BigInteger(1, bytes).shiftRight(random.nextInt(8));
        return random.nextInt(3) == 0 ? number.negate() : number;
    }

    private static byte[] bytes(BigInteger number) {
        byte[] target = new byte[VersionBytes.LENGTH_MAX];
        int length = VersionBytes.put(number, target, 0);
        if (number.bitLength() < 64) {
            byte[] byLong = new byte[VersionBytes.LENGTH_MAX];
            assertThat(VersionBytes.put(number.longValueExact(), byLong, 0)).isEqualTo(length);
            assertThat(byLong).isEqualTo(target);
        }
        return Arrays.copyOf(target, length);
    }

    @Test
    void the_extremes_of_long_and_of_64_digits_fit() {
        for (BigInteger number : List.of(
                BigInteger.valueOf(Long.MIN_VALUE),
                BigInteger.valueOf(Long.MAX_VALUE),
                new BigInteger("9".repeat(64)),
                new BigInteger("9".repeat(64)).negate())) {
            assertThat(VersionBytes.number(bytes(number), 0)).isEqualTo(number);
        }
    }

    @Test
    void a_version_that_is_a_time_is_ordered_to_the_nanosecond_far_from_today_too() {
        List<String> seconds = List.of(
                "-31556889864403199",
                "-4611686019",
                "-4611686018",
                "-4611686017.999999999",
                "0",
                "0.000000001",
                "4611686017",
                "4611686018",
                "4611686018.000000001",
                "4611686019",
                "31556889864403199");
        List<String> texts = List.of(
                "\"-1000-01-01T00:00:00Z\"",
                "\"0000-01-01T00:00:00Z\"",
                "\"1969-12-31T23:59:59.999999999Z\"",
                "\"1970-01-01T00:00:00.000000002Z\"",
                "\"1970-01-01T00:00:00-00:01\"",
                "\"+999999999-01-01T00:00:00Z\"");
        assertRising(timed(TimeType.EPOCH_SECONDS), seconds);
        assertRising(timed(TimeType.ISO), texts);
        assertThat(timed(TimeType.EPOCH_SECONDS).versionBytes("{\"k\":1,\"v\":1572214818}"))
                .isEqualTo(timed(TimeType.ISO).versionBytes("{\"k\":1,\"v\":\"2019-10-28T00:20:18+02:00\"}"));
    }

    private static Decoding timed(TimeType type) {
        return Decoding.of(
                PipelineBuilder.named("p").key("k").version("v", type).rollup(r -> r.count("n")));
    }

    private static void assertRising(Decoding time, List<String> values) {
        byte[] before = {0};
        for (String value : values) {
            byte[] bytes = time.versionBytes("{\"k\":1,\"v\":" + value + "}");
            assertThat(Arrays.compareUnsigned(before, bytes)).as(value).isNegative();
            before = bytes;
        }
    }
}
