package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Members;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Order;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.batches.Sealed;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/// Decides which delivery is tried next, by the order of the pipeline. Guarded by its owner, the [Courier].
///
/// With an order by key, a delivery is tried while no earlier one that has not ended shares a key with it. It
/// holds its keys from the moment when its batch is sealed until it has ended, whatever it waits for: its first
/// try, the next one, a person, or an earlier delivery. `KeyOrderModelTest` shows what breaks without each of
/// these.
final class Turns {
    /// Greatest number of deliveries that were begun and have not ended: at this number no further one is
    /// begun. Deliveries that wait for a person are among them.
    static final int BEGUN_MAX = 10_000;

    /// Greatest number of places in the lines of keys, about: at this number no further delivery is begun.
    private static final int PLACES_MAX = 200_000;

    private final Order order;
    private final Batches batches;
    private final Contents contents;
    private final Ledger ledger;
    private final FirstTries firstTries;
    private final KeyLines lines = new KeyLines();
    private final @Nullable MemberKeys keys; // None: the order is not by key.

    Turns(Pipeline pipeline, Batching batching, Contents contents, Ledger ledger, FirstTries firstTries) {
        order = batching.order();
        batches = contents.batches();
        this.contents = contents;
        this.ledger = ledger;
        this.firstTries = firstTries;
        keys = order == Order.KEY ? new MemberKeys(pipeline) : null;
    }

    /// The process begins to deliver: puts all in line that have not ended.
    void begin() {
        if (order == Order.KEY) {
            ledger.begun().values().stream()
                    .filter(handled -> !(handled.delivery() instanceof Delivery.Divided))
                    .forEach(handled -> lines.add(handled.number(), keys(handled.number(), handled.members())));
        }
    }

    /// The next delivery to be tried; `null` if none is due.
    ///
    /// @param isReady whether the content of a whole batch is ready
    @Nullable
    Handled next(Set<BatchNumber> active, LongPredicate isReady, long nowMs) {
        if (order == Order.KEY) {
            return nextByKey(active, nowMs);
        }
        boolean isStrict = order == Order.STRICT;
        for (Handled handled : ledger.begun().values()) {
            if (isDue(handled, active, nowMs)) {
                return handled;
            }
            if (isStrict
                    && !(handled.delivery() instanceof Delivery.Divided)
                    && !handled.delivery().awaitsPerson()) {
                return null; // The parts of one batch, too, are delivered one after the other.
            }
        }
        boolean isFree = isStrict ? ledger.begun().isEmpty() : !isFull();
        long next = ledger.next();
        return isFree && next <= batches.durableNumber() && isReady.test(next) ? ledger.begin(nowMs) : null;
    }

    private boolean isDue(Handled handled, Set<BatchNumber> active, long nowMs) {
        return !active.contains(handled.number())
                && DeliveryRules.isDue(firstTries.timed(handled).delivery(), nowMs);
    }

    private @Nullable Handled nextByKey(Set<BatchNumber> active, long nowMs) {
        for (BatchNumber number : lines.free()) {
            Handled handled = Objects.requireNonNull(ledger.begun().get(number), "a line has an ended delivery");
            if (isDue(handled, active, nowMs)) {
                return handled;
            }
        }
        while (!isFull() && ledger.next() <= batches.durableNumber()) {
            BatchNumber next = BatchNumber.of(ledger.next());
            long[] own = keys(next, null); // First, because it may fail.
            Handled begun = ledger.begin(nowMs);
            if (lines.add(next, own)) {
                return begun;
            }
        }
        return null;
    }

    /// Whether no further delivery is begun.
    boolean isFull() {
        return ledger.begun().size() >= BEGUN_MAX || lines.places() >= PLACES_MAX;
    }

    private long[] keys(BatchNumber number, @Nullable Members members) {
        return MemberKeys.distinct(eachKey(number, members));
    }

    /// The key of each record, in their order.
    private long[] eachKey(BatchNumber number, @Nullable Members members) {
        Sealed sealed = batches.sealed(number.number());
        return Objects.requireNonNull(keys, "the order is not by key")
                .of(contents.records(sealed, members), members == null ? sealed.records() : members.count());
    }

    /// Halves records that are refused. With an order by key the halves share no key, so a refused record holds
    /// no other key of its batch.
    List<Members> halves(BatchNumber number, Members members) {
        return order == Order.KEY ? members.halves(eachKey(number, members)) : members.halves();
    }

    /// A delivery has this state now.
    void note(Handled now) {
        if (now.delivery().isEnded()) {
            lines.remove(now.number());
        } else if (order == Order.KEY && now.delivery() instanceof Delivery.Divided divided) {
            SequencedMap<BatchNumber, long[]> parts = new LinkedHashMap<>();
            divided.parts().forEach(part -> parts.put(part.number(), keys(part.number(), part.members())));
            lines.divide(now.number(), parts);
        }
    }

    /// The deliveries that wait for an earlier one, each with one that it waits for.
    Map<BatchNumber, BatchNumber> waits() {
        Map<BatchNumber, BatchNumber> waits = new TreeMap<>();
        for (BatchNumber number : order == Order.KEY ? ledger.begun().keySet() : Set.<BatchNumber>of()) {
            BatchNumber before = lines.before(number);
            if (before != null) {
                waits.put(number, before);
            }
        }
        return waits;
    }
}
