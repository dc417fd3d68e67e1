package dev.onefold.aws.state;

import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.BatchReads;
import dev.onefold.aws.store.Store;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Reads rows by their keys.
public final class RowReads {
    private final Store store;

    public RowReads(Store store) {
        this.store = store;
    }

    /// The rows of these keys as they are now, each key at most once; those that there are, by key.
    public Map<ByteBuffer, RowItem> read(List<byte[]> keys) {
        return byKey(BatchReads.of(store, store.tables().rows(), items(keys), null));
    }

    /// The same for half the price: a row may be missing, or be as it was a while ago.
    Map<ByteBuffer, RowItem> readEventually(List<byte[]> keys) {
        return byKey(BatchReads.eventually(store, store.tables().rows(), items(keys), null));
    }

    private static List<Map<String, AttributeValue>> items(List<byte[]> keys) {
        return keys.stream().map(RowItem::keyOf).toList();
    }

    private static Map<ByteBuffer, RowItem> byKey(List<Map<String, AttributeValue>> items) {
        Map<ByteBuffer, RowItem> rows = new HashMap<>();
        items.stream().map(RowItem::of).forEach(row -> rows.put(ByteBuffer.wrap(row.key()), row));
        return rows;
    }
}
