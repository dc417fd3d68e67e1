package dev.onefold.aws.function;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.onefold.aws.template.Metric;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/// Metrics as log lines that CloudWatch makes metrics of ("embedded metric format"): no request, no permission, and
/// never in a table of totals.
///
/// @param out where the function's log lines go
/// @param stack the value of the metrics' one dimension
public record Metrics(PrintStream out, String stack) {
    private static final JsonFactory JSON = new JsonFactory();
    private static final int VALUES_MAX = 100;

    void write(Instant at, Map<Metric, Long> values) {
        line(at, values.keySet(), json -> {
            for (Map.Entry<Metric, Long> value : new TreeMap<>(values).entrySet()) {
                json.writeNumberField(value.getKey().name(), value.getValue());
            }
        });
    }

    /// Writes each of many values, by how often it was there; nothing if there is none. CloudWatch takes 100 different
    /// ones, and what stands in the highest step counts for those beyond.
    void write(Instant at, Metric metric, SortedMap<Long, Long> counts) {
        if (counts.isEmpty()) {
            return;
        }
        List<Map.Entry<Long, Long>> lowest =
                counts.entrySet().stream().limit(VALUES_MAX - 1L).toList();
        TreeMap<Long, Long> most = new TreeMap<>();
        lowest.forEach(count -> most.put(count.getKey(), count.getValue()));
        long records = counts.values().stream().mapToLong(Long::longValue).sum();
        long rest = records - most.values().stream().mapToLong(Long::longValue).sum();
        if (rest > 0) {
            most.put(counts.lastKey(), rest);
        }
        line(at, Set.of(metric), json -> {
            json.writeObjectFieldStart(metric.name());
            array(json, "Values", most.keySet());
            array(json, "Counts", most.values());
            json.writeNumberField("Min", most.firstKey());
            json.writeNumberField("Max", most.lastKey());
            json.writeNumberField("Count", records);
            json.writeNumberField(
                    "Sum",
                    most.entrySet().stream()
                            .mapToLong(count -> count.getKey() * count.getValue())
                            .sum());
            json.writeEndObject();
        });
    }

    private static void array(JsonGenerator json, String name, Collection<Long> numbers) throws IOException {
        json.writeArrayFieldStart(name);
        for (long number : numbers) {
            json.writeNumber(number);
        }
        json.writeEndArray();
    }

    private interface Values {
        void write(JsonGenerator json) throws IOException;
    }

    private void line(Instant at, Set<Metric> metrics, Values values) {
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
            for (Metric metric : new TreeSet<>(metrics)) {
                json.writeStartObject();
                json.writeStringField("Name", metric.name());
                json.writeNumberField("StorageResolution", metric.resolution());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
            json.writeEndArray();
            json.writeEndObject();
            json.writeStringField(Metric.DIMENSION, stack);
            values.write(json);
            json.writeEndObject();
        } catch (IOException e) {
            throw new IllegalStateException("Writing into memory failed", e);
        }
        out.println(line);
    }
}
