package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Removes batches that nobody needs any more.
record FreedBatches(Store store, BatchDefinition definition, Deliveries deliveries) {
    private static final int TRANSACTION_MAX = 100;

    /// Removes batches with their parts, and what was written for their receiver. What is too much
    /// for one transaction is marked, each part goes before the one that it is a part of, and the
    /// batch goes last. Without its parts the batch would look as if it was not ended, and without
    /// the batch nobody would find its parts.
    ///
    /// @param definition under which they were read; a request that comes late removes nothing of tables
    ///     that were restored since
    static void free(Store store, BatchDefinition definition, List<DeliveryItem> batches) {
        new FreedBatches(store, definition, new Deliveries(store)).free(batches);
    }

    private void free(List<DeliveryItem> batches) {
        List<DeliveryItem> together = new ArrayList<>();
        for (DeliveryItem batch : batches) {
            List<DeliveryItem> all = new ArrayList<>();
            addWithParts(batch, all);
            deliveries.removeContents(all);
            if (all.size() >= TRANSACTION_MAX) {
                mark(batch);
            }
            if (together.size() + all.size() >= TRANSACTION_MAX) {
                delete(together);
                together.clear();
            }
            together.addAll(all.reversed());
        }
        delete(together);
    }

    private void mark(DeliveryItem batch) {
        boolean _ = store.retriedIf(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().rows())
                        .key(DeliveryItem.key(batch.number()))
                        .updateExpression("SET #r = :true ADD v :one") // Nobody writes what was read before.
                        .conditionExpression("attribute_exists(k)")
                        .expressionAttributeNames(Map.of("#r", DeliveryItem.REMOVED))
                        .expressionAttributeValues(
                                Map.of(":true", AttributeValue.fromBool(true), ":one", Items.number(1)))));
    }

    private void delete(List<DeliveryItem> all) {
        for (List<TransactWriteItem> some : Parts.of(deliveries.deletes(all), TRANSACTION_MAX - 1)) {
            List<TransactWriteItem> checked = new ArrayList<>(some);
            checked.add(definition.check(store));
            for (int attempt = 1; !(store.transact(checked) instanceof Store.Written.Done); attempt++) {
                if (!definition.isStored(store)) {
                    throw new IllegalStateException(
                            "The tables of " + store.tables().rows()
                                    + " were taken over by 'onefold aws restored' meanwhile. The next pass looks for freed batches again");
                }
                store.backOff(attempt);
            }
        }
    }

    private void addWithParts(DeliveryItem item, List<DeliveryItem> all) {
        all.add(item);
        for (int part = 1; part <= item.parts(); part++) {
            deliveries.find(item.number().part(part)).ifPresent(found -> addWithParts(found, all));
        }
    }
}
