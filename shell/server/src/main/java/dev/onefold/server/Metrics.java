package dev.onefold.server;

import dev.onefold.api.Routes.Permission;
import dev.onefold.api.Scope;
import dev.onefold.api.jwt.Reason;
import dev.onefold.core.Counts;
import dev.onefold.core.EngineException;
import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.Status;
import dev.onefold.core.Status.OfDelay;
import dev.onefold.core.Status.OfWrites;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The metrics that a Prometheus server reads. The engines keep plain counters, which are read for each answer.
/// This class counts the requests. No label has a value from a request or a record. Is thread-safe.
final class Metrics {
    private static final String PIPELINE = "pipeline";
    private static final String PREFIX = "onefold_";

    private final Map<String, Served> pipelines = new LinkedHashMap<>();
    private final Changes changes;
    private final Map<String, Rises> cameTo = new LinkedHashMap<>();
    private final ExpositionFormats formats = ExpositionFormats.init();
    private final Counter requests = Counter.builder()
            .name(PREFIX + "http_requests")
            .help("Requests, by the status of the answer.")
            .labelNames("status")
            .build();
    private final Counter refused = Counter.builder()
            .name(PREFIX + "http_tokens_refused")
            .help("Tokens of the issuer that were refused, by the reason.")
            .labelNames("reason")
            .build();
    private final Histogram acknowledged = delay(
            "http_acknowledge_seconds",
            "Time from the whole request to the answer that its records are durable and in the totals.");
    private final Histogram visible =
            delay("http_visible_seconds", "Time from the first byte of a request to the totals that have its records.");

    Metrics(List<Served> all, Changes changes) {
        for (Served each : all) {
            pipelines.put(each.engine().pipeline().name(), each);
            cameTo.put(each.engine().pipeline().name(), new Rises());
        }
        for (Reason reason : Reason.values()) {
            refused.initLabelValues(reason.words());
        }
        this.changes = changes;
    }

    /// Counts an answer.
    void answered(int status) {
        requests.labelValues(Integer.toString(status)).inc();
    }

    /// Counts a token that is not valid.
    void refused(Reason reason) {
        refused.labelValues(reason.words()).inc();
    }

    private static Histogram delay(String name, String help) {
        return Histogram.builder()
                .name(PREFIX + name)
                .help(help)
                .unit(Unit.SECONDS)
                .classicUpperBounds(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10)
                .labelNames(PIPELINE)
                .build();
    }

    /// Notes that the records of a request are durable and in the totals.
    ///
    /// @param arrival time since its first byte
    /// @param whole time since it was whole
    void acknowledged(String pipeline, Duration arrival, Duration whole) {
        visible.labelValues(pipeline).observe(arrival.toNanos() / 1e9);
        acknowledged.labelValues(pipeline).observe(whole.toNanos() / 1e9);
    }

    /// The status and the counters of a pipeline at one time.
    private record Seen(String pipeline, Served served, Status status, Map<String, Long> cameTo) {}

    /// All metrics that a caller may read.
    ///
    /// @param accepted the field Accept; may be `null`
    dev.onefold.api.Response answer(@Nullable String accepted, Permission permission) {
        List<Seen> all = new ArrayList<>();
        List<String> down = new ArrayList<>();
        pipelines.forEach((name, served) -> {
            if (permission.allows(name, Scope.READ)) {
                try {
                    Rises.Seen<Status> seen =
                            Objects.requireNonNull(cameTo.get(name)).see(served.engine()::status, Metrics::fates);
                    all.add(new Seen(name, served, seen.of(), seen.counters()));
                } catch (EngineException stopped) {
                    down.add(name);
                }
            }
        });
        List<MetricSnapshot> metrics = new ArrayList<>();
        metrics.add(up(all, down));
        metrics.add(records(all));
        gauges(metrics, all);
        metrics.add(batches(all));
        metrics.add(lags(all));
        logs(metrics, all);
        metrics.add(letters(all));
        metrics.add(summary(
                "force_seconds",
                "Forces of the journal.",
                all,
                writes -> new Times(writes.forces(), writes.forcesNanos())));
        metrics.add(summary(
                "checkpoint_seconds",
                "Checkpoints, from the cut until it is durable.",
                all,
                writes -> new Times(writes.checkpoints(), writes.checkpointsNanos())));
        metrics.add(delays(all));
        metrics.add(heap());
        metrics.add(requests.collect());
        metrics.add(refused.collect());
        metrics.add(ofPipelines(acknowledged.collect(), all));
        metrics.add(ofPipelines(visible.collect(), all));
        metrics.add(GaugeSnapshot.builder()
                .name(PREFIX + "http_changes_streams")
                .help("Readers of changes.")
                .dataPoint(GaugeDataPointSnapshot.builder()
                        .value(changes.streams())
                        .build())
                .build());
        MetricSnapshots snapshots = new MetricSnapshots(metrics);
        ExpositionFormatWriter writer = formats.findWriter(accepted);
        return new dev.onefold.api.Response(200, writer.getContentType(), out -> writer.write(out, snapshots));
    }

    private static void gauges(List<MetricSnapshot> metrics, List<Seen> all) {
        metrics.add(gauge("dead_letters", "Rejected records that are kept.", all, seen -> seen.status.deadLetters()));
        metrics.add(gauge("rows", "Keys that have a row.", all, seen -> seen.status.rows()));
        metrics.add(gauge("memory_bytes", "Memory of rows and index.", all, seen -> seen.status.stateBytes()));
        metrics.add(gauge("disk_bytes", "Files in the data directory.", all, seen -> seen.status.diskBytes()));
        metrics.add(gauge(
                "checkpoint_age_seconds",
                "Time since the last durable checkpoint.",
                all,
                seen -> seen.status.checkpointAge().toMillis() / 1e3));
        metrics.add(gauge(
                "waiting_for_space",
                "1 while the disk is full and intake waits.",
                all,
                seen -> seen.status.waitingForSpaceSince().isPresent() ? 1 : 0));
        metrics.add(gauge(
                "inputs_stopped",
                "Followed files and queues that are not read any more.",
                all,
                seen -> seen.served.troubles().get().size()));
    }

    private static GaugeSnapshot up(List<Seen> all, List<String> down) {
        GaugeSnapshot.Builder gauge =
                GaugeSnapshot.builder().name(PREFIX + "up").help("1 while the engine works, 0 once it has stopped.");
        all.forEach(seen -> gauge.dataPoint(GaugeDataPointSnapshot.builder()
                .labels(Labels.of(PIPELINE, seen.pipeline))
                .value(1)
                .build()));
        down.forEach(name -> gauge.dataPoint(GaugeDataPointSnapshot.builder()
                .labels(Labels.of(PIPELINE, name))
                .value(0)
                .build()));
        return gauge.build();
    }

    private static GaugeSnapshot gauge(String name, String help, List<Seen> all, ToDoubleFunction<Seen> value) {
        GaugeSnapshot.Builder gauge =
                GaugeSnapshot.builder().name(PREFIX + name).help(help);
        all.forEach(seen -> gauge.dataPoint(GaugeDataPointSnapshot.builder()
                .labels(Labels.of(PIPELINE, seen.pipeline))
                .value(value.applyAsDouble(seen))
                .build()));
        return gauge.build();
    }

    private static CounterSnapshot records(List<Seen> all) {
        CounterSnapshot.Builder counter = CounterSnapshot.builder()
                .name(PREFIX + "records")
                .help("Records, by what they came to, again if a redrive or another record changed it.");
        for (Seen seen : all) {
            seen.cameTo.forEach((name, count) -> {
                String[] parts = name.split(": ", 2);
                Labels fate = Labels.of(PIPELINE, seen.pipeline, "fate", parts[0]);
                counter.dataPoint(CounterDataPointSnapshot.builder()
                        .labels(parts.length == 1 ? fate : fate.merge(Labels.of("cause", parts[1])))
                        .value((double) count)
                        .build());
            });
        }
        return counter.build();
    }

    private static Map<String, Long> fates(Status status) {
        Counts counts = status.counts();
        Map<String, Long> fates = new LinkedHashMap<>();
        fates.put("accepted", counts.accepted());
        fates.put("duplicate", counts.duplicate());
        fates.put("stale", counts.stale());
        fates.put("conflicting", counts.conflicting());
        fates.put("rejected", counts.rejected());
        Map<String, Long> causes = status.causes().ofSilence();
        long named = causes.values().stream().mapToLong(Long::longValue).sum();
        fates.put("silent", Math.max(0, counts.silent() - named)); // Some of an earlier version have no cause.
        causes.forEach((cause, count) -> fates.put("silent: " + cause, count));
        return fates;
    }

    /// How many times there were, and their sum; the engine keeps no more of them.
    private record Times(long count, long nanos) {}

    private static SummarySnapshot summary(String name, String help, List<Seen> all, Function<OfWrites, Times> times) {
        SummarySnapshot.Builder summary =
                SummarySnapshot.builder().name(PREFIX + name).help(help).unit(Unit.SECONDS);
        for (Seen seen : all) {
            seen.status
                    .writes()
                    .map(times)
                    .ifPresent(known -> summary.dataPoint(SummaryDataPointSnapshot.builder()
                            .labels(Labels.of(PIPELINE, seen.pipeline))
                            .count(known.count)
                            .sum(known.nanos / 1e9)
                            .build()));
        }
        return summary.build();
    }

    private static SummarySnapshot delays(List<Seen> all) {
        SummarySnapshot.Builder summary = SummarySnapshot.builder()
                .name(PREFIX + "delay_seconds")
                .help("From the arrival of a record until a query sees it, by the way it came.")
                .unit(Unit.SECONDS);
        for (Seen seen : all) {
            for (OfDelay delay : seen.status.delays()) {
                summary.dataPoint(SummaryDataPointSnapshot.builder()
                        .labels(Labels.of(PIPELINE, seen.pipeline, "from", delay.from()))
                        .count(delay.records())
                        .sum((double) delay.meanMicros() * delay.records() / 1e6)
                        .quantiles(Quantiles.of(
                                new Quantile(0.5, delay.p50Micros() / 1e6),
                                new Quantile(0.99, delay.p99Micros() / 1e6),
                                new Quantile(1, delay.longestMicros() / 1e6)))
                        .build());
            }
        }
        return summary.build();
    }

    private static GaugeSnapshot heap() {
        Runtime runtime = Runtime.getRuntime();
        return GaugeSnapshot.builder()
                .name(PREFIX + "heap_bytes")
                .help("Memory of the Java heap that is in use.")
                .dataPoint(GaugeDataPointSnapshot.builder()
                        .value((double) (runtime.totalMemory() - runtime.freeMemory()))
                        .build())
                .build();
    }

    /// Of files alone: their paths are the operator's, and names of other sources are their senders'.
    private static GaugeSnapshot lags(List<Seen> all) {
        GaugeSnapshot.Builder gauge =
                GaugeSnapshot.builder().name(PREFIX + "lag_bytes").help("Growth of files since they were folded.");
        for (Seen seen : all) {
            seen.status
                    .lags()
                    .forEach((file, bytes) -> gauge.dataPoint(GaugeDataPointSnapshot.builder()
                            .labels(Labels.of(PIPELINE, seen.pipeline, "source", file))
                            .value(bytes)
                            .build()));
        }
        return gauge.build();
    }

    private static void logs(List<MetricSnapshot> metrics, List<Seen> all) {
        metrics.add(ofPartitions(
                "log_behind_offsets",
                "Offsets of a log that are not folded; -1: not known.",
                all,
                Status.OfPartition::behind));
        metrics.add(ofPartitions(
                "log_behind_seconds",
                "Age of the oldest record of a log that is not folded; -1: not known.",
                all,
                partition -> seconds(partition.behindMs())));
        metrics.add(ofPartitions(
                "log_retention_left_seconds",
                "Time until a log deletes that record; -1: not known, or no limit.",
                all,
                partition -> seconds(partition.retentionLeftMs())));
        metrics.add(ofPartitions(
                "log_waits",
                "1 while a partition of a log waits, such as for a transaction.",
                all,
                partition -> partition.waits().isEmpty() ? 0 : 1));
        metrics.add(ofPartitions(
                "log_stopped",
                "1 if a partition of a log is not read any more.",
                all,
                partition -> partition.stopped().isEmpty() ? 0 : 1));
    }

    private static long seconds(long ms) {
        return ms < 0 ? -1 : ms / 1_000;
    }

    private static GaugeSnapshot ofPartitions(
            String name, String help, List<Seen> all, ToLongFunction<Status.OfPartition> value) {
        GaugeSnapshot.Builder gauge =
                GaugeSnapshot.builder().name(PREFIX + name).help(help);
        for (Seen seen : all) {
            seen.status
                    .logs()
                    .forEach(partition -> gauge.dataPoint(GaugeDataPointSnapshot.builder()
                            .labels(Labels.of(PIPELINE, seen.pipeline, "source", partition.source()))
                            .value((double) value.applyAsLong(partition))
                            .build()));
        }
        return gauge.build();
    }

    private static GaugeSnapshot letters(List<Seen> all) {
        GaugeSnapshot.Builder gauge = GaugeSnapshot.builder()
                .name(PREFIX + "dead_letters_by_reason")
                .help("Rejected records that are kept, of the first 100,000, by their reason.");
        for (Seen seen : all) {
            seen.status
                    .deadLettersByReason()
                    .forEach((reason, count) -> gauge.dataPoint(GaugeDataPointSnapshot.builder()
                            .labels(Labels.of(PIPELINE, seen.pipeline, "reason", reason.words()))
                            .value(count)
                            .build()));
        }
        return gauge.build();
    }

    private static GaugeSnapshot batches(List<Seen> all) {
        GaugeSnapshot.Builder gauge =
                GaugeSnapshot.builder().name(PREFIX + "batches").help("Batches that are not done, by their state.");
        for (Seen seen : all) {
            seen.status
                    .batches()
                    .ifPresent(summary -> states(summary)
                            .forEach((state, count) -> gauge.dataPoint(GaugeDataPointSnapshot.builder()
                                    .labels(Labels.of(PIPELINE, seen.pipeline, "state", state))
                                    .value(count)
                                    .build())));
        }
        return gauge.build();
    }

    private static Map<String, Long> states(Summary summary) {
        Map<String, Long> states = new LinkedHashMap<>();
        states.put("waiting", summary.waiting());
        states.put("delivering", (long) summary.delivering());
        states.put("in_doubt", (long) summary.inDoubt());
        states.put("aside", (long) summary.aside());
        return states;
    }

    private static HistogramSnapshot ofPipelines(HistogramSnapshot all, List<Seen> seen) {
        Stream<HistogramSnapshot.HistogramDataPointSnapshot> allowed = all.getDataPoints().stream()
                .filter(point -> seen.stream()
                        .anyMatch(each -> each.pipeline.equals(point.getLabels().get(PIPELINE))));
        return new HistogramSnapshot(all.getMetadata(), allowed.toList());
    }
}
