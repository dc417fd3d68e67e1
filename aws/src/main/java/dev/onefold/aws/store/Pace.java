package dev.onefold.aws.store;

import java.time.Duration;

/// How long a process waits between large transactions on a busy table. A throttled transaction may have taken
/// units of the partitions that were not busy. So the table takes most if some transactions are throttled, and
/// few: the wait grows with each one that is, and shrinks slowly. At its longest an invocation of some thousand
/// messages still ends in time. Any thread may call.
public final class Pace {
    private static final long MS_MIN = 60;
    private static final long MS_MAX = 3_000;

    /// With these, one transaction in nine is throttled.
    private static final int GROWS_BY_ONE_IN = 3;

    private static final int SHRINKS_BY_ONE_IN = 28;

    private final Store store;
    private volatile long ms;

    public Pace(Store store) {
        this.store = store;
    }

    /// Waits, if transactions were throttled lately.
    ///
    /// @return whether it has waited
    public boolean pause() {
        long now = ms;
        if (now > 0) {
            store.threads().pause(Duration.ofMillis(now / 2 + store.random().nextLong(now)));
        }
        return now > 0;
    }

    /// Notes the end of transactions that were sent together.
    public void after(boolean isThrottled) {
        long next = isThrottled ? Math.clamp(ms + ms / GROWS_BY_ONE_IN, MS_MIN, MS_MAX) : ms - ms / SHRINKS_BY_ONE_IN;
        ms = next < MS_MIN ? 0 : next;
    }
}
