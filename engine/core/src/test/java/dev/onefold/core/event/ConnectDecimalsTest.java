package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Input.DecimalForm;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ConnectDecimalsTest {
    private static final String DECIMAL =
            "{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"%d\"},\"field\":\"%s\"}";
    private static final PipelineBuilder SALES = sales();

    private static PipelineBuilder sales() {
        return sales("id");
    }

    private static PipelineBuilder sales(Object key) {
        return PipelineBuilder.named("sales")
                .debezium("public.sale")
                .identity("key", key)
                .rollup(rollup ->
                        rollup.levels("town").sum("amount", "amount", 38, 4).count("n"));
    }

    private static String change(String id, String amount) {
        return "{\"before\":null,\"after\":{\"town\":\"A\",\"id\":" + id + ",\"amount\":" + amount
                + "},\"source\":{\"schema\":\"public\",\"table\":\"sale\",\"lsn\":7,\"sequence\":\"[null,\\\"7\\\"]\"},\"op\":\"u\"}";
    }

    private static String withSchema(int scale, String change) {
        return "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"type\":\"struct\",\"field\":\"after\",\"fields\":["
                + DECIMAL.formatted(0, "id") + ",{\"type\":\"string\",\"field\":\"town\"},"
                + DECIMAL.formatted(scale, "amount") + "]}]},\"payload\":" + change + "}";
    }

    /// The decoder's answer about a record in the middle of others.
    private static String said(Decoder decoder, String record) {
        byte[] bytes = ("\n" + record + "\n").getBytes(StandardCharsets.UTF_8);
        byte[] padded = Arrays.copyOf(bytes, bytes.length + Decoder.PADDING);
        Malformed malformed = decoder.decode(padded, 1, bytes.length - 1);
        Event event = decoder.event();
        return malformed != null
                ? malformed.reason() + ": " + malformed.message()
                : new String(event.data, event.keyFrom, event.keyTo - event.keyFrom, StandardCharsets.UTF_8) + " "
                        + new BigDecimal(
                                BigInteger.valueOf(event.hi[0])
                                        .shiftLeft(64)
                                        .add(new BigInteger(Long.toUnsignedString(event.lo[0]))),
                                4);
    }

    private static String base64(BigInteger unscaled) {
        return "\"" + Base64.getEncoder().encodeToString(unscaled.toByteArray()).replace("/", "\\/") + "\"";
    }

    @Test
    void a_decimal_with_a_scale_of_its_own_is_read_by_it() {
        Decoder decoder = new Decoder(SALES.build());
        for (int scale = 0; scale <= 4; scale++) {
            BigInteger amount = BigInteger.valueOf(-1_234_567);
            String value = "{\"scale\":" + scale + ",\"value\":" + base64(amount) + "}";
            String record = withSchema(2, change(base64(BigInteger.ONE), value))
                    .replace(
                            "org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"2\"}",
                            "io.debezium.data.VariableScaleDecimal\"");
            assertThat(said(decoder, record)).isEqualTo("1 " + new BigDecimal(amount, scale).setScale(4));
        }
    }

    @Test
    void a_text_in_place_of_a_decimal_with_a_scale_of_its_own_is_refused() {
        Decoder decoder = new Decoder(SALES.build());
        for (String value : List.of(
                "\"BNI=\"",
                "\"\\u0042NI=\"",
                "{\"scale\":2}",
                "{\"scale\":2,\"value\":1234}",
                "{\"scale\":\"2\",\"value\":\"BNI=\"}",
                "{\"scale\":9999,\"value\":\"BNI=\"}")) {
            String record = withSchema(2, change(base64(BigInteger.ONE), value))
                    .replace(
                            "org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"2\"}",
                            "io.debezium.data.VariableScaleDecimal\"");
            assertThat(said(decoder, record)).startsWith("REFUSED: Field amount is ");
        }
    }

    @Test
    void a_schema_of_a_column_whose_name_is_escaped_is_its_schema() {
        Decoder decoder = new Decoder(PipelineBuilder.named("sales")
                .debezium("public.sale")
                .key("id")
                .rollup(rollup -> rollup.sum("amount", "réel", 38, 4))
                .build());
        for (String name : List.of("réel", "r\\u00e9el")) {
            String record = withSchema(2, change(base64(BigInteger.ONE), "\"8888\""))
                    .replace("\"amount\"", "\"" + name + "\"")
                    .replace("org.apache", "\\u006frg.apache");
            assertThat(said(decoder, record)).isEqualTo("1 -7989.1600");
        }
    }

    @Test
    void a_number_that_is_made_of_a_text_that_may_be_bytes_is_refused_without_a_schema() {
        Decoder decoder = new Decoder(PipelineBuilder.named("sales")
                .debezium("public.sale")
                .key("id")
                .let("bare", "replace(amount, \" \", \"\")")
                .let("net", "bare + 1")
                .rollup(rollup -> rollup.sum("net", "net", 38, 4))
                .build());
        assertThat(said(decoder, change("1", "\"8888\""))).contains("that may be a number, or the bytes of one");
        assertThat(said(decoder, change("1", "8888"))).isEqualTo("1 8889.0000");
    }

    @Test
    void bytes_are_read_with_the_scale_of_the_schema() {
        Decoder decoder = new Decoder(SALES.build());
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 500; i++) {
            int scale = random.nextInt(5);
            BigInteger amount = BigInteger.valueOf(random.nextLong()).shiftRight(random.nextInt(64));
            BigInteger id = BigInteger.valueOf(random.nextInt());
            String record = withSchema(scale, change(base64(id), base64(amount)));
            assertThat(said(decoder, record)).isEqualTo(id + " " + new BigDecimal(amount, scale).setScale(4));
            assertThat(said(decoder, "{\"value\":" + record + "}")).startsWith(id + " ");
        }
        assertThat(said(decoder, withSchema(2, change(base64(BigInteger.ONE), "\"8888\""))))
                .isEqualTo("1 -7989.1600");
        assertThat(said(decoder, withSchema(2, change(base64(BigInteger.ONE), "\"12.5\""))))
                .startsWith("REFUSED")
                .contains("base64");
        assertThat(said(decoder, withSchema(2, change(base64(BigInteger.ONE), "12.5"))))
                .isEqualTo("1 12.5000");
    }

    @Test
    void the_escapes_of_a_text_are_read_before_it_is_judged() {
        Decoder open = new Decoder(SALES.build());
        assertThat(said(open, change("1", "\"8\\u003888\"")))
                .startsWith("REFUSED: Field amount is '8888': that may be");
        assertThat(said(open, change("1", "\"8\\u00388\""))).isEqualTo("1 888.0000");
        String one = "\"AQ\\u003d\\u003d\"";
        assertThat(said(open, withSchema(2, change(one, "\"iIg\\u003d\"")))).isEqualTo("1 -305.8400");
    }

    @Test
    void without_a_schema_a_text_that_may_be_both_is_refused_until_the_file_says_which_it_is() {
        Decoder open = new Decoder(SALES.build());
        for (String text : List.of("8888", "1e10", "0000", "12345678")) {
            String record = change("1", "\"" + text + "\"");
            assertThat(said(open, record)).startsWith("REFUSED").contains("write under input: 'decimals: text'");
            Pipeline ofText = sales().decimals(DecimalForm.TEXT).build();
            assertThat(said(new Decoder(ofText), record))
                    .isEqualTo("1 " + new BigDecimal(text).setScale(4).toPlainString());
            assertThat(said(new Decoder(sales().edition(2).build()), record))
                    .isEqualTo("1 " + new BigDecimal(text).setScale(4).toPlainString());
        }
        Pipeline before = sales().edition(2).decimals(DecimalForm.PRECISE).build();
        assertThat(said(new Decoder(before), change("1", "\"8888\""))).startsWith("REFUSED");
        assertThat(said(new Decoder(before), withSchema(2, change(base64(BigInteger.ONE), "\"8888\""))))
                .isEqualTo("1 -7989.1600");
        for (String text : List.of("-888", "5.00", "888")) {
            assertThat(said(open, change("1", "\"" + text + "\""))).startsWith("1 ");
        }
        Decoder precise = new Decoder(sales().decimals(DecimalForm.PRECISE).build());
        assertThat(said(precise, change("1", "\"5.00\""))).startsWith("REFUSED").contains("schemas.enable");
        assertThat(said(precise, withSchema(2, change(base64(BigInteger.ONE), "\"8888\""))))
                .isEqualTo("1 -7989.1600");
    }

    @Test
    void a_text_that_is_no_number_is_told_what_it_may_be() {
        String bytes = "which is not a number. If it is a decimal in base64, its scale is in the schema";
        for (String text : List.of("MDk=", "AQID", "ab+/")) {
            assertThat(said(new Decoder(SALES.build()), change("1", "\"" + text + "\"")))
                    .contains("Field amount is '" + text + "', " + bytes, "under input 'decimals: text'");
        }
        String change = change("1", "\"MDk=\"");
        for (PipelineBuilder each : List.of(
                sales().filter("amount > 5"),
                sales().version("amount"),
                sales().let("twice", "amount * 2").filter("twice > 5"),
                sales().rollup("steps", r -> r.levels("step(amount, 5)").count("n")),
                sales().rollup("products", r -> r.measure("s", "sum(amount * amount) decimal(38,4)")))) {
            assertThat(said(new Decoder(each.build()), change)).contains(". If it is a decimal in base64");
        }
        assertThat(said(new Decoder(SALES.build()), change("1", "\"n/a!\""))).endsWith("which is not a number");
        assertThat(said(new Decoder(sales().decimals(DecimalForm.TEXT).build()), change))
                .endsWith("which is not a number");
        assertThat(said(new Decoder(SALES.build()), withSchema(2, change("1", "\"MDk=\""))))
                .isEqualTo("1 123.4500");
    }

    @Test
    void a_version_and_a_key_of_integers_are_numbers_too() {
        String refused = "write under input: 'decimals: text'";
        String change = change("\"8888\"", "5");
        assertThat(said(new Decoder(SALES.build()), change)).startsWith("8888 ");
        PipelineBuilder keyed = sales(Map.of("field", "id", "type", "integer"));
        assertThat(said(new Decoder(keyed.build()), change)).contains("Field id is '8888'", refused);
        assertThat(said(new Decoder(keyed.decimals(DecimalForm.TEXT).build()), change))
                .startsWith("8888 ");
        String versioned = change("1", "5").replace("\"town\"", "\"v\":\"8888\",\"w\":\"2000\",\"town\"");
        assertThat(said(new Decoder(sales().version("v").build()), versioned)).contains("Field v is '8888'", refused);
        Pipeline composite = sales().identity("version", List.of("id", "w")).build();
        assertThat(said(new Decoder(composite), versioned)).contains("Field w is '2000'", refused);
        Pipeline precise =
                sales().version("v", TimeType.ISO).decimals(DecimalForm.PRECISE).build();
        assertThat(said(new Decoder(precise), versioned.replace("8888", "2026-11-28T00:00:00Z")))
                .startsWith("1 ");
    }
}
