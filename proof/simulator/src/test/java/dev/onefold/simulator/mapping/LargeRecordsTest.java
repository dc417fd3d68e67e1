package dev.onefold.simulator.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.event.Invocation;
import dev.onefold.mapping.MappingSettings;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LargeRecordsTest {
    private static final int MB = 1024 * 1024;
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Bench bench = new Bench(1);

    @Test
    void a_batch_ends_before_its_event_is_larger_than_six_megabytes() {
        for (int i = 0; i < 12; i++) {
            bench.put("k", new byte[MB]); // 1.33 MB as base64, so that four fit.
        }
        bench.map(MappingSettings.input());
        bench.run(MINUTE);
        assertThat(bench.batches).extracting(List::size).containsExactly(4, 4, 2, 2); // Ten are read at once.
        assertThat(bench.events)
                .allMatch(event -> event.length <= 6 * MB && event.length <= Invocation.EVENT_BYTES_MAX);
    }

    @Test
    void a_record_that_no_event_can_hold_is_told_to_the_destination_and_those_behind_it_go_on() {
        bench.put("k", "before");
        String sequence = bench.put("k", new byte[5 * MB]);
        bench.put("k", "behind");
        bench.map(MappingSettings.input());
        bench.run(MINUTE);
        assertThat(bench.done).containsExactly("before", "behind");
        assertThat(bench.givenUp()).singleElement().satisfies(failed -> {
            assertThat(failed.firstSequence()).isEqualTo(sequence);
            assertThat(failed.lastSequence()).isEqualTo(sequence);
            assertThat(failed.condition()).isEqualTo("PayloadSizeExceeded");
        });
    }
}
