package dev.onefold.examples.real;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.fixtures.SharedData;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Fourteen people who star and un-star projects, over ten years.
class ProjectStarsTest {
    private static final String EVENTS = "github-star-toggles/star-toggles.ndjson.gz";
    private static final String ORACLE = "github-star-toggles/oracle.json";
    private static final String EXAMPLE = "project-stars";

    @TempDir
    private Path data;

    @Test
    void stars_per_project_person_and_heading_are_right() {
        JsonNode right = RealInput.oracle(ORACLE);
        try (Folded folded = Folded.begin(EXAMPLE, data).fold(RealInput.source(EVENTS))) {
            assertThat(folded.counts().accepted())
                    .isEqualTo(right.at("/events/total").asLong());
            assertThat(folded.engine().status().rows())
                    .isEqualTo(right.get("pairsEver").asLong());
            assertThat(folded.values("by-item"))
                    .containsExactly(right.get("activePairs").asText());
            Map<String, List<String>> items = folded.below("by-item", 1);
            assertThat(items).hasSize(right.get("itemsWithAtLeastOneStar").asInt());
            assertThat(items).isEqualTo(Folded.expected(right.get("byItem"), ProjectStarsTest::number));
            assertThat(folded.below("by-user", 1))
                    .isEqualTo(Folded.expected(right.get("byUser"), ProjectStarsTest::number));
            assertThat(histogram(items))
                    .isEqualTo(Folded.expected(right.get("histogramStarsPerItem"), ProjectStarsTest::number));
            Map<String, List<String>> groups = new TreeMap<>();
            folded.below("by-group", 1)
                    .forEach((group, values) ->
                            groups.put(group.equals("(none)") ? "None" : group, List.of(values.getFirst())));
            assertThat(groups).isEqualTo(Folded.expected(right.get("byGroup"), ProjectStarsTest::number));
            assertThat(folded.values("by-group").get(1))
                    .isEqualTo(right.get("users").asText());
            folded.requireVerified();
        }
    }

    /// The oracle lists projects by stars, then by name.
    @Test
    void the_top_list_is_right_with_equal_ones_in_the_order_of_their_names() {
        List<String> right = new ArrayList<>();
        RealInput.oracle(ORACLE)
                .get("byItem")
                .properties()
                .forEach(
                        item -> right.add(item.getKey() + " [" + item.getValue().asText() + "]"));
        try (Folded folded = Folded.begin(EXAMPLE, data).fold(RealInput.source(EVENTS))) {
            assertThat(folded.top("by-item", 5, "stars")).isEqualTo(right.subList(0, 5));
            assertThat(folded.top("by-item", 5_000, "stars")).isEqualTo(right.subList(0, 5_000));
            assertThat(folded.top("by-item", 100_000, "stars")).isEqualTo(right);
        }
    }

    @Test
    void the_stars_are_right_at_the_end_of_each_year() {
        Map<String, List<String>> years = new TreeMap<>();
        try (Folded folded = Folded.begin(EXAMPLE, data)) {
            List<String> unsent = new ArrayList<>();
            String year = "2016";
            for (String line : SharedData.lines(EVENTS)) {
                String now = line.replaceFirst(".*\"at\":\"(....).*", "$1");
                if (!now.equals(year)) {
                    folded.engine().append("toggles", unsent);
                    unsent.clear();
                    years.put(year, folded.values("by-user"));
                    year = now;
                }
                unsent.add(line);
            }
            folded.engine().append("toggles", unsent);
            years.put(year, folded.values("by-user"));
        }
        assertThat(years)
                .isEqualTo(
                        Folded.expected(RealInput.oracle(ORACLE).get("activeAtEndOfYear"), ProjectStarsTest::number));
    }

    @Test
    void any_order_of_arrival_and_a_second_delivery_come_to_the_same() {
        Folded.assertSameInAnyOrder(EXAMPLE, EVENTS, data, 3, _ -> {});
    }

    private static Map<String, List<String>> histogram(Map<String, List<String>> items) {
        Map<String, Integer> counts = new TreeMap<>();
        items.values().forEach(stars -> counts.merge(stars.getFirst(), 1, Integer::sum));
        Map<String, List<String>> histogram = new TreeMap<>();
        counts.forEach((stars, count) -> histogram.put(stars, List.of(String.valueOf(count))));
        return histogram;
    }

    private static List<String> number(JsonNode node) {
        return List.of(node.asText());
    }
}
