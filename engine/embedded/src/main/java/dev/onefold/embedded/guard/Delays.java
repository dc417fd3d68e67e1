package dev.onefold.embedded.guard;

import dev.onefold.core.Status.OfDelay;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.LongStream;

/// Delays of records, also of rejected ones, from their arrival until a query, or a letter, shows them. Is thread-safe.
public final class Delays {
    /// The ways in which records come.
    public enum From {
        REQUESTS,
        FILES,
        LOGS,
        QUEUES
    }

    private final InstantSource clock;
    private final Map<From, Histogram> histograms = new EnumMap<>(From.class);

    public Delays(InstantSource clock) {
        this.clock = clock;
    }

    /// The time now, in microseconds since 1970.
    public long nowMicros() {
        Instant now = clock.instant();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }

    /// Notes that records can be seen from now on.
    ///
    /// @param arrivedMicros when they arrived; if another machine's clock says that it is to come, the delay is
    ///     0
    public void note(From from, long arrivedMicros, long records) {
        note(from, arrivedMicros, nowMicros(), records);
    }

    private synchronized void note(From from, long arrivedMicros, long nowMicros, long records) {
        if (records > 0) {
            histograms.computeIfAbsent(from, _ -> new Histogram()).add(Math.max(0, nowMicros - arrivedMicros), records);
        }
    }

    /// Notes that records can be seen from now on.
    ///
    /// @param arrivedMs when each of them arrived, as its log or queue says, in milliseconds since 1970; those
    ///     that are negative are not known. A producer of a log may say any number
    public synchronized void note(From from, LongStream arrivedMs) {
        long now = nowMicros();
        Histogram histogram = histograms.computeIfAbsent(from, _ -> new Histogram());
        arrivedMs.filter(ms -> ms >= 0).forEach(ms -> histogram.add(now - (ms > now / 1_000 ? now : ms * 1_000), 1));
    }

    /// The delays so far, in the order of the ways.
    public synchronized List<OfDelay> all() {
        List<OfDelay> all = new ArrayList<>();
        histograms.forEach((from, histogram) -> {
            if (histogram.records > 0) {
                all.add(histogram.of(from.name().toLowerCase(Locale.ROOT)));
            }
        });
        return all;
    }

    /// Counts of delays in buckets, eight for each power of two of microseconds.
    private static final class Histogram {
        private static final int BITS = 3;

        private final long[] counts = new long[bucket(Long.MAX_VALUE) + 1];
        private long records;
        private double sum;
        private long longest;

        /// The number of a delay's bucket: its highest bit, and the three bits behind it.
        private static int bucket(long micros) {
            int shift = Math.max(0, Long.SIZE - BITS - 1 - Long.numberOfLeadingZeros(micros));
            return (shift << BITS) + (int) (micros >>> shift);
        }

        /// The longest delay of a bucket.
        private static long end(int bucket) {
            int shift = Math.max(0, (bucket >> BITS) - 1);
            return ((bucket - ((long) shift << BITS) + 1) << shift) - 1;
        }

        void add(long micros, long more) {
            counts[bucket(micros)] += more;
            records += more;
            sum += (double) micros * more;
            longest = Math.max(longest, micros);
        }

        private long percentile(int percent) {
            long rank = Math.ceilDiv(records * percent, 100);
            int bucket = 0;
            for (long seen = counts[0]; seen < rank; seen += counts[bucket]) {
                bucket++;
            }
            return Math.min(end(bucket), longest);
        }

        OfDelay of(String from) {
            return new OfDelay(from, records, Math.round(sum / records), percentile(50), percentile(99), longest);
        }
    }
}
