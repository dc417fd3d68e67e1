package dev.onefold.aws.function;

import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Metric;
import java.time.InstantSource;
import java.util.Map;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/// Failures on purpose, for a trial: so many invocations in a million fail. Half of them fail before they do
/// anything. The other half fail after all of it, as if their answer were lost. Not thread-safe.
final class InjectedFailures {
    private static final int MILLION = 1_000_000;

    private final int ofMillion;
    private final Metrics metrics;
    private final InstantSource clock;
    private final RandomGenerator random;

    /// Of the invocations of a function that works on this store.
    static InjectedFailures of(int ofMillion, Store store, Metrics metrics) {
        return new InjectedFailures(ofMillion, metrics, store.clock(), store.random());
    }

    /// Says in the log that invocations will fail, if they will.
    ///
    /// @param ofMillion from 0 to a million
    /// @param random must not repeat itself in two processes that start from one snapshot
    InjectedFailures(int ofMillion, Metrics metrics, InstantSource clock, RandomGenerator random) {
        this.ofMillion = ofMillion;
        this.metrics = metrics;
        this.clock = clock;
        this.random = random;
        if (ofMillion > 0) {
            metrics.log("WARN Of a million invocations " + ofMillion + " fail on purpose: a parameter of the"
                    + " template, such as FailStatePercent, is not 0. That is for trials.");
        }
    }

    /// Does an invocation, unless its lot is to fail.
    ///
    /// @return its answer
    byte[] around(Supplier<byte[]> invocation) {
        boolean fails = ofMillion > 0 && random.nextInt(MILLION) < ofMillion;
        boolean isBefore = fails && random.nextBoolean();
        if (isBefore) {
            throw failure("before it has written anything");
        }
        byte[] answer = invocation.get();
        if (fails) {
            throw failure("after it has written everything");
        }
        return answer;
    }

    private IllegalStateException failure(String when) {
        metrics.write(clock.instant(), Map.of(Metric.InjectedFailures, 1L));
        return new IllegalStateException("This invocation fails on purpose, " + when + ".");
    }
}
