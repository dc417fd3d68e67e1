package dev.onefold.aws.letter;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.StreamName;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.GetItemResponse;

/// How far State has taken each shard of a Kinesis stream. Rows cannot tell: a replay, a seeding or another shard
/// may have written what they hold. So State itself notes the last record of a batch that the mapping has brought,
/// when all of the batch is in, at most once a minute for each shard and process. A place never moves backwards.
///
/// A place proves that everything before it is in, only if the mapping takes the batches of a shard one after
/// another, that is with a ParallelizationFactor of 1. An update says so: it begins an order, or ends it before the
/// mapping changes. State reads the order before it takes a batch, and notes the place with it. So a place that was
/// noted under an order that has ended proves nothing, however late the note is written.
///
///     order = p "order", i 00, g an id; without g, batches of one shard may end in any order
///     place = p "place/" ARN of the stream "/" shard, i 00, g the order, q sequence number, with leading zeros
///
/// One thread notes.
public final class Places {
    private static final Duration NOTED_EACH = Duration.ofMinutes(1);
    private static final int DIGITS = 56; // Of a sequence number, at most.

    private final Store store;
    private final String table;
    private final Map<String, Instant> notedAt = new HashMap<>();

    public Places(Store store) {
        this.store = store;
        table = store.tables().letters();
    }

    /// Says whether the mapping takes the batches of a shard one after another from now on. An order that goes on
    /// stays.
    public void order(boolean isInOrder) {
        if (isInOrder == order().isPresent()) {
            return;
        }
        Map<String, AttributeValue> item = new TreeMap<>(key("order"));
        if (isInOrder) {
            item.put("g", AttributeValue.fromS(store.newId()));
        }
        store.retried(
                () -> store.client().putItem(request -> request.tableName(table).item(item)));
    }

    /// The order that places are noted under now; empty if there is none.
    public Optional<String> order() {
        return order(store.get(table, key("order")));
    }

    private static Optional<String> order(Map<String, AttributeValue> item) {
        return item.containsKey("g") ? Optional.of(Items.text(item, "g")) : Optional.empty();
    }

    /// The last record that was noted of a shard under an order; all before it are in. Empty if none was.
    ///
    /// @param stream its ARN
    public Optional<String> find(String order, String stream, String shard) {
        Map<String, AttributeValue> item = store.get(table, key("place/" + stream + "/" + shard));
        return order(item).equals(Optional.of(order))
                ? Optional.of(Items.text(item, "q").replaceFirst("^0+(?=.)", ""))
                : Optional.empty();
    }

    /// Begins with a batch that the mapping has brought.
    ///
    /// @param stream its ARN
    /// @return what notes the place; it is run only when all of the batch is in, and never fails
    public Runnable noting(Optional<String> stream, List<Arrival> batch) {
        if (stream.isEmpty() || batch.isEmpty() || StreamName.isTable(stream.get())) {
            return () -> {}; // A record of a table's stream does not name its shard.
        }
        Arrival last = batch.getLast();
        String shard = last.shard().substring(last.shard().lastIndexOf('/') + 1);
        String place = "place/" + stream.get() + "/" + shard;
        Instant now = store.clock().instant();
        if (Duration.between(notedAt.getOrDefault(place, Instant.EPOCH), now)
                        .abs()
                        .compareTo(NOTED_EACH)
                < 0) {
            return () -> {};
        }
        List<GetItemResponse> found = new ArrayList<>();
        store.tried(() -> store.client()
                .getItem(request -> request.tableName(table).key(key("order")).consistentRead(true))
                .thenApply(found::add));
        return () -> {
            notedAt.put(place, now);
            found.stream()
                    .flatMap(answer -> order(answer.item()).stream())
                    .forEach(order -> note(place, order, last.sequence()));
        };
    }

    private void note(String place, String order, String sequence) {
        Map<String, AttributeValue> values = Map.of(
                ":g", AttributeValue.fromS(order),
                ":q", AttributeValue.fromS("0".repeat(Math.max(0, DIGITS - sequence.length())) + sequence));
        store.tried(() -> store.client()
                .updateItem(request -> request.tableName(table)
                        .key(key(place))
                        .updateExpression("SET g = :g, q = :q")
                        .conditionExpression("attribute_not_exists(p) OR g <> :g OR q < :q")
                        .expressionAttributeValues(values)));
    }

    private static Map<String, AttributeValue> key(String partition) {
        return Map.of("p", AttributeValue.fromS(partition), "i", Items.bytes(new byte[1]));
    }
}
