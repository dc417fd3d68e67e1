package dev.onefold.aws.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.event.Invocation.UnreadableEvent;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TableChangeTest {
    private static final String LONG_SEQUENCE = "4421584500000000017450439092000000000001";

    private static Arrival only(String name, String dynamodb) {
        List<Arrival> arrivals = Events.arrivals(Events.records(List.of(Events.change(name, dynamodb))));
        assertThat(arrivals).hasSize(1);
        return arrivals.getFirst();
    }

    private static final String STREAM =
            ",\"eventSourceARN\":\"arn:aws:dynamodb:eu-central-1:000000000000:table/Trades/"
                    + "stream/2026-11-21T00:00:00.000\"";

    private static String json(String name, String dynamodb) {
        return Events.text(only(name, dynamodb)).replace(STREAM, "");
    }

    @Test
    void a_change_names_its_stream_and_an_expiry() {
        String change = Events.change("REMOVE", "{\"Keys\":{},\"SequenceNumber\":\"1\"}")
                .replace("\"eventVersion\"", """
                        "userIdentity":{"type":"Service","principalId":"dynamodb.amazonaws.com"},"eventVersion\"""");
        assertThat(Events.text(((Invocation.Batch) Events.read(Events.records(List.of(change))))
                        .arrivals()
                        .getFirst()))
                .isEqualTo(
                        "{\"eventName\":\"REMOVE\",\"SequenceNumber\":\"1\"" + STREAM
                                + ",\"userIdentity\":{\"type\":\"Service\",\"principalId\":\"dynamodb.amazonaws.com\"},\"Keys\":{}}");
    }

    @Test
    void a_change_becomes_one_record_of_plain_json() {
        assertThat(json("MODIFY", """
                {"ApproximateCreationDateTime":1.635734407123E9,"Keys":{"id":{"S":"t-1"}},
                "OldImage":{"id":{"S":"t-1"},"value":{"N":"7"}},"NewImage":{"id":{"S":"t-1"},"value":{"N":"7.50"}},
                "SequenceNumber":"%s","SizeBytes":59,"StreamViewType":"NEW_AND_OLD_IMAGES"}""".formatted(LONG_SEQUENCE))).isEqualTo("""
                {"eventName":"MODIFY","SequenceNumber":"%s",\
                "ApproximateCreationDateTime":"2021-11-01T02:40:07.123Z","Keys":{"id":"t-1"},\
                "NewImage":{"id":"t-1","value":7.50},"OldImage":{"id":"t-1","value":7}}""".formatted(LONG_SEQUENCE));
    }

    @Test
    void its_place_is_the_table_the_beginning_of_its_stream_and_the_sequence_number() {
        assertThat(Events.place(only("REMOVE", "{\"Keys\":{},\"SequenceNumber\":\"111\"}")))
                .isEqualTo("Trades/2026-11-21T00:00:00.000:111:0");
    }

    @Test
    void what_the_stream_does_not_carry_is_not_there() {
        assertThat(json("REMOVE", "{\"Keys\":{\"id\":{\"N\":\"1\"}},\"SequenceNumber\":\"1\",\"NewImage\":null}"))
                .isEqualTo("{\"eventName\":\"REMOVE\",\"SequenceNumber\":\"1\",\"Keys\":{\"id\":1}}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"S\":\"a\\\"b\\u0000é🏃\"}                    | \"a\\\"b\\u0000é🏃\"",
                "{\"N\":\"12345678901234567890123456789.012345678\"} | 12345678901234567890123456789.012345678",
                "{\"N\":\"-0.50\"}                               | -0.50",
                "{\"N\":\"1E+100\"}                              | 1E+100",
                "{\"B\":\"AAEqQQ==\"}                            | \"AAEqQQ==\"",
                "{\"BOOL\":false}                                | false",
                "{\"NULL\":true}                                 | null",
                "{\"SS\":[\"b\",\"a\"]}                          | [\"b\",\"a\"]",
                "{\"NS\":[\"1\",\"2.0\"]}                        | [1,2.0]",
                "{\"BS\":[\"AAEqQQ==\",\"QSoBAA==\"]}            | [\"AAEqQQ==\",\"QSoBAA==\"]",
                "{\"L\":[{\"S\":\"x\"},{\"L\":[]},{\"N\":\"3\"}]} | [\"x\",[],3]",
                "{\"M\":{\"N\":{\"S\":\"Joe\"},\"L\":{\"M\":{}}}} | {\"N\":\"Joe\",\"L\":{}}",
            })
    void an_attribute_value_becomes_what_it_stands_for(String value, String expected) {
        assertThat(json("INSERT", "{\"Keys\":{},\"SequenceNumber\":\"1\",\"NewImage\":{\"v\":" + value + "}}"))
                .isEqualTo("{\"eventName\":\"INSERT\",\"SequenceNumber\":\"1\",\"Keys\":{},\"NewImage\":{\"v\":"
                        + expected + "}}");
    }

    @ParameterizedTest
    @CsvSource({
        "1480642020, 2016-12-02T01:27:00Z",
        "1795228260.0, 2026-11-21T02:31:00Z",
        "1.4285376E9, 2015-04-09T00:00:00Z",
        "1.635734407123456789E9, 2021-11-01T02:40:07.123456789Z",
        "0, 1970-01-01T00:00:00Z",
        "-0.5, 1969-12-31T23:59:59.500Z",
    })
    void its_time_is_iso_8601_however_the_service_writes_seconds(String seconds, String expected) {
        assertThat(json("INSERT", "{\"SequenceNumber\":\"1\",\"ApproximateCreationDateTime\":" + seconds + "}"))
                .isEqualTo("{\"eventName\":\"INSERT\",\"SequenceNumber\":\"1\",\"ApproximateCreationDateTime\":\""
                        + expected + "\"}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1E999999999", "1E-999999999", "1e30", "\"now\"", "[]"})
    void a_time_that_is_none_is_refused_before_it_costs_anything(String seconds) {
        assertThatThrownBy(() ->
                        json("INSERT", "{\"SequenceNumber\":\"1\",\"ApproximateCreationDateTime\":" + seconds + "}"))
                .isInstanceOf(UnreadableEvent.class)
                .hasMessageStartingWith("Record 1 of the event (c4ca4238a0b923820dcc509a6f75849b)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[]",
                "\"x\"",
                "{\"S\":null}",
                "{\"S\":1}",
                "{\"N\":\"NaN\"}",
                "{\"N\":\"01\"}",
                "{\"N\":1}",
                "{\"N\":\"1\",\"S\":\"1\"}",
                "{\"T\":\"1\"}",
                "{\"BOOL\":\"true\"}",
                "{\"L\":{}}",
                "{\"SS\":\"x\"}",
                "{\"M\":{\"a\":1}}"
            })
    void an_attribute_value_that_is_none_is_refused(String value) {
        assertThatThrownBy(() ->
                        json("INSERT", "{\"Keys\":{},\"SequenceNumber\":\"1\",\"NewImage\":{\"v\":" + value + "}}"))
                .isInstanceOf(UnreadableEvent.class)
                .hasMessageStartingWith("Record 1 of the event");
    }

    @Test
    void the_32_levels_that_a_table_nests_are_read_and_endless_nesting_is_refused() {
        assertThat(json("INSERT", nested(32))).contains("[".repeat(31) + "1" + "]".repeat(31));
        assertThatThrownBy(() -> json("INSERT", nested(1_000)))
                .isInstanceOf(UnreadableEvent.class)
                .hasMessageContaining("nesting depth");
    }

    private static String nested(int levels) {
        return "{\"SequenceNumber\":\"1\",\"NewImage\":{\"v\":" + "{\"L\":[".repeat(levels - 1) + "{\"N\":\"1\"}"
                + "]}".repeat(levels - 1) + "}}";
    }

    @Test
    void an_attribute_may_have_the_longest_name_that_a_table_takes() {
        String name = "n".repeat(65_535);
        assertThat(json("INSERT", "{\"SequenceNumber\":\"1\",\"NewImage\":{\"" + name + "\":{\"N\":\"1\"}}}"))
                .endsWith("\"NewImage\":{\"" + name + "\":1}}");
    }

    @Test
    void however_many_attributes_have_names_of_one_hash_they_are_read() {
        StringBuilder image = new StringBuilder();
        for (int i = 0; i < 1 << 12; i++) {
            // Aa and BB have one hash, and so have all names that are made of them.
            StringBuilder name = new StringBuilder();
            for (int bit = 0; bit < 12; bit++) {
                name.append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            image.append(i == 0 ? "" : ",")
                    .append('"')
                    .append(name)
                    .append("\":{\"N\":\"")
                    .append(i)
                    .append("\"}");
        }
        assertThat(json("INSERT", "{\"SequenceNumber\":\"1\",\"NewImage\":{" + image + "}}"))
                .endsWith(":4095}}");
    }

    @Test
    void another_kind_of_change_is_refused() {
        assertThatThrownBy(() -> json("UPSERT", "{\"Keys\":{},\"SequenceNumber\":\"1\"}"))
                .isInstanceOf(UnreadableEvent.class)
                .hasMessageContaining("its eventName is 'UPSERT'");
    }

    @Test
    void an_ordinary_pipeline_reads_it_with_its_keys_as_key_and_its_removals_as_deletes() {
        Decoder decoder = new Decoder(PipelineBuilder.named("trades")
                .key("Keys.id")
                .version("SequenceNumber")
                .time("ApproximateCreationDateTime")
                .delete("eventName = \"REMOVE\"")
                .rollup(rollup -> rollup.levels("NewImage.desk").sum("value", "NewImage.value", 18, 2))
                .build());
        decode(decoder, only("INSERT", """
                {"ApproximateCreationDateTime":1480642020,"Keys":{"id":{"N":"101"}},"NewImage":{"id":{"N":"101"},
                "desk":{"S":"FX:Spot"},"value":{"N":"-7.5"}},"SequenceNumber":"%s"}""".formatted(LONG_SEQUENCE)));
        Event event = decoder.event();
        assertThat(event.kind).isEqualTo(Event.Kind.COUNTED);
        assertThat(new String(event.data, event.keyFrom, event.keyTo - event.keyFrom, StandardCharsets.UTF_8))
                .isEqualTo("101");
        assertThat(event.timeMs).isEqualTo(1_480_642_020_000L);
        assertThat(event.number(0, 2)).isEqualTo("-7.50");
        decode(
                decoder,
                only(
                        "REMOVE",
                        "{\"Keys\":{\"id\":{\"N\":\"101\"}},\"SequenceNumber\":\"" + LONG_SEQUENCE
                                + "\",\"OldImage\":{\"id\":{\"N\":\"101\"}}}"));
        assertThat(event.kind).isEqualTo(Event.Kind.DELETE);
    }

    private static void decode(Decoder decoder, Arrival arrival) {
        int length = arrival.data().length;
        assertThat(decoder.decode(Arrays.copyOf(arrival.data(), length + Decoder.PADDING), 0, length))
                .isNull();
    }
}
