package dev.onefold.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.kafka.format.Awaited;
import dev.onefold.kafka.format.Decoding;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class RecordTextTest {
    private static String text(String input, byte[] value) {
        return of(input, "k".getBytes(StandardCharsets.UTF_8), value);
    }

    @Test
    void a_record_without_a_value_says_so_to_json_and_is_the_tombstone_of_a_table() {
        assertThat(text("{\"key\":\"id\",\"version\":\"v\"}", null)).isEqualTo("{\"@key\":\"k\",\"@tombstone\":true}");
        assertThat(text("{\"format\":\"debezium\",\"table\":\"s.t\",\"key\":\"id\"}", null))
                .isEqualTo("null");
        assertThat(text("{\"key\":\"id\",\"version\":\"v\"}", "{\"v\":1}".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo("{\"@key\":\"k\",\"v\":1}");
    }

    @Test
    void bytes_that_are_no_text_stay_as_they_are_where_the_pipeline_reads_them_and_are_shown_elsewhere() {
        byte[] value = "{}".getBytes(StandardCharsets.UTF_8);
        byte[] key = {(byte) 0xff, '"', 1, 'a'};
        assertThat(of("{\"key\":\"@key\",\"version\":\"v\"}", key, value))
                .isEqualTo("{\"@key\":\"\u00ff\\u0022\\u0001a\"}");
        assertThat(of("{\"key\":\"id\",\"version\":\"v\"}", key, value)).doesNotContain("\u00ff\\u0022");
    }

    @Test
    void a_key_of_json_cannot_bring_fields_of_the_record() {
        byte[] value = "{\"v\":1}".getBytes(StandardCharsets.UTF_8);
        String input = "{\"key\":\"@key.id\",\"version\":\"v\"}";
        assertThat(of(input, "{\"id\":1}".getBytes(StandardCharsets.UTF_8), value))
                .isEqualTo("{\"@key\":{\"id\":1},\"v\":1}");
        assertThat(of(input, "{\"id\":1},\"a\":2".getBytes(StandardCharsets.UTF_8), value))
                .startsWith("{\"@key\":\"{");
    }

    @Test
    void a_field_of_the_record_is_never_taken_for_what_the_topic_has_beside_it() {
        Pipeline pipeline = read("{\"pipeline\":\"p\",\"input\":{\"key\":\"id\",\"version\":\"@offset\","
                + "\"delete\":\"@tombstone = true\"},\"rollup\":{\"levels\":[\"@key\",\"@header.desk\"],"
                + "\"measures\":{\"n\":\"count()\"}}}");
        for (String own : List.of(
                "\"@tombstone\":true",
                "\"\\u0040tombstone\":true",
                "\"@key\":\"k\"",
                "\"@header\":{\"desk\":\"d\"}",
                "\"@offset\":8")) {
            String value = "{\"id\":1," + own + "}";
            RecordText text = new RecordText(pipeline, Optional.empty());
            byte[] record;
            try {
                record = text.of(
                        text.decoded(new ConsumerRecord<>("t", 0, 7, null, value.getBytes(StandardCharsets.UTF_8))));
            } catch (Awaited e) {
                throw new AssertionError(e);
            }
            Malformed malformed = new Decoder(pipeline)
                    .decode(Arrays.copyOf(record, record.length + Decoder.PADDING), 0, record.length);
            assertThat(malformed).as(value).isNotNull();
            assertThat(malformed.message()).contains(" stands twice");
        }
    }

    private static Pipeline read(String text) {
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static String of(String input, byte[] key, byte[] value) {
        Reading.Read read = (Reading.Read) PipelineText.read("{\"pipeline\":\"p\",\"input\":" + input
                + ",\"rollup\":{\"levels\":[\"a\"],\"measures\":{\"n\":\"count()\"}}}");
        RecordText text = new RecordText(read.pipeline(), Optional.empty());
        try {
            return new String(
                    text.of(text.decoded(new ConsumerRecord<>("t", 0, 7, key, value))), StandardCharsets.ISO_8859_1);
        } catch (Awaited e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void a_record_that_cannot_be_decoded_is_refused_with_the_reason_by_each_kind_of_pipeline() throws Awaited {
        Decoding decoding = new Decoding(
                new Origin.Encoding(
                        Optional.of(Origin.Encoded.AVRO),
                        Optional.empty(),
                        Optional.of("none"),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty()),
                Path.of("."),
                Path.of("."),
                false,
                Optional.empty());
        String rollup = "\"rollup\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}";
        Pipeline other = read("{\"pipeline\":\"p\",\"input\":{\"key\":\"id\",\"version\":\"v\"}," + rollup + "}");
        for (String pipeline : List.of(
                "\"input\":{}," + rollup,
                "\"input\":{\"key\":\"@key\",\"version\":\"@offset\"}," + rollup,
                "\"input\":{\"format\":\"debezium\",\"table\":\"s.t\",\"key\":\"id\"}," + rollup,
                "\"input\":{},\"batch\":{\"size\":1,\"deliver\":{\"file\":\"{number}\"}}",
                "\"input\":{\"id\":\"message\"},\"batch\":{\"size\":1,\"deliver\":{\"file\":\"{number}\"}}")) {
            Pipeline read = read("{\"pipeline\":\"p\"," + pipeline + "}");
            byte[] key = {(byte) 0xff};
            byte[] text = new RecordText(read, Optional.empty()) // Another definition than that of the decoding.
                    .of(new RecordText(other, Optional.of(decoding))
                            .decoded(new ConsumerRecord<>("t", 0, 7, key, new byte[] {'"', '\n'})));
            Decoder decoder = new Decoder(read);
            decoder.message(new byte[] {1});
            Malformed malformed = decoder.decode(Arrays.copyOf(text, text.length + Decoder.PADDING), 0, text.length);
            assertThat(malformed)
                    .as(pipeline)
                    .isEqualTo(new Malformed(
                            Reason.MALFORMED,
                            "The record cannot be decoded: it begins with the byte 34, and not with the header of a"
                                    + " registry. When its cause is gone, rebuild --from-sources decodes it again"));
            assertThat(new String(text, StandardCharsets.UTF_8)).contains("\"@key\":\"/w==\"", "\"@value\":\"Igo=\"");
        }
    }
}
