package dev.onefold.aws.letter;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Counts;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// How many records were accepted, and what became of the others: one item of the letters' table.
final class Counters {
    private static final List<String> NAMES =
            List.of("accepted", "duplicate", "stale", "conflicting", "rejected", "silent");

    private final Store store;
    private final Map<String, AttributeValue> key;

    Counters(Store store, Map<String, AttributeValue> key) {
        this.store = store;
        this.key = key;
    }

    /// A figure for people: a batch must not fail, and be tried again, for it.
    void add(Counts counts) {
        Map<String, AttributeValue> values = Map.of(
                ":accepted", Items.number(counts.accepted()),
                ":duplicate", Items.number(counts.duplicate()),
                ":stale", Items.number(counts.stale()),
                ":conflicting", Items.number(counts.conflicting()),
                ":rejected", Items.number(counts.rejected()),
                ":silent", Items.number(counts.silent()));
        String additions =
                String.join(", ", NAMES.stream().map(name -> name + " :" + name).toList());
        store.tried(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().letters())
                        .key(key)
                        .updateExpression("ADD " + additions)
                        .expressionAttributeValues(values)));
    }

    /// The counts that an item holds.
    static Counts of(Map<String, AttributeValue> item) {
        long[] counts = NAMES.stream()
                .mapToLong(name -> item.containsKey(name) ? Items.number(item, name) : 0)
                .toArray();
        return new Counts(counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]);
    }
}
