package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.seal.DeliveryRules;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/// The deliveries that waited for a later time when this process started, with the times of their next tries:
/// see [DeliveryRules#firstMs]. Used under the courier's lock.
final class FirstTries {
    private final DeliveryRules rules;
    private final Map<BatchNumber, Long> times = new HashMap<>();

    FirstTries(DeliveryRules rules) {
        this.rules = rules;
    }

    /// The process begins to deliver.
    void begin(Collection<Handled> begun, long nowMs) {
        for (Handled handled : begun) {
            if (handled.delivery() instanceof Delivery.Waiting waiting) {
                long firstMs = rules.firstMs(waiting, nowMs);
                if (firstMs < waiting.notBeforeMs()) {
                    times.put(handled.number(), firstMs);
                }
            }
        }
    }

    /// A delivery, with the time of its next try.
    Handled timed(Handled handled) {
        Long firstMs = times.get(handled.number());
        return firstMs != null
                        && handled.delivery() instanceof Delivery.Waiting waiting
                        && firstMs < waiting.notBeforeMs()
                ? handled.with(new Delivery.Waiting(waiting.tries(), firstMs, waiting.reason()))
                : handled;
    }

    /// A try begins; returns whether it was brought forward.
    boolean take(BatchNumber number) {
        return times.remove(number) != null;
    }
}
