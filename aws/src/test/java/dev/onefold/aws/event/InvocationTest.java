package dev.onefold.aws.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.event.Invocation.Message;
import dev.onefold.aws.event.Invocation.UnreadableEvent;
import dev.onefold.fixtures.Seeds;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InvocationTest {
    private static final String SHARD = "shardId-000000000001";

    @Test
    void a_record_of_kinesis_arrives_with_its_place() {
        List<Arrival> arrivals = Events.arrivals(
                Events.records(List.of(Events.kinesis(SHARD, "49545115243490985018280067714973144582", bytes("é")))));
        assertThat(Events.seen(arrivals))
                .containsExactly("trades/shardId-000000000001:49545115243490985018280067714973144582:0 é");
    }

    @Test
    void an_aggregated_record_arrives_as_its_parts_among_the_plain_ones() {
        byte[] both = new KplEncoder()
                .add("a", null, bytes("two"))
                .add("b", null, bytes("three"))
                .encode();
        List<Arrival> arrivals = Events.arrivals(Events.records(List.of(
                Events.kinesis(SHARD, "1", bytes("one")),
                Events.kinesis(SHARD, "2", both),
                Events.kinesis(SHARD, "3", bytes("four")))));
        String shard = "trades/" + SHARD;
        assertThat(Events.seen(arrivals))
                .containsExactly(shard + ":1:0 one", shard + ":2:0 two", shard + ":2:1 three", shard + ":3:0 four");
    }

    @Test
    void a_time_window_changes_nothing_and_its_end_may_bring_no_record() {
        String window = ",\"window\":{\"start\":\"2020-12-09T07:04:00Z\",\"end\":\"2020-12-09T07:06:00Z\"},"
                + "\"state\":{\"1\":\"282\"},\"shardId\":\"" + SHARD + "\",\"isFinalInvokeForWindow\":true}";
        String one = Events.records(List.of(Events.kinesis(SHARD, "1", bytes("one"))));
        assertThat(Events.seen(Events.arrivals(one.substring(0, one.length() - 1) + window)))
                .isEqualTo(Events.seen(Events.arrivals(one)));
        assertThat(Events.arrivals("{\"Records\":[]" + window)).isEmpty();
    }

    @Test
    void any_batch_of_plain_and_aggregated_records_arrives_whole_and_in_order() {
        Seeds.forAllSeeds(300, random -> {
            List<String> records = new ArrayList<>();
            List<String> expected = new ArrayList<>();
            int count = random.nextInt(20);
            for (int sequence = 1; sequence <= count; sequence++) {
                String place = "trades/" + SHARD + ":" + sequence + ":";
                if (random.nextBoolean()) {
                    String text = "plain " + random.nextLong();
                    records.add(Events.kinesis(SHARD, String.valueOf(sequence), bytes(text)));
                    expected.add(place + "0 " + text);
                    continue;
                }
                KplEncoder encoder = new KplEncoder();
                int parts = random.nextInt(1, 10);
                for (int part = 0; part < parts; part++) {
                    String text = "part " + random.nextLong();
                    encoder.add("k" + random.nextInt(3), null, bytes(text));
                    expected.add(place + part + " " + text);
                }
                records.add(Events.kinesis(SHARD, String.valueOf(sequence), encoder.encode()));
            }
            assertThat(Events.seen(Events.arrivals(Events.records(records)))).isEqualTo(expected);
        });
    }

    @Test
    void a_record_without_a_byte_arrives_so_that_it_can_be_rejected() {
        assertThat(Events.arrivals(Events.records(List.of(Events.kinesis(SHARD, "1", new byte[0])))))
                .singleElement()
                .satisfies(arrival -> assertThat(arrival.data()).isEmpty());
    }

    @Test
    void messages_of_a_queue_arrive_with_their_ids() {
        Invocation read = Events.read("""
                {"Records":[{"messageId":"m-1","receiptHandle":"r","body":"{\\"a\\":1}","attributes":{"SentTimestamp":"1573251510774","ApproximateReceiveCount":"1"},
                "messageAttributes":{"x":{"stringValue":"1","dataType":"String"}},"eventSource":"aws:sqs",
                "eventSourceARN":"arn:aws:sqs:eu-central-1:000000000000:q","awsRegion":"eu-central-1"},
                {"body":"","messageId":"m-2"}]}""");
        assertThat(read)
                .isEqualTo(new Invocation.Messages(List.of(
                        new Message("m-1", "{\"a\":1}", "q", 1_573_251_510_774L), new Message("m-2", "", "", 0))));
    }

    @Test
    void what_a_schedule_sends_is_a_tick() {
        assertThat(Events.read("{}")).isEqualTo(new Invocation.Tick());
        assertThat(Events.read("{\"source\":\"aws.scheduler\",\"detail\":{\"records\":[]}}"))
                .isEqualTo(new Invocation.Tick());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "[]", "1", "{\"Records\":{}}", "{\"Records\":[", "{} {}", "{\"Records\":[]} x", "\u0000"})
    void what_is_no_event_is_refused(String text) {
        assertThatThrownBy(() -> Events.read(text))
                .isInstanceOf(UnreadableEvent.class)
                .hasMessageStartingWith("The event cannot be read: ");
    }

    @Test
    void an_event_of_another_service_is_refused_by_name() {
        assertThatThrownBy(() -> Events.read("{\"eventSource\":\"aws:kafka\",\"records\":{\"t-0\":[]}}"))
                .isInstanceOf(UnreadableEvent.class)
                .hasMessageContaining("Kafka");
    }

    @Test
    void a_record_that_the_service_would_not_write_is_named() {
        String good = Events.kinesis(SHARD, "1", bytes("one"));
        String bad = Events.kinesis(SHARD, "2", bytes("two"));
        assertThat(reason(good, bad.replace("\"data\":\"", "\"data\":\"%")))
                .startsWith("Record 2 of the event cannot be read: ")
                .contains("Illegal character '%'")
                .contains("at byte ");
        assertThat(reason(good, bad.replace("\"data\"", "\"date\"")))
                .isEqualTo("Record 2 of the event (" + SHARD + ":2) cannot be read: it has no data.");
        assertThat(reason(good, bad.replace("\"sequenceNumber\":\"2\"", "\"sequenceNumber\":\"2x\"")))
                .startsWith("Record 2 of the event (" + SHARD + ":2)")
                .contains("1 to 56 digits");
        assertThat(reason(good, bad.replace("\"sequenceNumber\":\"2\"", "\"sequenceNumber\":2")))
                .contains("sequenceNumber is VALUE_NUMBER_INT, not a text");
        assertThat(reason(good, bad.replace("eventSourceARN", "arn"))).contains("eventSourceARN");
        assertThat(reason(good, bad.replace(SHARD + ":2", SHARD))).contains("its eventID is no shard");
        assertThat(reason(good, "{\"eventID\":\"x\"}")).startsWith("Record 2 of the event (x)");
        assertThat(reason(good, "[]")).startsWith("Record 2 of the event cannot be read: an object is expected");
        assertThat(reason(good, "{\"messageId\":\"m\",\"body\":\"\"}")).contains("in one event");
    }

    @Test
    void a_message_of_an_error_holds_no_payload() {
        String secret = "secret".repeat(100);
        String bad = Events.kinesis(SHARD, "2", bytes("x")).replace("\"data\":\"", "\"data\":" + secret + "\"");
        assertThat(reason(bad)).hasSizeLessThan(400);
    }

    @Test
    void broken_bytes_anywhere_are_refused_or_read_and_nothing_else_is_thrown() {
        byte[] good = bytes(Events.records(List.of(
                Events.kinesis(SHARD, "1", bytes("one")),
                Events.change("INSERT", "{\"Keys\":{\"id\":{\"N\":\"1\"}},\"SequenceNumber\":\"3\"}"))));
        Seeds.forAllSeeds(3_000, random -> {
            byte[] broken = good.clone();
            for (int i = random.nextInt(3); i >= 0; i--) {
                broken[random.nextInt(broken.length)] = (byte) random.nextInt();
            }
            try {
                Invocation.read(broken);
            } catch (UnreadableEvent expected) {
                assertThat(expected.getMessage()).isNotEmpty();
            }
        });
    }

    private static String reason(String... records) {
        try {
            Events.read(Events.records(List.of(records)));
        } catch (UnreadableEvent unreadable) {
            return unreadable.getMessage();
        }
        throw new AssertionError("It was read.");
    }

    private static byte[] bytes(String text) {
        return Events.utf8(text);
    }
}
