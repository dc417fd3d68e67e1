package dev.onefold.examples.real;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.event.Reason;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Feeds of earthquakes, polled for 20 days: 93 % of the messages are duplicates, and two quakes came with one version
/// and two contents.
class EarthquakesTest {
    private static final String EVENTS = "usgs-earthquake-polls/polls-hour-day-significant.ndjson.gz";
    private static final String ORACLE = "usgs-earthquake-polls/oracle.json";
    private static final String EXAMPLE = "earthquakes";

    @TempDir
    private Path data;

    @Test
    void quakes_and_the_strongest_are_right_per_network_and_class_of_magnitude() {
        JsonNode right = RealInput.oracle(ORACLE).get("hourDaySignificant");
        try (Folded folded = Folded.begin(EXAMPLE, data).fold(RealInput.source(EVENTS))) {
            assertThat(folded.values("by-network").getFirst())
                    .isEqualTo(right.get("earthquakes").asText());
            assertThat(folded.below("by-network", 1))
                    .isEqualTo(Folded.expected(right.get("byNetwork"), "events", "maxMag"));
            assertThat(inOracleClasses(folded.below("by-magnitude", 1)))
                    .isEqualTo(Folded.expected(right.get("byMagnitude"), "events", "maxMag"));
            folded.requireVerified();
        }
    }

    @Test
    void each_message_is_accepted_once_unless_a_newer_version_was_there_before_it() {
        JsonNode right = RealInput.oracle(ORACLE).get("hourDaySignificant");
        try (Folded folded = Folded.begin(EXAMPLE, data).fold(RealInput.source(EVENTS))) {
            Counts counts = folded.counts();
            assertThat(counts.records()).isEqualTo(right.get("messages").asLong());
            assertThat(counts.accepted())
                    .isEqualTo(right.get("uniqueMessages").asLong()
                            - right.get("olderVersionDeliveredLate").asLong());
            assertThat(counts.rejected()).isZero();
        }
    }

    @Test
    void the_loser_of_each_conflict_is_kept_whole_once() {
        JsonNode right = RealInput.oracle(ORACLE).at("/hourDaySignificant/sameIdentityDifferentContent");
        try (Folded folded = Folded.begin(EXAMPLE, data).fold(RealInput.source(EVENTS))) {
            List<String> identities = new ArrayList<>();
            for (DeadLetter letter : folded.engine().deadLetters().list(0, 100)) {
                assertThat(letter.reason()).isEqualTo(Reason.CONFLICT);
                String record = new String(folded.engine().deadLetters().record(letter.id()), StandardCharsets.UTF_8);
                Instant version = Instant.parse(letter.message().replaceFirst("Version (\\S+) .*", "$1"));
                assertThat(record).contains("ci41157088");
                identities.add("ci41157088@" + version.toEpochMilli());
            }
            List<String> expected = new ArrayList<>();
            right.forEach(identity -> expected.add(identity.asText()));
            assertThat(identities).isEqualTo(expected);
        }
    }

    /// The other conflict is among older versions: where a newer one comes first, both of its sides are stale.
    @Test
    @Tag("campaign")
    void in_any_order_the_conflict_of_the_version_that_counts_is_found() {
        Folded.assertSameInAnyOrder(EXAMPLE, EVENTS, data, 3, _ -> {});
    }

    @Test
    void any_order_of_arrival_and_a_second_delivery_come_to_the_same() {
        List<?> inOrder;
        try (Folded folded = Folded.begin(EXAMPLE, data.resolve("in-order")).fold(RealInput.source(EVENTS))) {
            inOrder = folded.everything();
        }
        for (long seed = 1; seed <= 3; seed++) {
            try (Folded folded = Folded.begin(EXAMPLE, data.resolve("shuffled-" + seed))
                    .fold(RealInput.shuffled(EVENTS, seed), RealInput.source(EVENTS))) {
                assertThat(folded.everything()).as("seed %d", seed).isEqualTo(inOrder);
            }
        }
    }

    /// The oracle has one class below 1 and one from 6 on.
    private static Map<String, List<String>> inOracleClasses(Map<String, List<String>> bySteps) {
        Map<String, List<String>> classes = new TreeMap<>();
        bySteps.forEach((step, values) -> {
            int magnitude = Integer.parseInt(step);
            String name = magnitude < 1 ? "below 1" : magnitude < 6 ? magnitude + "-" + (magnitude + 1) : "6+";
            classes.merge(
                    name,
                    values,
                    (one, other) -> List.of(
                            String.valueOf(Integer.parseInt(one.getFirst()) + Integer.parseInt(other.getFirst())),
                            new BigDecimal(one.getLast())
                                    .max(new BigDecimal(other.getLast()))
                                    .toPlainString()));
        });
        return classes;
    }
}
