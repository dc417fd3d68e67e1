package dev.onefold.fakes.aws.table;

import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.expression.Expressions;
import dev.onefold.fakes.aws.expression.Projection;
import dev.onefold.fakes.aws.item.Key;
import dev.onefold.fakes.aws.item.Values;
import dev.onefold.fakes.aws.table.Meter.Reading;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.Get;
import software.amazon.awssdk.services.dynamodb.model.GetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.GetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.ItemResponse;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItem;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItemsResponse;

/// Reads by key.
public final class Reads {
    private static final int BATCH_KEYS_MAX = 100;
    private static final long BATCH_BYTES_MAX = 16L << 20;

    private final Tables tables;
    private final Supplier<Instant> past;

    /// @param past asked for each item that is read without consistency: as of when it is seen
    public Reads(Tables tables, Supplier<Instant> past) {
        this.tables = tables;
        this.past = past;
    }

    public GetItemResponse get(GetItemRequest request, Meter meter) {
        Legacy.refuse(request);
        Table table = tables.table(request.tableName());
        Projection projection = projection(request.expressionAttributeNames(), request.projectionExpression());
        Key key = table.schema().keyIn(Values.canonical(request.key()));
        Reading reading = Reading.of(request.consistentRead());
        Map<String, AttributeValue> item = read(table, key, reading);
        meter.read(table, bytes(item), reading);
        return GetItemResponse.builder()
                .item(projected(item, projection))
                .consumedCapacity(meter.consumedByOne(request.returnConsumedCapacity()))
                .build();
    }

    private static @Nullable Projection projection(@Nullable Map<String, String> names, @Nullable String text) {
        Expressions expressions = Writes.expressions(names, null, text);
        Projection projection = expressions.projection(text);
        expressions.requireAllUsed();
        return projection;
    }

    private @Nullable Map<String, AttributeValue> read(Table table, Key key, Reading reading) {
        return reading == Reading.EVENTUAL ? table.read(key, past.get()) : table.read(key);
    }

    private static @Nullable Map<String, AttributeValue> projected(
            @Nullable Map<String, AttributeValue> item, @Nullable Projection projection) {
        return item == null || projection == null ? item : projection.of(item);
    }

    private static long bytes(@Nullable Map<String, AttributeValue> item) {
        return item == null ? 0 : Values.sizeBytes(item);
    }

    /// @param skipping asked for each key; if it says so, the key stays unprocessed
    public BatchGetItemResponse batch(BatchGetItemRequest request, Meter meter, BooleanSupplier skipping) {
        Map<String, KeysAndAttributes> unprocessed = new LinkedHashMap<>();
        Map<String, List<Map<String, AttributeValue>>> found = new TreeMap<>();
        requireBatch(request);
        long bytes = 0;
        for (Map.Entry<String, KeysAndAttributes> entry : ordered(request).entrySet()) {
            KeysAndAttributes wanted = entry.getValue();
            Table table = tables.table(entry.getKey());
            Projection projection = projection(wanted.expressionAttributeNames(), wanted.projectionExpression());
            Reading reading = Reading.of(wanted.consistentRead());
            List<Map<String, AttributeValue>> items = new ArrayList<>();
            List<Map<String, AttributeValue>> left = new ArrayList<>();
            for (Map<String, AttributeValue> key : wanted.keys()) {
                Map<String, AttributeValue> item = read(table, table.schema().keyIn(Values.canonical(key)), reading);
                if (bytes + bytes(item) > BATCH_BYTES_MAX || skipping.getAsBoolean()) {
                    left.add(key);
                    continue;
                }
                bytes += bytes(item);
                meter.read(table, bytes(item), reading);
                if (item != null) {
                    items.add(projection == null ? item : projection.of(item));
                }
            }
            found.put(entry.getKey(), items);
            if (!left.isEmpty()) {
                unprocessed.put(entry.getKey(), wanted.toBuilder().keys(left).build());
            }
        }
        return BatchGetItemResponse.builder()
                .responses(found)
                .unprocessedKeys(unprocessed)
                .consumedCapacity(meter.consumed(request.returnConsumedCapacity()))
                .build();
    }

    /// By table, because a map of the caller may have another order in every run.
    private static Map<String, KeysAndAttributes> ordered(BatchGetItemRequest request) {
        return new TreeMap<>(request.requestItems());
    }

    /// Every key is right, and asked for once.
    private void requireBatch(BatchGetItemRequest request) {
        int keys = 0;
        for (Map.Entry<String, KeysAndAttributes> entry : ordered(request).entrySet()) {
            Table table = tables.table(entry.getKey());
            TreeSet<Key> distinct = new TreeSet<>();
            for (Map<String, AttributeValue> key : entry.getValue().keys()) {
                keys++;
                if (!distinct.add(table.schema().keyIn(Values.canonical(key)))) {
                    throw invalid("Provided list of item keys contains duplicates");
                }
            }
        }
        if (keys == 0 || keys > BATCH_KEYS_MAX) {
            throw invalid("Too many items requested for the BatchGetItem call, or none: %d".formatted(keys));
        }
    }

    public TransactGetItemsResponse transaction(TransactGetItemsRequest request, Meter meter) {
        int items = request.transactItems().size();
        if (items == 0 || items > Transactions.ITEMS_MAX) {
            throw invalid("Member must have length between 1 and 100: transactItems has %d".formatted(items));
        }
        List<CancellationReason> reasons = new ArrayList<>();
        List<ItemResponse> responses = new ArrayList<>();
        Map<String, TreeSet<Key>> distinct = new TreeMap<>();
        long bytes = 0;
        for (TransactGetItem one : request.transactItems()) {
            Get get = one.get();
            if (get == null) {
                throw invalid("The Get of a TransactGetItem is required");
            }
            Table table = tables.table(get.tableName());
            Projection projection = projection(get.expressionAttributeNames(), get.projectionExpression());
            Key key = table.schema().keyIn(Values.canonical(get.key()));
            if (!distinct.computeIfAbsent(get.tableName(), _ -> new TreeSet<>()).add(key)) {
                throw invalid("Transaction request cannot include multiple operations on one item");
            }
            Map<String, AttributeValue> item = table.read(key);
            bytes += bytes(item);
            meter.read(table, bytes(item), Reading.TRANSACTIONAL);
            reasons.add(
                    table.isLocked(key)
                            ? Transactions.conflict()
                            : Transactions.reason("None", null).build());
            responses.add(
                    ItemResponse.builder().item(projected(item, projection)).build());
        }
        Transactions.requireNone(reasons);
        if (bytes > Transactions.BYTES_MAX) {
            throw invalid("The aggregate size of the items in the transaction exceeds 4 MB");
        }
        return TransactGetItemsResponse.builder()
                .responses(responses)
                .consumedCapacity(meter.consumed(request.returnConsumedCapacity()))
                .build();
    }
}
