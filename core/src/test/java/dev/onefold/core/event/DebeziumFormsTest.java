package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Input.DecimalForm;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class DebeziumFormsTest {
    private static final String AVRO = """
            {"before":null,"after":{"pg.public.orders.Value":{"id":1,"status":{"string":"%s"},"amount":%s,\
            "note":{"string":"a \\"{\\" b"},"tags":{"array":[{"string":"x"}]},"none":{}}},"source":{"version":"1.5.0.Final",\
            "connector":"postgresql","name":"pg","ts_ms":1619171446308,"snapshot":{"string":"false"},"db":"shop",\
            "sequence":{"string":"[null,\\"100\\"]"},"schema":"public","table":"orders","txId":{"long":579},\
            "lsn":{"long":100},"xmin":null},"op":"c","ts_ms":{"long":1619171446308},"transaction":null}""";
    private static final String SOURCE =
            "\"source\":{\"version\":\"2.5.0.Final\",\"connector\":\"mongodb\",\"name\":\"m\","
                    + "\"ts_ms\":1714550400000,\"snapshot\":\"false\",\"db\":\"shop\",\"rs\":\"rs0\",\"collection\":\"orders\",\"ord\":1}";
    private static final String DOCUMENT =
            "\"{\\\"_id\\\": {\\\"$oid\\\": \\\"65f0aa\\\"},\\\"id\\\": 1,\\\"rev\\\": 2,\\\"status\\\": \\\"\\u00e9 \\\\\\\"x\\\\\\\"\\\",\\\"amount\\\": 6}\"";

    private static PipelineBuilder orders(String table) {
        return PipelineBuilder.named("orders")
                .debezium(table)
                .key("id")
                .rollup(rollup -> rollup.levels("status").sum("amount", "amount", 18, 2));
    }

    /// The decoder's answer about a record in the middle of others.
    private static String said(Pipeline pipeline, String record) {
        Decoder decoder = new Decoder(pipeline);
        byte[] bytes = ("\n" + record + "\n").getBytes(StandardCharsets.UTF_8);
        Malformed malformed = decoder.decode(Arrays.copyOf(bytes, bytes.length + Decoder.PADDING), 1, bytes.length - 1);
        Event event = decoder.event();
        if (malformed != null || event.silence != null) {
            return malformed == null ? "silent" : malformed.reason() + ": " + malformed.message();
        }
        return new String(event.data, event.keyFrom, event.keyTo - event.keyFrom, StandardCharsets.UTF_8)
                + " "
                + Version.of(pipeline, Arrays.copyOfRange(event.data, event.versionFrom, event.versionTo))
                + " "
                + event.kind
                + (event.kind == Event.Kind.COUNTED
                        ? " " + new Tuple(Arrays.copyOfRange(event.data, event.groupFrom[0], event.groupTo[0])).parts()
                                + " " + event.lo[0]
                        : "");
    }

    @Test
    void the_unions_of_avro_are_read_since_edition_3() {
        Pipeline pipeline = orders("public.orders").build();
        String change = AVRO.formatted("paid", "{\"string\": \"6.00\"}");
        for (String form : List.of(
                change, "{\"value\":" + change + "}", "{\"key\":{\"id\":1},\"value\":{\"payload\":" + change + "}}")) {
            assertThat(said(pipeline, form)).isEqualTo("1 0/1844674407370955161700/0 COUNTED [paid] 600");
        }
        assertThat(said(pipeline, AVRO.formatted("paid", "{\"string\":\"8888\"}")))
                .endsWith(" 888800");
        assertThat(said(pipeline, AVRO.formatted("paid", "{\"double\":6.5}"))).endsWith(" 650");
        assertThat(said(pipeline, AVRO.formatted("paid", "{\"bytes\":\"88\"}"))).startsWith("REFUSED");
        assertThat(said(orders("public.orders").edition(2).build(), change)).startsWith("REFUSED");
    }

    @Test
    void a_text_of_avro_that_may_be_bytes_is_refused_until_the_file_says_that_it_is_text() {
        String change = AVRO.formatted("paid", "\"88\"");
        assertThat(said(orders("public.orders").build(), change))
                .startsWith("REFUSED")
                .contains("'decimals: text'");
        assertThat(said(orders("public.orders").decimals(DecimalForm.TEXT).build(), change))
                .endsWith(" 8800");
    }

    @Test
    void a_document_of_mongodb_is_a_row_since_edition_3() {
        Pipeline pipeline = orders("shop.orders").version("rev").build();
        String change =
                "{\"before\":null,\"after\":" + DOCUMENT + ",\"updateDescription\":null," + SOURCE + ",\"op\":\"u\"}";
        for (String form : List.of(
                change,
                "{\"key\":{\"id\":\"{\\\"$oid\\\":\\\"65f0aa\\\"}\"},\"value\":" + change + "}",
                "{\"schema\":{\"fields\":[]},\"payload\":" + change + "}")) {
            assertThat(said(pipeline, form)).isEqualTo("1 2 COUNTED [é \"x\"] 600");
        }
        assertThat(said(pipeline, change.replace("\"orders\"", "\"carts\""))).isEqualTo("silent");
        assertThat(said(orders("orders").version("rev").build(), change)).contains("'table: shop.orders'");
        String removal = "{\"before\":%s,\"after\":null," + SOURCE + ",\"op\":\"d\"}";
        assertThat(said(pipeline, removal.formatted(DOCUMENT))).isEqualTo("1 2 DELETE");
        assertThat(said(pipeline, removal.formatted("null")))
                .startsWith("MALFORMED")
                .contains("with_pre_image");
        String patch = "{\"after\":null,\"patch\":\"{}\"," + SOURCE + ",\"op\":\"u\"}";
        assertThat(said(pipeline, patch)).startsWith("MALFORMED").contains("patch of MongoDB", "update_full");
        assertThat(said(orders("shop.orders").build(), change))
                .startsWith("REFUSED")
                .contains("'mongodb'", "'version: FIELD'");
        assertThat(said(orders("shop.orders").version("rev").edition(2).build(), change))
                .startsWith("MALFORMED");
    }
}
