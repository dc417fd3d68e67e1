package dev.onefold.aws.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
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
    public static List<Map<String, AttributeValue>> of(
            Store store, String table, List<Map<String, AttributeValue>> keys, @Nullable String projection) {
        return new BatchReads(store, table, projection, true).read(keys);
    }

    /// The same for half the price: an item may be missing, or be as it was a while ago.
    public static List<Map<String, AttributeValue>> eventually(
            Store store, String table, List<Map<String, AttributeValue>> keys, @Nullable String projection) {
        return new BatchReads(store, table, projection, false).read(keys);
    }

    private List<Map<String, AttributeValue>> read(List<Map<String, AttributeValue>> keys) {
        return store.threads().all(Parts.of(keys, KEYS_PER_REQUEST), this::readPart).stream()
                .flatMap(List::stream)
                .toList();
    }

    /// A request may leave keys for the next one: they are too many bytes, or the table is busy.
    private List<Map<String, AttributeValue>> readPart(List<Map<String, AttributeValue>> keys) {
        List<Map<String, AttributeValue>> all = new ArrayList<>();
        List<Map<String, AttributeValue>> left = keys;
        for (int attempt = 1; ; ) {
            KeysAndAttributes wanted = KeysAndAttributes.builder()
                    .keys(left)
                    .consistentRead(consistent)
                    .projectionExpression(projection)
                    .build();
            BatchGetItemResponse response = store.retried(
                    () -> store.client().batchGetItem(request -> request.requestItems(Map.of(table, wanted))));
            List<Map<String, AttributeValue>> found = response.responses().getOrDefault(table, List.of());
            all.addAll(found);
            KeysAndAttributes unprocessed = response.unprocessedKeys().get(table);
            if (unprocessed == null || unprocessed.keys().isEmpty()) {
                return all;
            }
            left = unprocessed.keys();
            attempt = found.isEmpty() ? attempt + 1 : 1;
            store.backOff(attempt);
        }
    }
}
