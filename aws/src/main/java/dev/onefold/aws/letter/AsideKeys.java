package dev.onefold.aws.letter;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import java.util.Map;
import java.util.function.LongConsumer;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// How many keys could not be read as they should, as after a restore of a part of a transaction. Each has a letter.
///
///     item = k 00 "aside", n how many there were, s how many of these were told
public final class AsideKeys {
    private AsideKeys() {}

    private static Map<String, AttributeValue> key() {
        return RowItem.other("aside");
    }

    /// Counts one more, in the transaction that keeps its letter.
    public static TransactWriteItem oneMore(Store store) {
        return TransactWriteItem.builder()
                .update(update -> update.tableName(store.tables().rows())
                        .key(key())
                        .updateExpression("ADD n :one")
                        .expressionAttributeValues(Map.of(":one", Items.number(1))))
                .build();
    }

    /// Tells of those that were not told yet, if there are any.
    public static void tell(Store store, LongConsumer told) {
        Map<String, AttributeValue> item = store.get(store.tables().rows(), key());
        long all = item.isEmpty() ? 0 : Items.number(item, "n");
        long before = item.containsKey("s") ? Items.number(item, "s") : 0;
        if (all == before) {
            return;
        }
        told.accept(all - before);
        store.retried(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().rows())
                        .key(key())
                        .updateExpression("SET s = :s")
                        .expressionAttributeValues(Map.of(":s", Items.number(all)))));
    }
}
