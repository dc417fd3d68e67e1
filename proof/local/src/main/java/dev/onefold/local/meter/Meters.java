package dev.onefold.local.meter;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/// Counts what is used, by metric and minute. Any thread.
public final class Meters {
    private static final int MINUTE_SECONDS = 60;

    private final InstantSource clock;
    private final ConcurrentHashMap<Metric, ConcurrentSkipListMap<Long, SortedMap<Double, Long>>> minutes =
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

    /// The values of a metric in some time: how often each was there.
    public record Statistics(SortedMap<Double, Long> values) {
        /// How many values there are.
        public long count() {
            return values.values().stream().mapToLong(Long::longValue).sum();
        }

        /// All values added up.
        public double sum() {
            return values.entrySet().stream()
                    .mapToDouble(value -> value.getKey() * value.getValue())
                    .sum();
        }

        /// The least value that so many of a hundred do not exceed; of at least one value.
        ///
        /// @param hundredths from 0 to 100
        public double percentile(double hundredths) {
            double wanted = count() * hundredths / 100;
            long seen = 0;
            for (Map.Entry<Double, Long> value : values.entrySet()) {
                seen += value.getValue();
                if (seen >= wanted) {
                    return value.getKey();
                }
            }
            return values.lastKey();
        }
    }

    /// Meters that have counted nothing.
    public Meters(InstantSource clock) {
        this.clock = clock;
    }

    /// Counts one value, now.
    public void add(Metric metric, double value) {
        add(metric, value, 1);
    }

    /// Counts a value that was there several times, now.
    public void add(Metric metric, double value, long times) {
        long minute = Math.floorDiv(clock.instant().getEpochSecond(), MINUTE_SECONDS);
        minutes.computeIfAbsent(metric, _ -> new ConcurrentSkipListMap<>())
                .computeIfAbsent(minute, _ -> new ConcurrentSkipListMap<>())
                .merge(value, times, Long::sum);
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
        NavigableMap<Instant, Statistics> periods = new TreeMap<>();
        ConcurrentSkipListMap<Long, SortedMap<Double, Long>> all = minutes.get(metric);
        if (all != null) {
            all.tailMap(first / MINUTE_SECONDS).forEach((minute, values) -> {
                long second = minute * MINUTE_SECONDS;
                if (second < end.getEpochSecond()) {
                    long period = first + (second - first) / periodSeconds * periodSeconds;
                    SortedMap<Double, Long> sums = periods.computeIfAbsent(
                                    Instant.ofEpochSecond(period), _ -> new Statistics(new TreeMap<>()))
                            .values();
                    values.forEach((value, times) -> sums.merge(value, times, Long::sum));
                }
            });
        }
        return periods;
    }
}
