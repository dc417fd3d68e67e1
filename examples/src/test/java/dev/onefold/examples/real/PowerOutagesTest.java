package dev.onefold.examples.real;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.core.Counts;
import dev.onefold.fixtures.SharedData;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Two months of a utility's outage list, with the great safety shut-offs of October 2019.
class PowerOutagesTest {
    private static final String EVENTS = "pge-power-outages/outages-2019-oct-nov.ndjson.gz";
    private static final String ORACLE = "pge-power-outages/oracle-2019-oct-nov.json";
    private static final String EXAMPLE = "power-outages";

    @TempDir
    private Path data;

    @Test
    void outages_and_customers_per_town_are_right_at_the_end() {
        JsonNode right = RealInput.oracle(ORACLE);
        try (Folded folded = Folded.begin(EXAMPLE, data).fold(RealInput.source(EVENTS))) {
            assertThat(folded.counts())
                    .isEqualTo(new Counts(right.at("/events/total").asLong(), 0, 0, 0, 0));
            assertThat(folded.engine().status().rows())
                    .isEqualTo(right.get("distinctOutages").asLong());
            assertThat(folded.below("by-town", 1))
                    .isEqualTo(Folded.expected(right.at("/finalActive/byRegion"), "outages", "customers"));
            assertThat(folded.values("by-town")).isEqualTo(figures(right.get("finalActive")));
            assertThat(folded.values("by-start")).isEqualTo(figures(right.get("finalActive")));
            folded.requireVerified();
        }
    }

    @Test
    void any_order_of_arrival_and_a_second_delivery_come_to_the_same() {
        Folded.assertSameInAnyOrder(EXAMPLE, EVENTS, data, 1, folded -> {
            assertThat(folded.counts().conflicting()).isZero();
            folded.requireVerified();
        });
    }

    /// Sent as they were published, one list after the other, and asked in between.
    @Test
    @Tag("campaign")
    void the_totals_are_right_at_the_end_of_each_day_and_at_the_peak() {
        JsonNode right = RealInput.oracle(ORACLE);
        String peakAt = right.at("/peak/observedAt").asText();
        Map<String, List<String>> days = new TreeMap<>();
        String peak = "";
        try (Folded folded = Folded.begin(EXAMPLE, data)) {
            List<String> unsent = new ArrayList<>();
            String before = "";
            for (String line : SharedData.lines(EVENTS)) {
                String observedAt = line.replaceFirst(".*\"observedAt\":\"([^\"]*).*", "$1");
                boolean peakEnds = before.equals(peakAt) && !observedAt.equals(peakAt);
                if (peakEnds || !before.isEmpty() && !day(observedAt).equals(day(before))) {
                    folded.engine().append("lists", unsent);
                    unsent.clear();
                    days.put(day(before), folded.values("by-town")); // The last one of a day stays.
                    peak = peakEnds ? folded.values("by-town").getLast() : peak;
                }
                unsent.add(line);
                before = observedAt;
            }
            folded.engine().append("lists", unsent);
            days.put(day(before), folded.values("by-town"));
        }
        assertThat(days).isEqualTo(Folded.expected(right.get("endOfDay"), "outages", "customers"));
        assertThat(peak).isEqualTo(right.at("/peak/customers").asText());
    }

    /// Without the deletes, each outage stays as it was last seen.
    @Test
    void the_last_facts_of_every_outage_ever_are_right_per_day_of_its_start_and_town() {
        JsonNode right = RealInput.oracle(ORACLE).get("latestEver");
        List<String> facts = SharedData.lines(EVENTS).stream()
                .filter(line -> !line.contains("\"op\":\"delete\""))
                .toList();
        Map<String, List<String>> expected = new TreeMap<>();
        right.get("byStart")
                .properties()
                .forEach(day -> Folded.expected(day.getValue().get("byRegion"), "outages", "customers")
                        .forEach((town, values) -> expected.put(day.getKey() + "T00:00:00Z/" + town, values)));
        try (Folded folded = Folded.begin(EXAMPLE, data).fold(RealInput.source("facts", facts))) {
            assertThat(folded.values("by-town")).isEqualTo(figures(right));
            assertThat(folded.below("by-town", 1))
                    .isEqualTo(Folded.expected(right.get("byRegion"), "outages", "customers"));
            assertThat(folded.below("by-start", 2)).isEqualTo(expected);
        }
    }

    private static String day(String time) {
        return time.substring(0, 10);
    }

    private static List<String> figures(JsonNode node) {
        return List.of(node.get("outages").asText(), node.get("customers").asText());
    }
}
