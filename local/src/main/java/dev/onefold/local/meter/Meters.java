package dev.onefold.local.meter;

import java.time.Instant;
import java.time.InstantSource;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/// Counts what is used, by metric and minute. Any thread.
public final class Meters {
    private static final int MINUTE_SECONDS = 60;

    private final InstantSource clock;
    private final ConcurrentHashMap<Metric, ConcurrentSkipListMap<Long, Statistics>> minutes =
            new ConcurrentHashMap<>();

    /// What is counted: a metric of one resource.
    ///
    /// @param namespace of the service, such as `AWS/Lambda`
    /// @param dimension name of the dimension that tells resources apart, such as `FunctionName`
    /// @param resource the value of that dimension
    public record Metric(String namespace, String name, String dimension, String resource)
            implements Comparable<Metric> {
        @Override
        public int compareTo(Metric other) {
            return toString().compareTo(other.toString());
        }
    }

    /// The values of a metric in some time. Without a value `min` and `max` are infinite.
    public record Statistics(long count, double sum, double min, double max) {
        /// No value.
        public static final Statistics NONE =
                new Statistics(0, 0, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);

        Statistics plus(Statistics other) {
            return new Statistics(
                    count + other.count, sum + other.sum, Math.min(min, other.min), Math.max(max, other.max));
        }
    }

    /// Meters that have counted nothing.
    public Meters(InstantSource clock) {
        this.clock = clock;
    }

    /// Counts one value, now.
    public void add(Metric metric, double value) {
        long minute = Math.floorDiv(clock.instant().getEpochSecond(), MINUTE_SECONDS);
        minutes.computeIfAbsent(metric, _ -> new ConcurrentSkipListMap<>())
                .merge(minute, new Statistics(1, value, value, value), Statistics::plus);
    }

    /// All metrics that have a value.
    public Set<Metric> metrics() {
        return new TreeSet<>(minutes.keySet());
    }

    /// The values of each period that has some, by the period's begin.
    ///
    /// @param start of the first period, inclusive
    /// @param end exclusive
    /// @param periodSeconds a multiple of 60
    public NavigableMap<Instant, Statistics> read(Metric metric, Instant start, Instant end, int periodSeconds) {
        if (periodSeconds < MINUTE_SECONDS || periodSeconds % MINUTE_SECONDS != 0) {
            throw new IllegalArgumentException("A period of " + periodSeconds + " s is no multiple of 60 s");
        }
        long first = Math.floorDiv(start.getEpochSecond(), MINUTE_SECONDS) * MINUTE_SECONDS;
        NavigableMap<Instant, Statistics> periods = new ConcurrentSkipListMap<>();
        ConcurrentSkipListMap<Long, Statistics> all = minutes.get(metric);
        if (all != null) {
            all.tailMap(first / MINUTE_SECONDS).forEach((minute, values) -> {
                long second = minute * MINUTE_SECONDS;
                if (second < end.getEpochSecond()) {
                    long period = first + (second - first) / periodSeconds * periodSeconds;
                    periods.merge(Instant.ofEpochSecond(period), values, Statistics::plus);
                }
            });
        }
        return periods;
    }
}
