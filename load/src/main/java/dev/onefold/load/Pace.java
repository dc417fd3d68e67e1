package dev.onefold.load;

import java.util.concurrent.TimeUnit;

/// When the next batch of messages is due, for so many messages a second. It reads no clock itself: moments are
/// nanoseconds of one clock, given by the caller. A producer that was held up catches up one second's worth at most.
public final class Pace {
    static final long RATE_MAX = 1_000_000_000;

    private static final long BATCHES_PER_SECOND = 50;
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long CATCH_UP_NANOS_MAX = SECOND_NANOS;

    private final long rate;
    private long startNanos;
    private long sent;

    /// @param rate messages a second
    public Pace(long rate, long nowNanos) {
        if (rate < 1 || rate > RATE_MAX) {
            throw new IllegalArgumentException(
                    "The rate %,d is not from 1 to %,d messages a second.".formatted(rate, RATE_MAX));
        }
        this.rate = rate;
        startNanos = nowNanos;
    }

    /// How many messages go out together.
    public long batch() {
        return Math.max(1, rate / BATCHES_PER_SECOND);
    }

    /// How long to wait before the next batch; not positive when it is due.
    public long delayNanos(long nowNanos) {
        long dueNanos = startNanos + sent / rate * SECOND_NANOS + sent % rate * SECOND_NANOS / rate;
        long delayNanos = dueNanos - nowNanos;
        if (delayNanos < -CATCH_UP_NANOS_MAX) {
            startNanos -= delayNanos + CATCH_UP_NANOS_MAX;
            return -CATCH_UP_NANOS_MAX;
        }
        return delayNanos;
    }

    public void sent(long messages) {
        sent += messages;
    }
}
