package dev.onefold.server.flow;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// How many requests a caller may send in a second. As many more may come at once after a pause. Any thread may call.
public final class Rate {
    private final long nanosEach;
    private final AtomicLong freeNanos = new AtomicLong(Long.MIN_VALUE); // When all so far have had their time.

    /// @param perSecond 1 or more
    public Rate(int perSecond) {
        nanosEach = TimeUnit.SECONDS.toNanos(1) / perSecond;
    }

    /// Whether a request may be answered now.
    ///
    /// @param nowNanos of a clock that never goes back
    public boolean tryTake(long nowNanos) {
        while (true) {
            long free = freeNanos.get();
            long from = free == Long.MIN_VALUE || free - nowNanos < 0 ? nowNanos : free;
            if (from - nowNanos > TimeUnit.SECONDS.toNanos(1) - nanosEach) {
                return false;
            }
            if (freeNanos.compareAndSet(free, from + nanosEach)) {
                return true;
            }
        }
    }
}
