package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Input.DecimalForm;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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
    void several_collections_of_mongodb_are_told_apart_by_their_names() {
        Pipeline both = PipelineBuilder.named("orders")
                .debezium(List.of("shop.orders", "shop.refunds"))
                .identity("key", List.of(Map.of("origin", "table"), "id"))
                .version("rev")
                .rollup(rollup -> rollup.levels("status").sum("amount", "amount", 18, 2))
                .build();
        String change = "{\"before\":null,\"after\":" + DOCUMENT + "," + SOURCE + ",\"op\":\"u\"}";
        assertThat(said(both, change)).startsWith("orders\0\1" + "1\0\1 2 COUNTED");
        assertThat(said(both, change.replace("\"orders\"", "\"refunds\""))).startsWith("refunds\0\1" + "1\0\1 2 ");
        assertThat(said(both, change.replace("\"orders\"", "\"crew\""))).isEqualTo("silent");
    }

    @Test
    void changes_that_others_write_are_refused_with_what_to_write_for_them() {
        Pipeline pipeline = orders("public.orders").build();
        Map<String, String> records = Map.of(
                "AWS DMS",
                "{\"data\":{\"id\":1},\"metadata\":{\"timestamp\":\"2024-05-01T10:00:00.000000Z\","
                        + "\"record-type\":\"data\",\"operation\":\"insert\"}}",
                "Maxwell",
                "{\"type\":\"insert\",\"xid\":900,\"xoffset\":0,\"data\":{\"id\":1}}",
                "CockroachDB",
                "{\"after\":null,\"key\":[2],\"updated\":\"1714550401000000000.0000000000\"}",
                "MongoDB's own connector",
                "{\"operationType\":\"update\",\"updateDescription\":{}}");
        records.forEach((name, record) -> assertThat(said(pipeline, record))
                .startsWith("MALFORMED: The record is no change of Debezium: it has no op")
                .contains("It is of " + name));
        assertThat(said(pipeline, "{\"id\":1}")).endsWith("c, u, d, r, t and m are known");
    }

    @Test
    void what_is_written_for_other_changes_is_a_pipeline() {
        for (String of : List.of(
                "\"key\":\"data.id\",\"delete\":\"type = \\\"delete\\\"\","
                        + "\"version\":[\"xid\",{\"field\":\"xoffset\",\"missing\":\"highest\"}]",
                "\"key\":{\"field\":\"key\",\"element\":0},\"delete\":\"after is missing\","
                        + "\"version\":{\"field\":\"updated\",\"type\":\"hlc\"}")) {
            assertThat(PipelineText.read("{\"pipeline\":\"p\",\"input\":{\"format\":\"json\"," + of
                            + "},\"rollup\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}"))
                    .isInstanceOf(Reading.Read.class);
        }
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
