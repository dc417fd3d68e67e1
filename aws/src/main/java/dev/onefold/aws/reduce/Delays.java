package dev.onefold.aws.reduce;

import dev.onefold.aws.item.ArrivalTimes;
import java.time.Instant;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/// How long records took from the stream's taking them until the totals had them: a histogram whose steps are a
/// tenth of a second up to [#FINE_MS], and three tenths of their value beyond. Each step is there with its upper
/// end, so no delay looks shorter than it was. Any thread.
public final class Delays {
    /// Up to here each step is as fine as arrival times are.
    private static final long FINE_MS = 5_000;

    private final TreeMap<Long, Long> counts = new TreeMap<>();

    /// Records that came then are visible since `now`. A clock that is behind the stream's makes that no delay.
    synchronized void add(ArrivalTimes arrivals, Instant now) {
        for (int step = 0; step < arrivals.counts().length; step++) {
            if (arrivals.counts()[step] > 0) {
                long at = arrivals.firstMs() + (long) step * ArrivalTimes.STEP_MS;
                long ms = Math.max(0, now.toEpochMilli() - at);
                counts.merge(upperEnd(ms), (long) arrivals.counts()[step], Long::sum);
            }
        }
    }

    private static long upperEnd(long ms) {
        long end = Math.min(FINE_MS, (ms / ArrivalTimes.STEP_MS + 1) * ArrivalTimes.STEP_MS);
        while (end <= ms) {
            end += end * 3 / 10;
        }
        return end;
    }

    /// Records by the upper end of their step, in milliseconds; at most 100 steps for all delays of a week and less.
    public synchronized SortedMap<Long, Long> counts() {
        return Collections.unmodifiableSortedMap(new TreeMap<>(counts));
    }
}
