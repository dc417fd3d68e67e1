package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import dev.onefold.aws.template.Metric;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.cloudwatch.model.Dimension;
import software.amazon.awssdk.services.cloudwatch.model.GetMetricDataResponse;
import software.amazon.awssdk.services.cloudwatch.model.MetricDataQuery;

/// The figures of a deployment in CloudWatch, which are some seconds to minutes late. Is not thread-safe.
final class Figures {
    private static final int PERIOD_SECONDS = 60;

    private final CloudWatchAsyncClient client;
    private final String stack;
    private final List<String> functions;
    private final List<String> tables;
    private long asked;

    /// @param functions their names
    /// @param tables their names
    Figures(CloudWatchAsyncClient client, String stack, List<String> functions, List<String> tables) {
        this.client = client;
        this.stack = stack;
        this.functions = List.copyOf(functions);
        this.tables = List.copyOf(tables);
    }

    /// The records of an interval of a minute or two, and their delay from the stream until the totals.
    ///
    /// @param records records a second that the first function took
    /// @param delayMsMean mean delay; negative if there is none
    /// @param delayMsP99 99th percentile of the delay in the worst minute
    record Flow(long records, long delayMsMean, long delayMsP99, long delayMsMax, long injected) {
        boolean hasDelay() {
            return delayMsMean >= 0;
        }
    }

    /// The usage of the services.
    ///
    /// @param functionMs milliseconds for which functions ran
    record Usage(
            long records,
            long injected,
            long writeUnits,
            long readUnits,
            long invocations,
            long functionMs,
            long asked) {}

    /// A statistic of one of our own metrics.
    private MetricDataQuery ours(String id, Metric metric, String statistic) {
        return query(id, Metric.NAMESPACE + "/" + metric.name(), Metric.DIMENSION, stack, statistic);
    }

    /// A statistic of a metric, of which the namespace is the part before the last slash.
    private static MetricDataQuery query(String id, String metric, String dimension, String value, String statistic) {
        int slash = metric.lastIndexOf('/');
        return MetricDataQuery.builder()
                .id(id)
                .metricStat(stat -> stat.period(PERIOD_SECONDS)
                        .stat(statistic)
                        .metric(of -> of.namespace(metric.substring(0, slash))
                                .metricName(metric.substring(slash + 1))
                                .dimensions(Dimension.builder()
                                        .name(dimension)
                                        .value(value)
                                        .build())))
                .build();
    }

    /// The flow between two times, from the beginning of the first minute.
    Flow flow(Instant from, Instant to) {
        Instant start = from.truncatedTo(ChronoUnit.MINUTES);
        Map<String, List<Double>> read = read(
                List.of(
                        ours("records", Metric.Records, "Sum"),
                        ours("injected", Metric.InjectedFailures, "Sum"),
                        ours("delaysum", Metric.DelayMs, "Sum"),
                        ours("delaycount", Metric.DelayMs, "SampleCount"),
                        ours("p99", Metric.DelayMs, "p99"),
                        ours("max", Metric.DelayMs, "Maximum")),
                start,
                to);
        long ms = Math.max(
                1_000, Duration.between(from.isAfter(start) ? from : start, to).toMillis());
        long count = sum(read, "delaycount");
        return new Flow(
                sum(read, "records") * 1_000 / ms,
                count == 0 ? -1 : sum(read, "delaysum") / count,
                max(read, "p99"),
                max(read, "max"),
                sum(read, "injected"));
    }

    /// The usage between two times, from the beginning of the first minute.
    Usage usage(Instant from, Instant to) {
        List<MetricDataQuery> queries = new ArrayList<>(
                List.of(ours("records", Metric.Records, "Sum"), ours("injected", Metric.InjectedFailures, "Sum")));
        for (int i = 0; i < tables.size(); i++) {
            String name = tables.get(i);
            queries.add(query("w" + i, "AWS/DynamoDB/ConsumedWriteCapacityUnits", "TableName", name, "Sum"));
            queries.add(query("r" + i, "AWS/DynamoDB/ConsumedReadCapacityUnits", "TableName", name, "Sum"));
        }
        for (int i = 0; i < functions.size(); i++) {
            queries.add(query("i" + i, "AWS/Lambda/Invocations", "FunctionName", functions.get(i), "Sum"));
            queries.add(query("d" + i, "AWS/Lambda/Duration", "FunctionName", functions.get(i), "Sum"));
        }
        Map<String, List<Double>> read = read(queries, from.truncatedTo(ChronoUnit.MINUTES), to);
        return new Usage(
                sum(read, "records"),
                sum(read, "injected"),
                sum(read, "w", tables.size()),
                sum(read, "r", tables.size()),
                sum(read, "i", functions.size()),
                sum(read, "d", functions.size()),
                asked);
    }

    private Map<String, List<Double>> read(List<MetricDataQuery> queries, Instant from, Instant to) {
        Map<String, List<Double>> values = new HashMap<>();
        String token = null;
        do {
            String after = token;
            GetMetricDataResponse page =
                    Connection.THREADS.await(client.getMetricData(request -> request.metricDataQueries(queries)
                            .startTime(from)
                            .endTime(to.plusSeconds(1))
                            .nextToken(after)));
            asked += queries.size();
            page.metricDataResults()
                    .forEach(result -> values.computeIfAbsent(result.id(), _ -> new ArrayList<>())
                            .addAll(result.values()));
            token = page.nextToken();
        } while (token != null && !token.isEmpty());
        return values;
    }

    private static long sum(Map<String, List<Double>> values, String kind, int parts) {
        return IntStream.range(0, parts)
                .mapToLong(part -> sum(values, kind + part))
                .sum();
    }

    private static long sum(Map<String, List<Double>> values, String id) {
        return Math.round(values.getOrDefault(id, List.of()).stream()
                .mapToDouble(Double::doubleValue)
                .sum());
    }

    private static long max(Map<String, List<Double>> values, String id) {
        return Math.round(values.getOrDefault(id, List.of()).stream()
                .mapToDouble(Double::doubleValue)
                .max()
                .orElse(0));
    }
}
