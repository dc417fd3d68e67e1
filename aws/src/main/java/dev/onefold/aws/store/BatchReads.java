package dev.onefold.aws.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;

/// Reads many items by their keys, a hundred in a request.
public final class BatchReads {
    private static final int KEYS_PER_REQUEST = 100;

    private final Store store;
    private final String table;
    private final @Nullable String projection;
    private final boolean consistent;

    private BatchReads(Store store, String table, @Nullable String projection, boolean consistent) {
        this.store = store;
        this.table = table;
        this.projection = projection;
        this.consistent = consistent;
    }

    /// The items that there are, each as it is now, in any order.
    ///
    /// @param keys each at most once
    /// @param projection names of the attributes that are wanted; `null` for all
    public static CompletableFuture<List<Map<String, AttributeValue>>> of(
            Store store, String table, List<Map<String, AttributeValue>> keys, @Nullable String projection) {
        return new BatchReads(store, table, projection, true).read(keys);
    }

    /// The same for half the price: an item may be missing, or be as it was a while ago.
    public static CompletableFuture<List<Map<String, AttributeValue>>> eventually(
            Store store, String table, List<Map<String, AttributeValue>> keys, @Nullable String projection) {
        return new BatchReads(store, table, projection, false).read(keys);
    }

    private CompletableFuture<List<Map<String, AttributeValue>>> read(List<Map<String, AttributeValue>> keys) {
        List<CompletableFuture<List<Map<String, AttributeValue>>>> parts = new ArrayList<>();
        for (int from = 0; from < keys.size(); from += KEYS_PER_REQUEST) {
            parts.add(read(keys.subList(from, Math.min(keys.size(), from + KEYS_PER_REQUEST)), List.of(), 1));
        }
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new))
                .thenApply(_ ->
                        parts.stream().flatMap(part -> part.join().stream()).toList());
    }

    /// A request may leave keys for the next one: they are too many bytes, or the table is busy.
    private CompletableFuture<List<Map<String, AttributeValue>>> read(
            List<Map<String, AttributeValue>> keys, List<Map<String, AttributeValue>> before, int attempt) {
        KeysAndAttributes wanted = KeysAndAttributes.builder()
                .keys(keys)
                .consistentRead(consistent)
                .projectionExpression(projection)
                .build();
        BatchGetItemRequest request = BatchGetItemRequest.builder()
                .requestItems(Map.of(table, wanted))
                .build();
        return store.retried(() -> store.client().batchGetItem(request)).thenCompose(response -> {
            List<Map<String, AttributeValue>> found = response.responses().getOrDefault(table, List.of());
            List<Map<String, AttributeValue>> all = new ArrayList<>(before);
            all.addAll(found);
            KeysAndAttributes left = response.unprocessedKeys().get(table);
            if (left == null || left.keys().isEmpty()) {
                return CompletableFuture.completedFuture(all);
            }
            int next = found.isEmpty() ? attempt + 1 : 1;
            return store.backOff(next).thenCompose(_ -> read(left.keys(), all, next));
        });
    }
}
