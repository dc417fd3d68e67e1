package dev.onefold.local.function;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.local.meter.Meters;
import dev.onefold.local.meter.Meters.Metric;

/// Log lines that CloudWatch makes metrics of ("embedded metric format"), with one dimension.
final class LoggedMetrics {
    private static final String MARK = "\"_aws\"";
    private static final ObjectMapper JSON = new ObjectMapper();

    private LoggedMetrics() {}

    /// Counts what a line says; nothing if it is another line. As with CloudWatch, a line that is cut is another line.
    static void count(String line, Meters meters) {
        if (!line.contains(MARK)) {
            return;
        }
        JsonNode said;
        try {
            said = JSON.readTree(line);
        } catch (JsonProcessingException cut) {
            return;
        }
        for (JsonNode group : said.path("_aws").path("CloudWatchMetrics")) {
            String dimension = group.path("Dimensions").path(0).path(0).asText();
            for (JsonNode name : group.path("Metrics")) {
                Metric metric = new Metric(
                        group.path("Namespace").asText(),
                        name.path("Name").asText(),
                        dimension,
                        said.path(dimension).asText());
                count(said.path(metric.name()), metric, meters);
            }
        }
    }

    private static void count(JsonNode value, Metric metric, Meters meters) {
        if (value.isNumber()) {
            meters.add(metric, value.asDouble());
        }
        JsonNode values = value.path("Values");
        for (int i = 0; i < values.size(); i++) {
            meters.add(
                    metric,
                    values.path(i).asDouble(),
                    value.path("Counts").path(i).asLong(1));
        }
    }
}
