package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The contributions of a record to measures: conditions, products and times.
class InputsTest {
    @Test
    void a_condition_says_which_records_are_counted() {
        Decoding count = Decoding.measure("count() where op = 'x' or n > 5");
        assertThat(count.number("{\"op\":\"x\"}")).isEqualTo("1");
        assertThat(count.number("{\"op\":\"y\",\"n\":6}")).isEqualTo("1");
        assertThat(count.number("{\"op\":\"y\",\"n\":5}")).isNull();
        assertThat(count.counts("{}")).isTrue();
    }

    @Test
    void what_a_condition_leaves_out_cannot_refuse_the_record() {
        Decoding sum = Decoding.measure("sum(v) decimal(5,2) where op = 'x'");
        assertThat(sum.number("{\"op\":\"x\",\"v\":1.5}")).isEqualTo("1.50");
        assertThat(sum.number("{\"op\":\"y\",\"v\":\"none\"}")).isNull();
        assertThat(sum.number("{}")).isNull();
        assertThat(sum.refusal("{\"op\":\"x\"}").message()).isEqualTo("Field v is missing; it is summed up");
        assertThat(Decoding.measure("distinct(v) where op = 'x'").text("{\"op\":\"y\",\"v\":[]}"))
                .isNull();
    }

    @Test
    void a_condition_without_an_answer_refuses_the_record() {
        Malformed refusal = Decoding.measure("count() where n > 5").refusal("{\"n\":\"many\"}");
        assertThat(refusal.message())
                .isEqualTo("Field n is 'many', which is not a number, but a condition compares it with 5");
    }

    @ParameterizedTest
    @CsvSource({
        "1.5, 3, 4.50",
        "-0.5, 0.1, -0.05",
        "'\"007\"', 1e1, 70.00",
        "0, 1e27, 0.00",
        "1e-28, 1e27, 0.10",
        "1.10, 1.1000, 1.21",
    })
    void a_product_is_exact(String price, String quantity, String product) {
        Decoding sum = Decoding.measure("sum(price * qty) decimal(18,2)");
        assertThat(sum.number("{\"price\":%s,\"qty\":%s}".formatted(price, quantity)))
                .isEqualTo(product);
    }

    @Test
    void a_product_that_does_not_fit_its_type_is_refused_and_never_rounded() {
        Decoding sum = Decoding.measure("sum(price * qty) decimal(5,2)");
        assertThat(sum.refusal("{\"price\":1.25,\"qty\":0.5}").message())
                .startsWith("Field price * qty is '0.625', which does not fit decimal(5,2)");
        assertThat(sum.refusal("{\"price\":100,\"qty\":10}").message()).contains("'1000', which does not fit");
        assertThat(sum.number("{\"price\":1.25,\"qty\":0.4}")).isEqualTo("0.50");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"1e28", "1e-29", "1e20000", "1e-20000", "\"x\"", "true", "[1]", "12345678901234567890123456789"})
    void a_factor_that_is_no_number_of_28_digits_is_refused(String factor) {
        Decoding sum = Decoding.measure("sum(price * qty) decimal(38,2)");
        for (String other : new String[] {"0", "1e-20", "1e20"}) {
            assertThat(sum.refusal("{\"price\":%s,\"qty\":%s}".formatted(other, factor))
                            .message())
                    .startsWith("Field qty is '")
                    .contains("which is not a number of at most 28 digits before the point and as many behind it");
        }
    }

    @Test
    void a_product_without_one_of_its_factors_is_missing() {
        String record = "{\"price\":\"none\"}";
        assertThat(Decoding.measure("sum(price * qty) decimal(5,2)")
                        .refusal(record)
                        .message())
                .isEqualTo("Field qty is missing; it is summed up");
        assertThat(Decoding.measure("sum(price * qty) decimal(5,2) missing ignore")
                        .number(record))
                .isNull();
        assertThat(Decoding.measure("sum(price * qty) decimal(5,2) missing 1").number(record))
                .isEqualTo("1.00");
    }

    @Test
    void products_are_those_of_plain_decimals() {
        Seeds.forAllSeeds(300, random -> {
            Decoding sum = Decoding.measure("sum(a * b * c) decimal(38,12)");
            BigDecimal product = BigDecimal.ONE;
            StringBuilder record = new StringBuilder("{");
            for (String name : new String[] {"a", "b", "c"}) {
                BigDecimal factor = BigDecimal.valueOf(random.nextLong(-99_999, 99_999), random.nextInt(5));
                record.append(record.length() == 1 ? "\"" : ",\"").append(name).append("\":");
                record.append(factor.toPlainString());
                product = product.multiply(factor);
            }
            assertThat(sum.number(record.append('}').toString())).isEqualTo(product.setScale(12));
        });
    }

    @ParameterizedTest
    @CsvSource({
        "iso, '\"2019-10-27T22:00:00.5+01:00\"', 1572210000.500000000",
        "epoch-millis, 1572210000123.456789, 1572210000.123456789",
        "epoch-seconds, '\"1572210000\"', 1572210000.000000000",
        "auto, 100000000, 100000000.000000000",
        "epoch-seconds, 0, 0.000000000",
        "auto, -1.5, -1.500000000",
    })
    void a_time_is_measured_in_seconds(String type, String at, String seconds) {
        assertThat(Decoding.measure("max(at, " + type + ")").number("{\"at\":" + at + "}"))
                .isEqualTo(seconds);
    }

    @Test
    void a_time_that_is_none_or_does_not_fit_refuses_the_record() {
        Decoding seconds = Decoding.measure("max(at, epoch-millis) decimal(10,0) missing ignore");
        assertThat(seconds.number("{\"at\":1572210000000}")).isEqualTo("1572210000");
        assertThat(seconds.refusal("{\"at\":1572210000001}").message())
                .startsWith("Field at is '1572210000.001', which does not fit decimal(10,0)");
        assertThat(seconds.refusal("{\"at\":\"now\"}").message()).contains("which is not a time");
        assertThat(seconds.refusal("{\"at\":99999999999999}").message()).contains("taken are the years 1900 to 2199");
        assertThat(seconds.number("{}")).isNull();
    }

    @Test
    void the_time_of_an_event_is_read_as_the_input_says() {
        Decoding decoding = Decoding.of(
                PipelineBuilder.named("p").time("at", TimeType.EPOCH_MILLIS).rollup(r -> r.measure("last", "max(at)")));
        assertThat(decoding.number("{\"at\":1500}")).isEqualTo("1.500000000");
    }
}
