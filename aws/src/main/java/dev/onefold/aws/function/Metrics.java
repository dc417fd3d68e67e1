package dev.onefold.aws.function;

import dev.onefold.aws.template.Environment;
import dev.onefold.aws.template.Metric;
import dev.onefold.core.Counts;
import dev.onefold.core.json.Json;
import java.io.PrintStream;
import java.time.Instant;
import java.util.LinkedHashMap;
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
    private static final int VALUES_MAX = 100;

    /// Those of a process of Lambda, whose output is its log.
    Metrics(Environment environment) {
        this(System.out, environment.stack());
    }

    /// Writes a line of the log.
    ///
    /// @param line begins with its level
    void log(String line) {
        out.println(line);
    }

    /// Writes what became of the records of an invocation.
    void write(Instant at, Counts counts) {
        write(
                at,
                Map.of(
                        Metric.Records,
                        counts.records(),
                        Metric.DeadLetters,
                        counts.rejected(),
                        Metric.Conflicts,
                        counts.conflicting()));
    }

    void write(Instant at, Map<Metric, Long> values) {
        Map<String, Object> byName = new LinkedHashMap<>();
        new TreeMap<>(values).forEach((metric, value) -> byName.put(metric.name(), value));
        line(at, values.keySet(), byName);
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
        long sum = most.entrySet().stream()
                .mapToLong(count -> count.getKey() * count.getValue())
                .sum();
        Map<String, Object> histogram = object(
                "Values", List.copyOf(most.keySet()), "Counts", List.copyOf(most.values()), "Min", most.firstKey());
        histogram.putAll(object("Max", most.lastKey(), "Count", records, "Sum", sum));
        line(at, Set.of(metric), Map.of(metric.name(), histogram));
    }

    private void line(Instant at, Set<Metric> metrics, Map<String, Object> values) {
        List<Map<String, Object>> names = new TreeSet<>(metrics)
                .stream()
                        .map(metric -> object("Name", metric.name(), "StorageResolution", metric.resolution()))
                        .toList();
        Map<String, Object> group = object(
                "Namespace", Metric.NAMESPACE, "Dimensions", List.of(List.of(Metric.DIMENSION)), "Metrics", names);
        Map<String, Object> line = object(
                "_aws",
                object("Timestamp", at.toEpochMilli(), "CloudWatchMetrics", List.of(group)),
                Metric.DIMENSION,
                stack);
        line.putAll(values);
        out.println(Json.of(line));
    }

    /// Names and values by turns, in this order.
    private static Map<String, Object> object(Object... members) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < members.length; i += 2) {
            object.put((String) members[i], members[i + 1]);
        }
        return object;
    }
}
