package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.SealedBatches;
import dev.onefold.core.batch.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/// Counts invocations and deliveries for the table in `docs/aws-figures.md`, which has to say the same.
class AwsDeliveryCountsTest {
    private static final int RECORDS = 100;
    private static final String BAD = "{\"id\":37}";
    private static final Duration OUTAGE = Duration.ofHours(1);

    /// Delivers until nothing is left but what a person decides: woken once when the batches are sealed, and by a tick
    /// each minute.
    private static String row(String what, int size, boolean bisect, BiFunction<List<String>, Duration, Outcome> does) {
        DeliveriesAtWork life = new DeliveriesAtWork(
                size,
                "\"receiver\":\"idempotent\",\"bisect\":" + bisect
                        + ",\"retry\":{\"delays\":[\"1m\",\"10m\",\"1h\"],\"for\":\"1d\"}");
        Map<String, Integer> byRecord = new HashMap<>();
        Set<String> in = new HashSet<>();
        Instant begin = life.deployment.time.instant();
        life.receiver = attempt -> {
            List<String> lines = attempt.lines();
            lines.forEach(line -> byRecord.merge(line, 1, Integer::sum));
            Outcome outcome = does.apply(lines, Duration.between(begin, life.deployment.time.instant()));
            if (outcome instanceof Outcome.Done) {
                in.addAll(lines);
            }
            return outcome;
        };
        life.seal(RECORDS);
        int invocations = 0;
        boolean isQuiet = false;
        while (!isQuiet) {
            invocations += life.deliver() > 0 ? 1 : 0;
            life.passed(Duration.ofMinutes(1));
            isQuiet = life.person(SealedBatches::summary).isQuiet();
        }
        int neighbourMost = byRecord.entrySet().stream()
                .filter(each -> !each.getKey().equals(BAD))
                .mapToInt(Map.Entry::getValue)
                .max()
                .orElse(0);
        return "| " + what + " | " + size + " | " + (bisect ? "yes" : "no") + " | " + invocations + " | "
                + life.attempts.size() + " | " + life.lines.size() + " | " + neighbourMost + " | "
                + (RECORDS - in.size()) + " |";
    }

    private static Outcome refusing(List<String> lines) {
        return lines.contains(BAD) ? new Outcome.Refused("37 is bad") : new Outcome.Done();
    }

    private static Outcome broken(Duration since) {
        return since.compareTo(OUTAGE) < 0 ? new Outcome.NotNow("it is down", null) : new Outcome.Done();
    }

    @Test
    void the_docs_say_how_often_a_bad_record_and_an_outage_are_delivered_on_aws() throws IOException {
        List<String> rows = new ArrayList<>();
        for (int size : List.of(100, 5, 1)) {
            for (boolean bisect : size == 1 ? List.of(false) : List.of(false, true)) {
                rows.add(row("one bad record of 100", size, bisect, (lines, _) -> refusing(lines)));
            }
        }
        for (boolean bisect : List.of(false, true)) {
            rows.add(row("an outage of an hour", 5, bisect, (_, since) -> broken(since)));
        }
        assertThat(Files.readString(Path.of("../../docs/aws-figures.md"))).contains(String.join("\n", rows) + "\n");
    }
}
