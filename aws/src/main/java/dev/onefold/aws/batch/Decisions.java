package dev.onefold.aws.batch;

import dev.onefold.aws.batch.Deliveries.Listed;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.seal.DeliveryRules;
import java.time.Instant;
import java.util.List;

/// The decisions of a person about deliveries. Each decision is about the generation that the person has seen.
public final class Decisions {
    private static final int LISTED_MAX = 20_000;

    private final Store store;
    private final Deliveries deliveries;

    public Decisions(Store store) {
        this.store = store;
        deliveries = new Deliveries(store);
    }

    private long nowMs() {
        return store.clock().millis();
    }

    /// A delivery that waits for a person.
    public record Held(BatchNumber number, Delivery delivery) {}

    /// Deliveries that wait for a person, in the order of their numbers.
    public List<Held> held() {
        return deliveries.listed(Deliveries.PERSON, LISTED_MAX).stream()
                .map(Listed::number)
                .flatMap(number -> deliveries.find(number).stream())
                .map(item -> new Held(item.number(), item.delivery()))
                .filter(held -> held.delivery.awaitsPerson())
                .toList();
    }

    /// A person ends a delivery that waits for a person.
    ///
    /// @param generation that the person has seen
    /// @return whether it is ended; not if it has changed since
    public boolean settle(BatchNumber number, int generation, Delivery.How how) {
        BatchDefinition.requireKnownTables(store);
        DeliveryItem item = deliveries.load(number);
        Delivery delivery = item.delivery();
        return delivery.awaitsPerson()
                && delivery.tries().generation() == generation
                && deliveries
                        .change(item, DeliveryRules.settle(delivery, how, nowMs()))
                        .isPresent();
    }

    /// A person lets a delivery be tried again that waits for a person, or now if it waits for its next try.
    ///
    /// @param generation that the person has seen
    /// @return whether it is tried again; not if it has changed since
    /// @throws IllegalStateException if the owner of its last attempt may still live
    public boolean release(BatchNumber number, int generation) {
        BatchDefinition.requireKnownTables(store);
        DeliveryItem item = deliveries.load(number);
        Delivery delivery = item.delivery();
        if (!DeliveryRules.canRelease(delivery, nowMs()) || delivery.tries().generation() != generation) {
            return false;
        }
        if (delivery instanceof Delivery.InDoubt doubt && nowMs() < item.goneMs()) {
            throw new IllegalStateException("Batch " + number + " was begun at "
                    + Instant.ofEpochMilli(doubt.startedMs()) + ", and its attempt may still be under way until "
                    + Instant.ofEpochMilli(item.goneMs()) + ". Release it then.");
        }
        return deliveries
                .change(item.inTime(), DeliveryRules.release(delivery, nowMs()))
                .isPresent();
    }
}
