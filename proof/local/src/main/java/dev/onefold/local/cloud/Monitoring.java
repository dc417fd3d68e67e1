package dev.onefold.local.cloud;

import com.sun.net.httpserver.HttpExchange;
import dev.onefold.local.meter.Meters;
import dev.onefold.local.meter.Meters.Metric;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The API of CloudWatch, as much of it as reading metrics needs: `GetMetricData` and `ListMetrics`, in the protocol
/// `rpc-v2-cbor`. What it does not do it refuses. Any thread.
final class Monitoring {
    private static final int QUERIES_MAX = 500;

    /// A bucket's requests have it as a second dimension, which is the whole bucket here.
    private static final String FILTER = "FilterId";

    private final Meters meters;

    Monitoring(Meters meters) {
        this.meters = meters;
    }

    /// Answers a request.
    void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            int status = 200;
            Map<String, ?> answer;
            try {
                Map<?, ?> asked = Cbor.read(exchange.getRequestBody().readAllBytes());
                answer = answer(path.substring(path.lastIndexOf('/') + 1), asked);
            } catch (Refusal refused) {
                status = 400;
                answer = Map.of(
                        "__type", "com.amazonaws.cloudwatch#" + refused.code(),
                        "message", refused.message(),
                        "Message", refused.message());
            }
            byte[] body = Cbor.write(answer);
            exchange.getResponseHeaders().set("Content-Type", "application/cbor");
            exchange.getResponseHeaders().set("smithy-protocol", "rpc-v2-cbor");
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private Map<String, ?> answer(String operation, Map<?, ?> asked) {
        return switch (operation) {
            case "GetMetricData" -> data(asked);
            case "ListMetrics" -> list(asked);
            default ->
                throw new Refusal(
                        "InvalidAction",
                        "The stand-in for CloudWatch does not do " + operation
                                + ": it knows GetMetricData and ListMetrics");
        };
    }

    private static Refusal invalid(String message) {
        return new Refusal("InvalidParameterValueException", message);
    }

    private static void requireOnly(Map<?, ?> asked, String... known) {
        asked.keySet().forEach(name -> {
            if (!List.of(known).contains(name.toString())) {
                throw invalid("The stand-in for CloudWatch does not know '" + name + "' of a request");
            }
        });
    }

    private static <T> T part(Map<?, ?> asked, String name, Class<T> type) {
        Object part = asked.get(name);
        if (!type.isInstance(part)) {
            throw invalid("The request has no " + name + " that is as it should be: " + part);
        }
        return type.cast(part);
    }

    private Map<String, ?> data(Map<?, ?> asked) {
        requireOnly(asked, "MetricDataQueries", "StartTime", "EndTime", "ScanBy");
        Instant start = part(asked, "StartTime", Instant.class);
        Instant end = part(asked, "EndTime", Instant.class);
        List<?> queries = part(asked, "MetricDataQueries", List.class);
        boolean ascending = "TimestampAscending".equals(asked.get("ScanBy"));
        if (!start.isBefore(end) || queries.isEmpty() || queries.size() > QUERIES_MAX) {
            throw invalid("StartTime must be before EndTime, and there are 1 to " + QUERIES_MAX + " queries: " + start
                    + ", " + end + ", " + queries.size());
        }
        List<Map<String, ?>> results = new ArrayList<>();
        for (Object query : queries) {
            if (!(query instanceof Map<?, ?> parts)) {
                throw invalid("A query is no structure: " + query);
            }
            results.add(result(parts, start, end, ascending));
        }
        return Map.of("MetricDataResults", results, "Messages", List.of());
    }

    private Map<String, ?> result(Map<?, ?> query, Instant start, Instant end, boolean ascending) {
        requireOnly(query, "Id", "MetricStat", "Label", "ReturnData");
        Map<?, ?> wanted = part(query, "MetricStat", Map.class);
        requireOnly(wanted, "Metric", "Period", "Stat", "Unit");
        Map<?, ?> metric = part(wanted, "Metric", Map.class);
        int seconds = part(wanted, "Period", Long.class).intValue();
        String statistic = part(wanted, "Stat", String.class);
        NavigableMap<Instant, Meters.Statistics> periods;
        try {
            periods = find(metric)
                    .map(found -> meters.read(found, start, end, seconds))
                    .orElseGet(TreeMap::new);
        } catch (IllegalArgumentException e) {
            throw invalid(String.valueOf(e.getMessage()));
        }
        List<Instant> timestamps = new ArrayList<>();
        List<Double> values = new ArrayList<>();
        (ascending ? periods : periods.descendingMap()).forEach((time, statistics) -> {
            timestamps.add(time);
            values.add(value(statistic, statistics));
        });
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("Id", part(query, "Id", String.class));
        Object label = query.get("Label");
        result.put("Label", label == null ? part(metric, "MetricName", String.class) : label);
        result.put("Timestamps", timestamps);
        result.put("Values", values);
        result.put("StatusCode", "Complete");
        return result;
    }

    private static double value(String statistic, Meters.Statistics values) {
        return switch (statistic) {
            case "Sum" -> values.sum();
            case "SampleCount" -> values.count();
            case "Average" -> values.sum() / values.count();
            case "Minimum" -> values.percentile(0);
            case "Maximum" -> values.percentile(100);
            default -> {
                if (!statistic.matches("p[0-9]{1,2}([.][0-9]{1,10})?")) {
                    throw invalid("The stand-in for CloudWatch does not know the statistic '" + statistic + "'");
                }
                yield values.percentile(Double.parseDouble(statistic.substring(1)));
            }
        };
    }

    /// One of a resource; a metric over all resources is not known, as on AWS.
    private Optional<Metric> find(Map<?, ?> metric) {
        String namespace = part(metric, "Namespace", String.class);
        String name = part(metric, "MetricName", String.class);
        Map<String, String> dimensions = dimensions(metric);
        dimensions.remove(FILTER);
        return dimensions.size() == 1
                ? dimensions.entrySet().stream()
                        .map(dimension -> new Metric(namespace, name, dimension.getKey(), dimension.getValue()))
                        .findFirst()
                : Optional.empty();
    }

    private static Map<String, String> dimensions(Map<?, ?> asked) {
        Map<String, String> dimensions = new TreeMap<>();
        if (asked.get("Dimensions") instanceof List<?> list) {
            for (Object dimension : list) {
                if (dimension instanceof Map<?, ?> parts) {
                    Object value = parts.get("Value");
                    dimensions.put(part(parts, "Name", String.class), value == null ? "" : value.toString());
                }
            }
        }
        return dimensions;
    }

    private Map<String, ?> list(Map<?, ?> asked) {
        requireOnly(asked, "Namespace", "MetricName", "Dimensions", "RecentlyActive");
        Map<String, String> wanted = dimensions(asked);
        List<Map<String, ?>> found = new ArrayList<>();
        for (Metric metric : meters.metrics()) {
            boolean isWanted = isSame(asked.get("Namespace"), metric.namespace())
                    && isSame(asked.get("MetricName"), metric.name())
                    && wanted.entrySet().stream()
                            .allMatch(dimension -> dimension.getKey().equals(metric.dimension())
                                    && (dimension.getValue().isEmpty()
                                            || dimension.getValue().equals(metric.resource())));
            if (isWanted) {
                found.add(Map.of(
                        "Namespace", metric.namespace(),
                        "MetricName", metric.name(),
                        "Dimensions", List.of(Map.of("Name", metric.dimension(), "Value", metric.resource()))));
            }
        }
        return Map.of("Metrics", found);
    }

    private static boolean isSame(@Nullable Object wanted, String is) {
        return wanted == null || wanted.equals(is);
    }
}
