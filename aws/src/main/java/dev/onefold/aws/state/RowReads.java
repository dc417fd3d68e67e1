package dev.onefold.aws.state;

import dev.onefold.aws.BatchReads;
import dev.onefold.aws.Store;
import dev.onefold.aws.item.Row;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/// Reads rows as they are now.
public final class RowReads {
    private final Store store;

    public RowReads(Store store) {
        this.store = store;
    }

    /// The rows of these keys, each at most once; those that there are, by key.
    public CompletableFuture<Map<ByteBuffer, Row>> read(List<byte[]> keys) {
        return BatchReads.of(
                        store,
                        store.tables().rows(),
                        keys.stream().map(Row::keyOf).toList(),
                        null)
                .thenApply(items -> {
                    Map<ByteBuffer, Row> rows = new HashMap<>();
                    items.stream().map(Row::of).forEach(row -> rows.put(ByteBuffer.wrap(row.key()), row));
                    return rows;
                });
    }
}
