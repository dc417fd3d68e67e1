package dev.onefold.aws.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.event.Invocation.UnreadableEvent;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.fixtures.Seeds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// What makes such systems count wrong, as far as decoding has a part in it.
class HazardsOfDecodingTest {
    private static final String PARENT = "shardId-000000000000";
    private static final String CHILD = "shardId-000000000002";
    private static final String HASH_KEY_MAX = "340282366920938463463374607431768211455";

    @Test
    void hazard_34_after_a_shard_split_no_part_of_an_aggregated_record_is_left_out_wherever_its_key_belongs() {
        byte[] aggregated = new KplEncoder()
                .add("low", "0", Events.utf8("of this shard"))
                .add("high", HASH_KEY_MAX, Events.utf8("of its sibling"))
                .encode();
        assertThat(Events.seen(Events.arrivals(Events.records(List.of(Events.kinesis(CHILD, "9", aggregated))))))
                .containsExactly("trades/" + CHILD + ":9:0 of this shard", "trades/" + CHILD + ":9:1 of its sibling");
    }

    @Test
    void hazard_34_records_of_a_parent_and_of_its_child_never_share_a_place() {
        Set<String> places = new LinkedHashSet<>();
        for (String shard : List.of(PARENT, CHILD)) {
            Events.arrivals(Events.records(List.of(Events.kinesis(shard, "7", Events.utf8("x")))))
                    .forEach(arrival -> places.add(Events.place(arrival)));
        }
        assertThat(places).containsExactly("trades/" + PARENT + ":7:0", "trades/" + CHILD + ":7:0");
    }

    @Test
    void hazard_35_parts_that_share_a_sequence_number_have_the_same_places_however_the_batch_is_cut() {
        Seeds.forAllSeeds(200, random -> {
            List<String> records = new ArrayList<>();
            for (int sequence = 0; sequence < 8; sequence++) {
                KplEncoder encoder = new KplEncoder();
                for (int part = random.nextInt(5); part >= 0; part--) {
                    encoder.add("k", null, Events.utf8("p" + random.nextInt()));
                }
                records.add(Events.kinesis(PARENT, String.valueOf(sequence), encoder.encode()));
            }
            List<String> whole = Events.seen(Events.arrivals(Events.records(records)));
            assertThat(whole).doesNotHaveDuplicates();

            // A failure in the middle: Lambda delivers again from some record on, in other batches.
            int from = random.nextInt(records.size());
            Set<String> seen = new LinkedHashSet<>(Events.seen(Events.arrivals(
                    Events.records(records.subList(0, random.nextInt(from, records.size()) + 1)))));
            for (int at = from; at < records.size(); ) {
                int end = random.nextInt(at, records.size()) + 1;
                seen.addAll(Events.seen(Events.arrivals(Events.records(records.subList(at, end)))));
                at = end;
            }
            assertThat(seen).containsExactlyElementsOf(whole);
        });
    }

    @Test
    void hazard_35_a_failed_part_is_reported_by_the_sequence_number_of_its_record() {
        byte[] aggregated = new KplEncoder()
                .add("a", null, Events.utf8("x"))
                .add("a", null, Events.utf8("y"))
                .encode();
        String reported = Events.arrivals(Events.records(List.of(Events.kinesis(PARENT, "41", aggregated))))
                .get(1)
                .sequence();
        assertThat(new BatchResponse(List.of(reported)).json())
                .isEqualTo(Events.utf8("{\"batchItemFailures\":[{\"itemIdentifier\":\"41\"}]}"));
    }

    @Test
    void hazard_37_a_batch_of_6_mb_is_read_and_a_larger_one_refused_before_it_is_parsed() {
        byte[] record = new byte[4_700_000];
        Arrays.fill(record, (byte) 'x');
        byte[] event = Events.utf8(Events.records(List.of(Events.kinesis(PARENT, "1", record))));
        byte[] largest = Arrays.copyOf(event, Invocation.EVENT_BYTES_MAX);
        Arrays.fill(largest, event.length, largest.length, (byte) ' ');
        assertThat(Events.arrivals(largest))
                .singleElement()
                .satisfies(arrival -> assertThat(arrival.data()).isEqualTo(record));
        // No JSON at all: it would be refused for that, were it parsed.
        assertThatThrownBy(() -> Invocation.read(new byte[Invocation.EVENT_BYTES_MAX + 1]))
                .isInstanceOf(UnreadableEvent.class)
                .hasMessageContaining("6291557 bytes")
                .hasMessageContaining("at most 6291556");
    }

    @Test
    void hazard_37_a_record_over_10_mib_as_a_read_of_the_stream_brings_it_is_left_whole_for_the_dead_letters() {
        byte[] data = new byte[Limits.RECORD_BYTES_MAX];
        assertThat(Aggregated.split(new KplEncoder().add("k", null, data).encode()))
                .isNull();
    }
}
