package dev.onefold.aws.state;

import dev.onefold.aws.Store;
import dev.onefold.aws.item.Row;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;

/// Reads rows as they are now, a hundred in a request.
public final class RowReads {
    private static final int KEYS_PER_REQUEST = 100;

    private final Store store;

    public RowReads(Store store) {
        this.store = store;
    }

    /// The rows of these keys, each at most once; those that there are, by key.
    public CompletableFuture<Map<ByteBuffer, Row>> read(List<byte[]> keys) {
        Map<ByteBuffer, Row> rows = new HashMap<>();
        List<CompletableFuture<Void>> parts = new ArrayList<>();
        for (int from = 0; from < keys.size(); from += KEYS_PER_REQUEST) {
            parts.add(read(
                    keys.subList(from, Math.min(keys.size(), from + KEYS_PER_REQUEST)).stream()
                            .map(Row::keyOf)
                            .toList(),
                    rows,
                    1));
        }
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)).thenApply(_ -> rows);
    }

    /// A request may leave keys for the next one: they are too many bytes, or the table is busy.
    private CompletableFuture<Void> read(
            List<Map<String, AttributeValue>> keys, Map<ByteBuffer, Row> rows, int attempt) {
        String table = store.tables().rows();
        BatchGetItemRequest request = BatchGetItemRequest.builder()
                .requestItems(Map.of(
                        table,
                        KeysAndAttributes.builder()
                                .keys(keys)
                                .consistentRead(true)
                                .build()))
                .build();
        return store.retried(() -> store.client().batchGetItem(request)).thenCompose(response -> {
            List<Map<String, AttributeValue>> found = response.responses().getOrDefault(table, List.of());
            synchronized (rows) {
                found.stream().map(Row::of).forEach(row -> rows.put(ByteBuffer.wrap(row.key()), row));
            }
            KeysAndAttributes left = response.unprocessedKeys().get(table);
            if (left == null || left.keys().isEmpty()) {
                return CompletableFuture.completedFuture(null);
            }
            int next = found.isEmpty() ? attempt + 1 : 1;
            return store.backOff(next).thenCompose(_ -> read(left.keys(), rows, next));
        });
    }
}
