package dev.onefold.aws.letter;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Store;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemResponse;

/// Gives letters their ids: one item of the letters' table. Ids rise, may have gaps, and are never given twice.
public final class LetterIds {
    private final Store store;
    private final Map<String, AttributeValue> key;

    LetterIds(Store store, Map<String, AttributeValue> key) {
        this.store = store;
        this.key = key;
    }

    /// The first of so many ids in a row.
    long next(int count) {
        UpdateItemResponse response = store.retried(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().letters())
                        .key(key)
                        .updateExpression("ADD n :count")
                        .expressionAttributeValues(Map.of(":count", Items.number(count)))
                        .returnValues(ReturnValue.UPDATED_NEW)));
        return Items.number(response.attributes(), "n") - count + 1;
    }

    /// Gives no id up to this one any more.
    public void skip(long last) {
        store.retriedIf(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().letters())
                        .key(key)
                        .updateExpression("SET n = :n")
                        .conditionExpression("attribute_not_exists(n) OR n < :n")
                        .expressionAttributeValues(Map.of(":n", Items.number(last)))));
    }
}
