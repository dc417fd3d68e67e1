package dev.onefold.examples.real;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.core.Counts;
import dev.onefold.fixtures.SharedData;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What Debezium wrote of a table, with 5,163 row events delivered again after a real crash.
class OutagesCdcTest {
    private static final String EVENTS = "debezium-outages/debezium-events.ndjson.gz";
    private static final String ORACLE = "debezium-outages/oracle.json";
    private static final String EXAMPLE = "outages-cdc";

    @TempDir
    private Path data;

    @Test
    void rows_and_customers_per_town_are_right_though_thousands_of_changes_came_twice() {
        JsonNode right = RealInput.oracle(ORACLE);
        try (Folded folded = Folded.begin(EXAMPLE, data).fold(RealInput.source(EVENTS))) {
            assertThat(folded.values("main"))
                    .containsExactly(
                            right.get("finalRows").asText(),
                            right.get("finalCustomers").asText());
            assertThat(folded.below("main", 1))
                    .isEqualTo(Folded.expected(right.get("byRegion"), "outages", "customers"));
            folded.requireVerified();
        }
    }

    @Test
    void each_change_is_accepted_once_and_what_is_none_is_no_dead_letter() {
        JsonNode right = RealInput.oracle(ORACLE);
        long marks = SharedData.lines(EVENTS).stream()
                .filter(line -> line.startsWith("{\"topic\":\"grid.transaction\""))
                .count();
        try (Folded folded = Folded.begin(EXAMPLE, data).fold(RealInput.source(EVENTS))) {
            Counts counts = folded.counts();
            assertThat(counts.records()).isEqualTo(right.get("lines").asLong());
            assertThat(counts.accepted()).isEqualTo(right.get("uniqueRowEvents").asLong());
            assertThat(counts.duplicate() + counts.stale())
                    .isEqualTo(right.get("redeliveredRowEvents").asLong());
            // Tombstones and marks of transactions say nothing about a row.
            assertThat(counts.silent()).isEqualTo(right.get("tombstoneLines").asLong() + marks);
            assertThat(folded.engine().deadLetters().size()).isZero();
        }
    }

    @Test
    void any_order_of_arrival_and_a_second_delivery_come_to_the_same() {
        Folded.assertSameInAnyOrder(EXAMPLE, EVENTS, data, 2, _ -> {});
    }
}
