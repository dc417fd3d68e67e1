package dev.onefold.tables;

import java.util.concurrent.TimeUnit;

/// Limits spending to a rate over all threads: a thread that spends waits as long as its amount takes at the
/// rate.
public final class Rate {
    private final double perSecond;
    private long freeNanos = System.nanoTime();

    private Rate(double perSecond) {
        this.perSecond = perSecond;
    }

    /// @param perSecond above 0; 0 is without a limit
    public static Rate of(long perSecond) {
        return new Rate(perSecond);
    }

    /// The amount that may be spent in a second: at least 1, and [Integer#MAX_VALUE] without a limit.
    public int ofSecond() {
        return perSecond > 0 ? (int) Math.min(Math.max(1, perSecond), Integer.MAX_VALUE) : Integer.MAX_VALUE;
    }

    /// Spends an amount, and waits as long as it takes at the rate.
    public void spend(double amount) throws InterruptedException {
        if (perSecond > 0) {
            long wait = book(amount) - System.nanoTime();
            if (wait > 0) {
                TimeUnit.NANOSECONDS.sleep(wait);
            }
        }
    }

    private synchronized long book(double amount) {
        long nanos = Math.round(amount / perSecond * TimeUnit.SECONDS.toNanos(1));
        freeNanos = Math.max(freeNanos, System.nanoTime()) + nanos;
        return freeNanos;
    }
}
