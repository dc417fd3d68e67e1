package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.pipeline.Batching.Order;

/// Logs that a batch waits for a person.
///
/// @param pipeline its name
record Notices(String pipeline, Order order) {
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");

    void tell(BatchNumber number, Delivery after) {
        String id = Manifest.id(pipeline, number);
        switch (after) {
            case Delivery.Aside aside ->
                LOG.log(
                        aside.isConflict() ? System.Logger.Level.ERROR : System.Logger.Level.WARNING,
                        "Batch " + id + " is put aside: " + aside.reason() + held());
            case Delivery.InDoubt doubt ->
                LOG.log(System.Logger.Level.WARNING, "Batch " + id + " is in doubt: " + doubt.reason() + held());
            case Delivery.Done _, Delivery.Waiting _, Delivery.Started _, Delivery.Divided _ -> {}
        }
    }

    private String held() {
        return switch (order) {
            case ANY -> "";
            case STRICT -> ". It holds up all later batches, because the order is strict.";
            case KEY -> ". It holds up later batches with records of its keys, because the order is by key.";
        };
    }
}
