package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.delivery.Carrier;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
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
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Counts deliveries for the table in `docs/batches.md`, which has to say the same.
class DeliveryCountsTest {
    private static final int RECORDS = 100;
    private static final String BAD = "{\"id\":37}";
    private static final Duration OUTAGE = Duration.ofHours(1);
    private static final Instant BEGIN = Instant.parse("2030-01-01T00:00:00Z");

    @TempDir
    Path folder;

    private Instant now = BEGIN;
    private int engines;

    /// The records that a receiver got.
    private static final class Counted {
        private final Map<String, Integer> byRecord = new HashMap<>();
        private final Set<String> in = new HashSet<>();
        private int deliveries;
        private long records;

        private int neighbourMost() {
            return byRecord.entrySet().stream()
                    .filter(each -> !each.getKey().equals(BAD))
                    .mapToInt(Map.Entry::getValue)
                    .max()
                    .orElse(0);
        }
    }

    private static Pipeline pipeline(int size, boolean bisect) {
        String text = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":" + size
                + ",\"deliver\":{\"http\":\"http://host/\"},\"receiver\":\"idempotent\",\"bisect\":" + bisect
                + ",\"retry\":{\"delays\":[\"1m\",\"10m\",\"1h\"],\"for\":\"1d\"}}}";
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    private static List<String> lines(Carrier.Content content) {
        try (InputStream in = content.open()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /// Delivers until only batches that wait for a person are left.
    private String row(String what, int size, boolean bisect, Function<List<String>, Outcome> receiver) {
        now = BEGIN;
        Counted counted = new Counted();
        Settings settings = Settings.defaults().withThreads(0).withShards(1).withClock(() -> now);
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(folder.resolve("data" + ++engines), pipeline(size, bisect), settings)) {
            engine.deliver((_, _, content) -> {
                List<String> lines = lines(content);
                counted.deliveries++;
                counted.records += lines.size();
                lines.forEach(line -> counted.byRecord.merge(line, 1, Integer::sum));
                Outcome outcome = receiver.apply(lines);
                if (outcome instanceof Outcome.Done) {
                    counted.in.addAll(lines);
                }
                return outcome;
            });
            engine.append(
                    "me",
                    IntStream.range(0, RECORDS)
                            .mapToObj(id -> "{\"id\":" + id + "}")
                            .toList());
            engine.checkpointNow();
            while (!engine.batches().summary().isQuiet()) {
                engine.deliverDue();
                now = now.plusSeconds(30);
            }
            return "| " + what + " | " + size + " | " + (bisect ? "yes" : "no") + " | " + counted.deliveries + " | "
                    + counted.records + " | " + counted.neighbourMost() + " | " + (RECORDS - counted.in.size()) + " |";
        }
    }

    private static Outcome refusing(List<String> lines) {
        return lines.contains(BAD) ? new Outcome.Refused("37 is bad") : new Outcome.Done();
    }

    private Outcome broken(List<String> lines) {
        return Duration.between(BEGIN, now).compareTo(OUTAGE) < 0
                ? new Outcome.NotNow("it is down", null)
                : new Outcome.Done();
    }

    @Test
    void the_docs_say_how_often_a_bad_record_and_an_outage_are_delivered() throws IOException {
        List<String> rows = new ArrayList<>();
        for (int size : List.of(100, 5, 1)) {
            for (boolean bisect : size == 1 ? List.of(false) : List.of(false, true)) {
                rows.add(row("one bad record of 100", size, bisect, DeliveryCountsTest::refusing));
            }
        }
        for (boolean bisect : List.of(false, true)) {
            rows.add(row("an outage of an hour", 5, bisect, this::broken));
        }
        assertThat(Files.readString(Path.of("../../docs/batches.md"))).contains(String.join("\n", rows) + "\n");
    }
}
