package dev.onefold.aws.letter;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/// Finds letters by the key that their records state: an item of the letters' table for each of them.
final class LettersOfKey {
    private static final int LETTERS_MAX = 1_000;

    private final Store store;
    private final String table;

    LettersOfKey(Store store) {
        this.store = store;
        table = store.tables().letters();
    }

    private static AttributeValue partition(long keyHash) {
        return AttributeValue.fromS("key/" + Long.toHexString(keyHash));
    }

    static Map<String, AttributeValue> item(long keyHash, long id) {
        byte[] bytes = ByteBuffer.allocate(8).putLong(id).array();
        return Map.of("p", partition(keyHash), "i", Items.bytes(bytes));
    }

    /// The ids of letters whose records may state a key of this hash, in their order; the first thousand.
    List<Long> find(long keyHash) {
        QueryRequest request = QueryRequest.builder()
                .tableName(table)
                .keyConditionExpression("p = :p")
                .expressionAttributeValues(Map.of(":p", partition(keyHash)))
                .consistentRead(true)
                .build();
        List<Long> found = new ArrayList<>();
        Queries.pages(store, request, page -> {
            page.items().stream()
                    .map(item -> ByteBuffer.wrap(Items.bytes(item, "i")).getLong())
                    .limit(LETTERS_MAX - found.size())
                    .forEach(found::add);
            return found.size() < LETTERS_MAX;
        });
        return found;
    }

    /// Adds the key of a letter, if its record states one.
    void add(long id, Map<String, AttributeValue> letter) {
        if (letter.containsKey("k")) {
            store.retried(() -> store.client()
                    .putItem(request -> request.tableName(table).item(item(Items.number(letter, "k"), id))));
        }
    }

    /// Removes the key of a letter that is gone; a crash in between leaves a key that leads nowhere.
    void remove(long id, Map<String, AttributeValue> letter) {
        if (letter.containsKey("k")) {
            store.retried(() -> store.client()
                    .deleteItem(request -> request.tableName(table).key(item(Items.number(letter, "k"), id))));
        }
    }
}
