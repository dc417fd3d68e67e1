package dev.onefold.aws.state;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The numbers of a deployment's seedings. Each is above all before, whoever draws it, though a clock
/// goes back; but that of rows that were kept begins at the time of which they are.
///
///     item = k 00 "seeding", or "seeding/" and the time of kept rows, epoch ms; n the last number
public final class SeedNumbers {
    private static final String NUMBER = "n";

    private SeedNumbers() {}

    /// The next number.
    ///
    /// @param nowMs epoch milliseconds
    public static long draw(Store store, long nowMs) {
        return draw(store, "seeding", nowMs);
    }

    /// The next number of rows that were kept.
    ///
    /// @param atMs the time of which they are, in epoch milliseconds
    public static long drawKept(Store store, long atMs) {
        return draw(store, "seeding/" + atMs, atMs);
    }

    private static long draw(Store store, String name, long leastMs) {
        Map<String, AttributeValue> key = RowItem.other(name);
        String table = store.tables().rows();
        while (true) {
            Map<String, AttributeValue> item = store.get(table, key);
            long number = item.isEmpty() ? leastMs : Math.max(leastMs, Items.number(item, NUMBER) + 1);
            boolean drawn = store.retriedIf(() -> store.client()
                    .updateItem(request -> request.tableName(table)
                            .key(key)
                            .updateExpression("SET n = :n")
                            .conditionExpression("attribute_not_exists(n) OR n < :n")
                            .expressionAttributeValues(Map.of(":n", Items.number(number)))));
            if (drawn) {
                return number;
            }
        }
    }
}
