package dev.onefold.aws.letter;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Futures;
import dev.onefold.aws.store.Store;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;

/// Gives letters their ids: one item of the letters' table. Ids rise, may have gaps, and are never given twice.
public final class LetterIds {
    private final Store store;
    private final Map<String, AttributeValue> key;

    LetterIds(Store store, Map<String, AttributeValue> key) {
        this.store = store;
        this.key = key;
    }

    /// The first of so many ids in a row.
    CompletableFuture<Long> next(int count) {
        return store.retried(() -> store.client()
                        .updateItem(request -> request.tableName(store.tables().letters())
                                .key(key)
                                .updateExpression("ADD n :count")
                                .expressionAttributeValues(Map.of(":count", Items.number(count)))
                                .returnValues(ReturnValue.UPDATED_NEW)))
                .thenApply(response -> Items.number(response.attributes(), "n") - count + 1);
    }

    /// Gives no id up to this one any more.
    public CompletableFuture<Void> skip(long last) {
        return store.retried(() -> store.client()
                        .updateItem(request -> request.tableName(store.tables().letters())
                                .key(key)
                                .updateExpression("SET n = :n")
                                .conditionExpression("attribute_not_exists(n) OR n < :n")
                                .expressionAttributeValues(Map.of(":n", Items.number(last)))))
                .<Void>thenApply(_ -> null)
                .exceptionallyCompose(failure -> Futures.cause(failure) instanceof ConditionalCheckFailedException
                        ? CompletableFuture.completedFuture(null)
                        : CompletableFuture.failedFuture(failure));
    }
}
