package dev.onefold.aws.store;

import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Tells the cutter that something was collected: an item whose insertion the stream of the table of deltas tells.
///
///     wake = l "wake", i "0"
///
/// While the item is there, writing it again changes nothing, and the stream tells nothing. The cutter
/// removes it before it reads the lanes. So any number of collectors wake one cutter, and what was
/// collected before a wake-up is seen by it. Nothing depends on it: a wake-up that is lost is made up for
/// by the next tick.
public final class WakeItem {
    /// The partition key, which the mapping of the stream filters by.
    public static final String LIST = "wake";

    private static final Map<String, AttributeValue> KEY =
            Map.of("l", AttributeValue.fromS(LIST), "i", AttributeValue.fromS("0"));

    private WakeItem() {}

    /// Wakes the cutter.
    public static void put(Store store) {
        store.tried(() -> store.client()
                .putItem(request -> request.tableName(store.tables().deltas()).item(KEY)));
    }

    /// The cutter is awake.
    public static void remove(Store store) {
        store.tried(() -> store.client()
                .deleteItem(
                        request -> request.tableName(store.tables().deltas()).key(KEY)));
    }
}
