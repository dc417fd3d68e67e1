package dev.onefold.fakes.aws.table;

import static dev.onefold.fakes.aws.item.Refusal.filled;
import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.expression.Expressions;
import dev.onefold.fakes.aws.expression.Placeholders;
import dev.onefold.fakes.aws.item.Key;
import dev.onefold.fakes.aws.item.Values;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.util.SdkAutoConstructMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchWriteItemRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchWriteItemResponse;
import software.amazon.awssdk.services.dynamodb.model.DeleteItemRequest;
import software.amazon.awssdk.services.dynamodb.model.DeleteItemResponse;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.PutItemResponse;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.TransactionConflictException;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemResponse;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

/// Writes outside of transactions.
public final class Writes {
    private static final int BATCH_ITEMS_MAX = 25;
    private static final long BATCH_BYTES_MAX = 16L << 20;

    private final Tables tables;

    public Writes(Tables tables) {
        this.tables = tables;
    }

    public PutItemResponse put(PutItemRequest request, Meter meter) {
        Legacy.refuse(request);
        Table table = tables.table(request.tableName());
        Expressions expressions = expressions(
                request.expressionAttributeNames(), request.expressionAttributeValues(), request.conditionExpression());
        ItemWrite write = ItemWrite.put(table, request.item())
                .onCondition(expressions, request.conditionExpression(), request.returnValuesOnConditionCheckFailure());
        Map<String, AttributeValue> old = applied(write, expressions, request.returnValues(), meter);
        return PutItemResponse.builder()
                .attributes(old)
                .consumedCapacity(meter.consumedByOne(request.returnConsumedCapacity()))
                .build();
    }

    public DeleteItemResponse delete(DeleteItemRequest request, Meter meter) {
        Legacy.refuse(request);
        Table table = tables.table(request.tableName());
        Expressions expressions = expressions(
                request.expressionAttributeNames(), request.expressionAttributeValues(), request.conditionExpression());
        ItemWrite write = ItemWrite.ofKey(ItemWrite.Verb.DELETE, table, request.key())
                .onCondition(expressions, request.conditionExpression(), request.returnValuesOnConditionCheckFailure());
        Map<String, AttributeValue> old = applied(write, expressions, request.returnValues(), meter);
        return DeleteItemResponse.builder()
                .attributes(old)
                .consumedCapacity(meter.consumedByOne(request.returnConsumedCapacity()))
                .build();
    }

    /// Applies a put or a delete.
    ///
    /// @return the item before, if it was asked for
    private @Nullable Map<String, AttributeValue> applied(
            ItemWrite write, Expressions expressions, @Nullable ReturnValue wanted, Meter meter) {
        expressions.requireAllUsed();
        requireOldOrNone(wanted);
        Map<String, AttributeValue> before = write.before();
        apply(write, meter);
        return wanted == ReturnValue.ALL_OLD ? before : null;
    }

    public UpdateItemResponse update(UpdateItemRequest request, Meter meter) {
        Legacy.refuse(request);
        Table table = tables.table(request.tableName());
        Expressions expressions = expressions(
                request.expressionAttributeNames(),
                request.expressionAttributeValues(),
                request.conditionExpression(),
                request.updateExpression());
        ItemWrite write = ItemWrite.ofKey(ItemWrite.Verb.UPDATE, table, request.key())
                .updating(expressions, request.updateExpression())
                .onCondition(expressions, request.conditionExpression(), request.returnValuesOnConditionCheckFailure());
        expressions.requireAllUsed();
        Map<String, AttributeValue> before = write.before();
        Map<String, AttributeValue> after = apply(write, meter);
        return UpdateItemResponse.builder()
                .attributes(returned(request.returnValues(), write, before, after))
                .consumedCapacity(meter.consumedByOne(request.returnConsumedCapacity()))
                .build();
    }

    private static @Nullable Map<String, AttributeValue> returned(
            @Nullable ReturnValue wanted,
            ItemWrite write,
            @Nullable Map<String, AttributeValue> before,
            @Nullable Map<String, AttributeValue> after) {
        if (wanted == null) {
            return null;
        }
        return switch (wanted) {
            case NONE, UNKNOWN_TO_SDK_VERSION -> null;
            case ALL_OLD -> before;
            case ALL_NEW -> after;
            case UPDATED_OLD -> part(write, before);
            case UPDATED_NEW -> part(write, after);
        };
    }

    private static @Nullable Map<String, AttributeValue> part(
            ItemWrite write, @Nullable Map<String, AttributeValue> item) {
        if (item == null || write.update() == null) {
            return null;
        }
        Map<String, AttributeValue> part = write.update().updatedPartOf(item);
        return part.isEmpty() ? null : part;
    }

    private static void requireOldOrNone(@Nullable ReturnValue wanted) {
        if (wanted != null && wanted != ReturnValue.NONE && wanted != ReturnValue.ALL_OLD) {
            throw invalid("Return values set to invalid value");
        }
    }

    private @Nullable Map<String, AttributeValue> apply(ItemWrite write, Meter meter) {
        if (write.table().isLocked(write.key())) {
            throw conflict();
        }
        Map<String, AttributeValue> before = write.before();
        Map<String, AttributeValue> after = before;
        try {
            after = write.after();
        } finally {
            meter.write(write.table(), ItemWrite.bytes(before, after), false);
        }
        tables.write(write.table(), write.key(), after);
        return after;
    }

    /// How a write is refused that meets a transaction.
    public static TransactionConflictException conflict() {
        return filled(
                        TransactionConflictException.builder(),
                        "TransactionConflictException",
                        "Transaction is ongoing for the item")
                .build();
    }

    /// @param skipping asked for each item; if it says so, the item stays unprocessed
    public BatchWriteItemResponse batch(BatchWriteItemRequest request, Meter meter, BooleanSupplier skipping) {
        // By table, because a map of the caller may have another order in every run.
        Map<String, List<WriteRequest>> requested = new TreeMap<>(request.requestItems());
        Map<String, List<WriteRequest>> unprocessed = new TreeMap<>();
        Deque<ItemWrite> writes = new ArrayDeque<>();
        long bytes = 0;
        for (Map.Entry<String, List<WriteRequest>> perTable : requested.entrySet()) {
            Table table = tables.table(perTable.getKey());
            Set<Key> keys = new TreeSet<>();
            for (WriteRequest one : perTable.getValue()) {
                ItemWrite write = one.putRequest() != null
                        ? ItemWrite.put(table, one.putRequest().item())
                        : ItemWrite.ofKey(
                                ItemWrite.Verb.DELETE,
                                table,
                                one.deleteRequest().key());
                if (!keys.add(write.key())) {
                    throw invalid("Provided list of item keys contains duplicates");
                }
                bytes += Values.sizeBytes(write.attributes());
                writes.add(write);
            }
        }
        if (writes.isEmpty() || writes.size() > BATCH_ITEMS_MAX) {
            throw invalid("Too many items requested for the BatchWriteItem call, or none: %d".formatted(writes.size()));
        }
        if (bytes > BATCH_BYTES_MAX) {
            throw invalid("The batch write request size exceeds 16 MB");
        }
        requested.forEach((name, ones) -> ones.forEach(one -> {
            ItemWrite write = writes.removeFirst();
            if (skipping.getAsBoolean() || write.table().isLocked(write.key())) {
                unprocessed.computeIfAbsent(name, _ -> new ArrayList<>()).add(one);
            } else {
                apply(write, meter);
            }
        }));
        return BatchWriteItemResponse.builder()
                .unprocessedItems(unprocessed)
                .consumedCapacity(meter.consumed(request.returnConsumedCapacity()))
                .build();
    }

    /// The expressions of a request, which may have placeholders only if it has an expression.
    ///
    /// @param texts the expressions, `null` where the request has none
    static Expressions expressions(
            @Nullable Map<String, String> names,
            @Nullable Map<String, AttributeValue> values,
            @Nullable String... texts) {
        if ((isGiven(names) || isGiven(values)) && Arrays.stream(texts).allMatch(Objects::isNull)) {
            throw invalid("ExpressionAttributeNames and ExpressionAttributeValues can only be specified when using"
                    + " expressions");
        }
        if ((names != null && isGiven(names) && names.isEmpty())
                || (values != null && isGiven(values) && values.isEmpty())) {
            throw invalid("ExpressionAttributeNames and ExpressionAttributeValues must not be empty");
        }
        return new Expressions(new Placeholders(names == null ? Map.of() : names, values == null ? Map.of() : values));
    }

    /// Whether a caller has set a map, be it an empty one.
    private static boolean isGiven(@Nullable Map<?, ?> map) {
        return map != null && !(map instanceof SdkAutoConstructMap);
    }
}
