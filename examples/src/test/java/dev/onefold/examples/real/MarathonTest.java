package dev.onefold.examples.real;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.fixtures.SharedData;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The crossings of nine mats by 31,984 runners, 335 of whom have gaps.
class MarathonTest {
    static final String EVENTS = "boston-marathon-2014/splits.ndjson.gz";
    private static final String ORACLE = "boston-marathon-2014/oracle.json";
    private static final String EXAMPLE = "marathon";
    private static final String FINISH = "9";
    private static final int HALF_HOUR_SECONDS = 1_800;

    @TempDir
    private Path data;

    @Test
    void finishers_and_their_times_are_right_by_gender_age_group_country_and_state() {
        try (Folded folded = Folded.begin(EXAMPLE, data).fold(RealInput.source(EVENTS))) {
            assertThat(folded.counts().accepted())
                    .isEqualTo(RealInput.oracle(ORACLE).get("events").asLong());
            requireFinish(folded);
            folded.requireVerified();
        }
    }

    /// Holds the totals at the end of the race against the oracle's.
    static void requireFinish(Folded folded) {
        JsonNode right = RealInput.oracle(ORACLE);
        String[] figures = {"finishers", "sumElapsedS", "bestElapsedS"};
        assertThat(folded.values("by-gender", FINISH).getFirst())
                .isEqualTo(right.get("finishers").asText());
        assertThat(folded.values("race"))
                .containsExactly(
                        right.get("runners").asText(),
                        right.at("/checkpointsByElapsed/end/metresTotal").asText());
        assertThat(folded.below("by-gender", 1, FINISH)).isEqualTo(Folded.expected(right.get("byGender"), figures));
        assertThat(folded.below("by-age", 1, FINISH)).isEqualTo(Folded.expected(right.get("byAgeGroup"), figures));
        assertThat(folded.below("by-country", 1, FINISH)).isEqualTo(Folded.expected(right.get("byCountry"), figures));
        assertThat(folded.below("by-country", 2, FINISH))
                .isEqualTo(Folded.expected(right.get("byCountryState"), figures));
    }

    /// The crossings are sent as they happened, and the totals asked every half hour.
    @Test
    @Tag("campaign")
    void the_state_of_the_race_is_right_every_half_hour() {
        JsonNode right = RealInput.oracle(ORACLE).get("checkpointsByElapsed");
        Map<String, String> states = new TreeMap<>();
        try (Folded folded = Folded.begin(EXAMPLE, data)) {
            List<String> unsent = new ArrayList<>();
            int checkpoint = HALF_HOUR_SECONDS;
            for (String line : SharedData.lines(EVENTS)) {
                int elapsed = Integer.parseInt(line.replaceFirst(".*\"elapsedS\":([0-9]+).*", "$1"));
                while (elapsed > checkpoint) {
                    if (!unsent.isEmpty()) {
                        folded.engine().append("mats", unsent);
                        unsent.clear();
                    }
                    states.put(String.valueOf(checkpoint), state(folded));
                    checkpoint += HALF_HOUR_SECONDS;
                }
                unsent.add(line);
            }
            folded.engine().append("mats", unsent);
            states.put("end", state(folded));
        }
        Map<String, String> expected = new TreeMap<>();
        right.properties()
                .forEach(each -> expected.put(
                        each.getKey(),
                        each.getValue().get("runnersSeen").asText() + " runners, "
                                + each.getValue().get("metresTotal").asText() + " m, "
                                + Folded.expected(each.getValue().get("lastMat"), node -> List.of(node.asText()))));
        assertThat(states).isEqualTo(expected);
    }

    @Test
    @Tag("campaign")
    void any_order_of_arrival_and_a_second_delivery_come_to_the_same() {
        Folded.assertSameInAnyOrder(EXAMPLE, EVENTS, data, 1, _ -> {});
    }

    private static String state(Folded folded) {
        List<String> race = folded.values("race");
        Map<String, List<String>> lastMat = new TreeMap<>();
        folded.below("by-gender", 1).forEach((mat, values) -> lastMat.put(mat, List.of(values.getFirst())));
        return race.getFirst() + " runners, " + race.getLast() + " m, " + lastMat;
    }
}
