package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.batches.Sealed;
import dev.onefold.embedded.rows.Forgotten;
import java.util.HashMap;
import java.util.Map;

/// When deliveries have ended, lets the batches note which ids may come again, if the pipeline forgets ids
/// after delivery. Guarded by its owner, the [Courier].
final class Endings {
    private final boolean forgets;
    private final Batches batches;
    private final Ledger ledger;
    private final Map<Long, Sealed> left = new HashMap<>(); // Batches that were begun and have not ended.
    private Forgotten noted = Forgotten.NONE;

    Endings(Batching batching, Batches batches, Ledger ledger) {
        forgets = batching.forget() instanceof Forget.AfterDelivery;
        this.batches = batches;
        this.ledger = ledger;
        noted = batches.forgotten();
    }

    /// Notes all ends that are durable: the caller has just forced the ledger.
    void note() {
        if (!forgets) {
            return;
        }
        long[] numbers = ledger.begun().keySet().stream()
                .mapToLong(BatchNumber::number)
                .distinct()
                .toArray();
        left.keySet().removeIf(number -> !ledger.begun().containsKey(BatchNumber.of(number)));
        long[] from = new long[numbers.length];
        long[] to = new long[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            Sealed sealed = left.computeIfAbsent(numbers[i], batches::sealed);
            from[i] = sealed.ordinal();
            to[i] = sealed.ordinal() + sealed.records();
        }
        Batches.Durable durable = batches.durable();
        long next = ledger.next();
        long below = next > durable.number()
                ? durable.ordinalNext()
                : batches.sealed(next).ordinal();
        Forgotten ended = new Forgotten(below, from, to);
        if (!ended.sameAs(noted)) {
            noted = ended;
            batches.ended(ended);
        }
    }
}
