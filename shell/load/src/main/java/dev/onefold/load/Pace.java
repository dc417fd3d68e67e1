package dev.onefold.load;

import java.util.concurrent.TimeUnit;

/// Holds a producer to so many messages a second. They go out in batches, and a producer that was held up catches
/// up one second's worth at most. Moments are nanoseconds of [System#nanoTime]. Not thread-safe.
public final class Pace {
    static final long RATE_MAX = 1_000_000_000;

    private static final long BATCHES_PER_SECOND = 50;
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long CATCH_UP_NANOS_MAX = SECOND_NANOS;

    private final long rate;
    private long startNanos;
    private long sent;
    private long inBatch;

    /// @param rate messages a second; 0: as fast as possible
    public Pace(long rate, long nowNanos) {
        if (rate < 0 || rate > RATE_MAX) {
            throw new IllegalArgumentException(
                    "The rate %,d is not from 1 to %,d messages a second.".formatted(rate, RATE_MAX));
        }
        this.rate = rate;
        startNanos = nowNanos;
    }

    /// Notes messages that were sent, and waits until the next ones are due.
    public void keep(long messages) throws InterruptedException {
        inBatch += messages;
        if (rate > 0 && inBatch >= batch(inBatch)) {
            sent(inBatch);
            inBatch = 0;
            TimeUnit.NANOSECONDS.sleep(delayNanos(System.nanoTime()));
        }
    }

    /// How many messages go out together.
    ///
    /// @param most how many if nothing limits them
    public long batch(long most) {
        return rate == 0 ? most : Math.max(1, rate / BATCHES_PER_SECOND);
    }

    /// How long to wait before the next batch; not positive when it is due.
    long delayNanos(long nowNanos) {
        long dueNanos = startNanos + sent / rate * SECOND_NANOS + sent % rate * SECOND_NANOS / rate;
        long delayNanos = dueNanos - nowNanos;
        if (delayNanos < -CATCH_UP_NANOS_MAX) {
            startNanos -= delayNanos + CATCH_UP_NANOS_MAX;
            return -CATCH_UP_NANOS_MAX;
        }
        return delayNanos;
    }

    void sent(long messages) {
        sent += messages;
    }
}
