package dev.onefold.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.fixtures.SharedData;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The oracle against the oracles that lie beside the real input, which are other programs in another language.
@Tag("campaign")
class OracleOnRealInputTest {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    private static final String OUTAGES = """
        pipeline: outages
        input: {key: outage, version: snapshot, delete: op = "delete"}
        rollup:
          levels: [region]
          measures:
            outages: count()
            customers: sum(customers) decimal(18,0) missing ignore
        """;

    @Test
    void outages_and_customers_per_town_are_right_at_the_end() throws IOException {
        Path events = SharedData.file("pge-power-outages/outages-2019-oct-nov.ndjson.gz");
        JsonNode right = json("pge-power-outages/oracle-2019-oct-nov.json");
        Oracle oracle = Oracle.of(OUTAGES);
        oracle.acceptFile(events);

        assertThat(oracle.events()).isEqualTo(right.at("/events/total").asLong());
        assertThat(figures(oracle, "main"))
                .isEqualTo(expected(
                        right.at("/finalActive/byRegion"),
                        node -> List.of(
                                node.get("outages").asText(),
                                node.get("customers").asText())));
        assertThat(root(oracle, "main"))
                .containsExactly(
                        right.at("/finalActive/outages").asText(),
                        right.at("/finalActive/customers").asText());
    }

    @Test
    void outages_and_customers_are_right_at_the_end_of_each_day() throws IOException {
        Path events = SharedData.file("pge-power-outages/outages-2019-oct-nov.ndjson.gz");
        JsonNode right = json("pge-power-outages/oracle-2019-oct-nov.json");
        Oracle oracle = Oracle.of(OUTAGES);
        Map<String, List<@Nullable String>> days = new TreeMap<>();
        String today = "2019-10-01";
        long line = 0;
        for (String event : lines(events)) {
            String day = event.replaceFirst(".*\"observedAt\":\"(.{10}).*", "$1");
            if (!day.equals(today)) {
                days.put(today, root(oracle, "main"));
                today = day;
            }
            oracle.accept("outages", ++line, event.getBytes(StandardCharsets.UTF_8));
        }
        days.put(today, root(oracle, "main"));

        Map<String, List<String>> expected = new TreeMap<>();
        right.get("endOfDay")
                .properties()
                .forEach(day -> expected.put(
                        day.getKey(),
                        List.of(
                                day.getValue().get("outages").asText(),
                                day.getValue().get("customers").asText())));
        assertThat(days).isEqualTo(expected);
    }

    @Test
    void runners_by_gender_age_country_and_state_are_right() throws IOException {
        Path events = SharedData.file("boston-marathon-2014/splits.ndjson.gz");
        JsonNode right = json("boston-marathon-2014/oracle.json");
        String measures = "{finishers: count(), sum: 'sum(elapsedS) decimal(18,0)',"
                + " best: 'min(elapsedS) decimal(18,0)', metres: 'sum(metres) decimal(18,0)'}";
        Oracle oracle = Oracle.of("""
            pipeline: marathon
            input: {key: runner, version: mat}
            rollups:
              gender: {levels: [gender], measures: %1$s}
              age: {levels: [ageGroup], measures: %1$s}
              place: {levels: [country, 'state missing "-"'], measures: %1$s}
            """.formatted(measures));
        oracle.acceptFile(events);

        Function<JsonNode, List<String>> figures = node -> List.of(
                node.get("finishers").asText(),
                node.get("sumElapsedS").asText(),
                node.get("bestElapsedS").asText());
        assertThat(figures(oracle, "gender", 3)).isEqualTo(expected(right.get("byGender"), figures));
        assertThat(figures(oracle, "age", 3)).isEqualTo(expected(right.get("byAgeGroup"), figures));
        Map<String, List<@Nullable String>> places = figures(oracle, "place", 3);
        assertThat(places).containsAllEntriesOf(expected(right.get("byCountry"), figures));
        places.keySet().removeIf(group -> !group.contains("/"));
        assertThat(places).isEqualTo(expected(right.get("byCountryState"), figures));
        assertThat(oracle.totals("age").get(List.of()))
                .containsEntry("finishers", right.get("finishers").asText())
                .containsEntry(
                        "metres",
                        right.at("/checkpointsByElapsed/end/metresTotal").asText());
    }

    @Test
    void stars_per_project_person_and_heading_are_right() throws IOException {
        Path events = SharedData.file("github-star-toggles/star-toggles.ndjson.gz");
        JsonNode right = json("github-star-toggles/oracle.json");
        Oracle oracle = Oracle.of("""
            pipeline: stars
            input: {key: [user, item], version: userSeq, delete: op = "unstar"}
            rollups:
              items: {levels: [item], measures: {stars: count(), people: distinct(user)}}
              people: {levels: [user], measures: {stars: count(), items: distinct(item)}}
              headings: {levels: ['group missing "None"'], measures: {stars: count()}}
            """);
        oracle.acceptFile(events);

        assertThat(oracle.totals("items").get(List.of()))
                .containsEntry("stars", right.get("activePairs").asText());
        assertThat(figures(oracle, "items", 1)).isEqualTo(expected(right.get("byItem"), this::number));
        assertThat(figures(oracle, "people", 1)).isEqualTo(expected(right.get("byUser"), this::number));
        assertThat(figures(oracle, "headings", 1)).isEqualTo(expected(right.get("byGroup"), this::number));
    }

    @Test
    void earthquakes_by_network_and_magnitude_are_right_and_two_conflicts_are_found() throws IOException {
        Path events = SharedData.file("usgs-earthquake-polls/polls-hour-day-significant.ndjson.gz");
        JsonNode right = json("usgs-earthquake-polls/oracle.json").get("hourDaySignificant");
        String measures = "{quakes: count(), largest: 'max(mag) decimal(28,18)'}";
        Oracle oracle = Oracle.of("""
            pipeline: earthquakes
            input: {key: id, version: {field: updated, type: epoch-millis}, time: {field: time, type: epoch-millis}}
            rollups:
              network: {levels: ['prefix(id, 2)'], measures: %1$s}
              magnitude: {levels: ['step(mag, 1)'], measures: %1$s}
            """.formatted(measures));
        oracle.acceptFile(events);

        assertThat(oracle.events()).isEqualTo(right.get("messages").asLong());
        assertThat(oracle.conflicts())
                .isEqualTo(right.get("sameIdentityDifferentContent").size());
        assertThat(oracle.totals("network").get(List.of()))
                .containsEntry("quakes", right.get("earthquakes").asText());
        assertThat(quakes(oracle.totals("network"), name -> name)).isEqualTo(quakes(right.get("byNetwork")));
        assertThat(quakes(oracle.totals("magnitude"), OracleOnRealInputTest::magnitudeClass))
                .isEqualTo(quakes(right.get("byMagnitude")));
    }

    @Test
    void what_a_database_told_of_its_rows_is_right_after_5163_redeliveries() throws IOException {
        Path events = SharedData.file("debezium-outages/debezium-events.ndjson.gz");
        JsonNode right = json("debezium-outages/oracle.json");
        Oracle oracle = Oracle.of("""
            pipeline: outages
            input:
              key: key.outage_id
              version: value.source.lsn
              delete: value.op = "d"
            rollup:
              levels: [value.after.region]
              measures:
                outages: count()
                customers: sum(value.after.customers) decimal(18,0) missing ignore
            """);
        oracle.acceptFile(events);

        // Tombstones have no version and transaction marks no key: they say nothing of a row.
        assertThat(oracle.events())
                .isEqualTo(right.get("uniqueRowEvents").asLong()
                        + right.get("redeliveredRowEvents").asLong());
        assertThat(oracle.conflicts()).isZero();
        assertThat(root(oracle, "main"))
                .containsExactly(
                        right.get("finalRows").asText(),
                        right.get("finalCustomers").asText());
        assertThat(figures(oracle, "main"))
                .isEqualTo(expected(
                        right.get("byRegion"),
                        node -> List.of(
                                node.get("outages").asText(),
                                node.get("customers").asText())));
    }

    @Test
    void the_rows_of_a_table_are_right_from_its_change_stream() throws IOException {
        Path events = SharedData.file("aws-stream-events/dynamodb-lambda-events.ndjson.gz");
        JsonNode right = json("aws-stream-events/oracle.json").get("dynamodb");
        Oracle oracle = Oracle.of("""
            pipeline: favourites
            input:
              key: [dynamodb.Keys.user.S, dynamodb.Keys.item.S]
              version: dynamodb.SequenceNumber
              delete: eventName = "REMOVE"
            rollups:
              people: {levels: [dynamodb.Keys.user.S], measures: {rows: count()}}
              items: {levels: [dynamodb.Keys.item.S], measures: {rows: count()}}
            """);
        long number = 0;
        for (String batch : lines(events)) {
            for (JsonNode record : MAPPER.readTree(batch).get("Records")) {
                oracle.accept("stream", ++number, record.toString().getBytes(StandardCharsets.UTF_8));
            }
        }

        assertThat(oracle.events()).isEqualTo(right.get("records").asLong());
        assertThat(oracle.totals("people").get(List.of()))
                .containsEntry("rows", right.get("rowsLeft").asText());
        assertThat(figures(oracle, "people")).isEqualTo(expected(right.get("byUser"), this::number));
        assertThat(figures(oracle, "items")).isEqualTo(expected(right.get("byItem"), this::number));
    }

    private List<String> number(JsonNode node) {
        return List.of(node.asText());
    }

    private static String magnitudeClass(String step) {
        int magnitude = Integer.parseInt(step);
        return magnitude < 1 ? "below 1" : magnitude < 6 ? magnitude + "-" + (magnitude + 1) : "6+";
    }

    /// Number and greatest of the groups, several of which may go under one name.
    private static Map<String, String> quakes(
            SortedMap<List<String>, Map<String, @Nullable String>> totals, Function<String, String> name) {
        Map<String, Long> numbers = new TreeMap<>();
        Map<String, BigDecimal> largest = new TreeMap<>();
        totals.forEach((group, figures) -> {
            if (!group.isEmpty()) {
                numbers.merge(name.apply(group.getFirst()), Long.valueOf(figures.get("quakes")), Long::sum);
                largest.merge(name.apply(group.getFirst()), new BigDecimal(figures.get("largest")), BigDecimal::max);
            }
        });
        Map<String, String> quakes = new TreeMap<>();
        numbers.forEach((group, number) ->
                quakes.put(group, number + " " + largest.get(group).stripTrailingZeros()));
        return quakes;
    }

    private static Map<String, String> quakes(JsonNode expected) {
        Map<String, String> quakes = new TreeMap<>();
        expected.properties()
                .forEach(group -> quakes.put(
                        group.getKey(),
                        group.getValue().get("events") + " "
                                + group.getValue().get("maxMag").decimalValue().stripTrailingZeros()));
        return quakes;
    }

    private static Map<String, List<String>> expected(JsonNode groups, Function<JsonNode, List<String>> figures) {
        Map<String, List<String>> expected = new TreeMap<>();
        groups.properties().forEach(group -> expected.put(group.getKey(), figures.apply(group.getValue())));
        return expected;
    }

    private static Map<String, List<@Nullable String>> figures(Oracle oracle, String rollup) {
        return figures(oracle, rollup, Integer.MAX_VALUE);
    }

    /// The first figures of all groups but the grand total, by the group's values joined with '/'.
    private static Map<String, List<@Nullable String>> figures(Oracle oracle, String rollup, int first) {
        Map<String, List<@Nullable String>> groups = new TreeMap<>();
        oracle.totals(rollup).forEach((group, figures) -> {
            if (!group.isEmpty()) {
                groups.put(
                        String.join("/", group),
                        figures.values().stream().limit(first).toList());
            }
        });
        return groups;
    }

    private static List<@Nullable String> root(Oracle oracle, String rollup) {
        return List.copyOf(oracle.totals(rollup).get(List.of()).values());
    }

    private static List<String> lines(Path file) throws IOException {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                        new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.UTF_8));
                Stream<String> lines = reader.lines()) {
            return lines.toList();
        }
    }

    private static JsonNode json(String name) throws IOException {
        return MAPPER.readTree(SharedData.file(name).toFile());
    }
}
