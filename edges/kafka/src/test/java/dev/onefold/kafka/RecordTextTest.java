package dev.onefold.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.kafka.format.Awaited;
import java.nio.charset.StandardCharsets;
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

    private static String of(String input, byte[] key, byte[] value) {
        Reading.Read read = (Reading.Read) PipelineText.read("{\"pipeline\":\"p\",\"input\":" + input
                + ",\"rollup\":{\"levels\":[\"a\"],\"measures\":{\"n\":\"count()\"}}}");
        try {
            return new String(
                    new RecordText(read.pipeline(), Optional.empty()).of(new ConsumerRecord<>("t", 0, 7, key, value)),
                    StandardCharsets.ISO_8859_1);
        } catch (Awaited e) {
            throw new AssertionError(e);
        }
    }
}
