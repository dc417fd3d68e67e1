package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.aws.template.Metric;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/// The log line of a metric that has many values.
class MetricsTest {
    private static final Instant NOW = Instant.parse("2026-11-22T00:00:00Z");

    private static String line(SortedMap<Long, Long> counts) {
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        new Metrics(new PrintStream(log, true, StandardCharsets.UTF_8), "stack").write(NOW, Metric.DelayMs, counts);
        return log.toString(StandardCharsets.UTF_8);
    }

    @Test
    void each_value_is_there_with_how_often_it_was() {
        assertThat(line(new TreeMap<>(java.util.Map.of(200L, 3L, 1_000L, 1L))))
                .isEqualTo("{\"_aws\":{\"Timestamp\":1795305600000,\"CloudWatchMetrics\":[{\"Namespace\":\"Onefold\","
                        + "\"Dimensions\":[[\"Stack\"]],\"Metrics\":[{\"Name\":\"DelayMs\",\"StorageResolution\":60}]}]},"
                        + "\"Stack\":\"stack\",\"DelayMs\":{\"Values\":[200,1000],\"Counts\":[3,1],\"Min\":200,\"Max\":1000,"
                        + "\"Count\":4,\"Sum\":1600}}\n");
    }

    @Test
    void what_has_no_value_is_not_written() {
        assertThat(line(new TreeMap<>())).isEmpty();
    }

    @Test
    void there_are_no_more_values_than_cloudwatch_takes_and_none_is_left_out() throws IOException {
        TreeMap<Long, Long> counts = new TreeMap<>();
        LongStream.rangeClosed(1, 250).forEach(ms -> counts.put(ms * 100, 2L));
        JsonNode delays = new ObjectMapper().readTree(line(counts)).get("DelayMs");
        assertThat(delays.get("Values")).hasSize(100);
        assertThat(delays.get("Counts")).hasSize(100);
        assertThat(delays.get("Count").asLong()).isEqualTo(500);
        assertThat(delays.get("Values").get(99).asLong()).isEqualTo(25_000);
        assertThat(delays.get("Counts").get(99).asLong()).isEqualTo(2 * 151);
    }
}
