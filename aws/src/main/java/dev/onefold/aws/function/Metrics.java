package dev.onefold.aws.function;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.onefold.aws.template.Metric;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;

/// Metrics as log lines that CloudWatch makes metrics of ("embedded metric format"): no request, no permission, and
/// never in a table of totals.
///
/// @param out where the function's log lines go
/// @param stack the value of the metrics' one dimension
public record Metrics(PrintStream out, String stack) {
    private static final JsonFactory JSON = new JsonFactory();

    void write(Instant at, Map<Metric, Long> values) {
        StringWriter line = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(line)) {
            json.writeStartObject();
            json.writeObjectFieldStart("_aws");
            json.writeNumberField("Timestamp", at.toEpochMilli());
            json.writeArrayFieldStart("CloudWatchMetrics");
            json.writeStartObject();
            json.writeStringField("Namespace", Metric.NAMESPACE);
            json.writeArrayFieldStart("Dimensions");
            json.writeStartArray();
            json.writeString(Metric.DIMENSION);
            json.writeEndArray();
            json.writeEndArray();
            json.writeArrayFieldStart("Metrics");
            for (Metric metric : new TreeMap<>(values).keySet()) {
                json.writeStartObject();
                json.writeStringField("Name", metric.name());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
            json.writeEndArray();
            json.writeEndObject();
            json.writeStringField(Metric.DIMENSION, stack);
            for (Map.Entry<Metric, Long> value : new TreeMap<>(values).entrySet()) {
                json.writeNumberField(value.getKey().name(), value.getValue());
            }
            json.writeEndObject();
        } catch (IOException e) {
            throw new IllegalStateException("Writing into memory failed", e);
        }
        out.println(line);
    }
}
