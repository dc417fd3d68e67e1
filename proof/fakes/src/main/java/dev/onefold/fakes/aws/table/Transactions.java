package dev.onefold.fakes.aws.table;

import static dev.onefold.fakes.aws.item.Refusal.filled;
import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.expression.Expressions;
import dev.onefold.fakes.aws.item.Refusal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.IdempotentParameterMismatchException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.TransactionInProgressException;

/// Transactions that write. One is begun, which judges every condition and locks every item; then its writes
/// are applied one by one, each of which unlocks its item, as a storage node does when it is told to commit;
/// then it is ended. In between, other transactions and single writes meet the locks that are left, and plain
/// reads see some items as before and some as after.
public final class Transactions {
    static final int ITEMS_MAX = 100;
    static final long BYTES_MAX = 4L << 20;

    private static final Duration TOKEN_AGE_MAX = Duration.ofMinutes(10);
    private static final int TOKEN_LENGTH_MAX = 36;

    private final Tables tables;
    private final Map<String, Token> tokens = new TreeMap<>();
    private final Deque<String> ended = new ArrayDeque<>();
    private final Map<String, Capacity> capacities = new TreeMap<>();
    private Predicate<Map<String, AttributeValue>> throttled = _ -> false;

    /// From now on these items are throttled.
    ///
    /// @param items as they are put; of one that is updated, deleted or checked, the key
    public void throttle(Predicate<Map<String, AttributeValue>> items) {
        throttled = items;
    }

    /// From now on the transactions on a table take so many units in a second.
    public void limit(String table, int unitsPerSecond) {
        capacities.put(table, new Capacity(unitsPerSecond, tables.now()));
    }

    private boolean isFull(ItemWrite write) {
        Capacity capacity = capacities.get(write.table().name());
        return capacity != null && !capacity.takes(write.key(), units(write), tables.now());
    }

    private static long units(ItemWrite write) {
        return Meter.writeUnits(ItemWrite.bytes(write.before(), write.attributes()));
    }

    public Transactions(Tables tables) {
        this.tables = tables;
    }

    /// What is known of a request by its token: of its items no more than a hash, because it is known for
    /// minutes, and a million messages come to gigabytes of requests.
    private static final class Token {
        private final int itemsHash;
        private @Nullable Instant endedAt;

        private Token(List<TransactWriteItem> items) {
            itemsHash = items.hashCode();
        }
    }

    /// A transaction that cannot fail any more.
    public final class Begun {
        private final TransactWriteItemsRequest request;
        private final Meter meter;
        private final List<ItemWrite> writes;
        private final List<@Nullable Map<String, AttributeValue>> afters;

        private Begun(
                TransactWriteItemsRequest request,
                Meter meter,
                List<ItemWrite> writes,
                List<@Nullable Map<String, AttributeValue>> afters) {
            this.request = request;
            this.meter = meter;
            this.writes = writes;
            this.afters = afters;
        }

        /// How many writes there are to apply; none if an earlier request with the same token applied them.
        public int size() {
            return writes.size();
        }

        /// Applies one of them, and unlocks its item.
        public void apply(int index) {
            ItemWrite write = writes.get(index);
            if (write.verb() != ItemWrite.Verb.CHECK) {
                tables.write(write.table(), write.key(), afters.get(index));
            }
            Capacity capacity = capacities.get(write.table().name());
            if (capacity != null) {
                capacity.take(write.key(), units(write));
            }
            write.table().unlock(write.key());
        }

        /// Ends it, when all writes are applied.
        public TransactWriteItemsResponse end() {
            Token token = request.clientRequestToken() == null ? null : tokens.get(request.clientRequestToken());
            if (token != null && token.endedAt == null) {
                token.endedAt = tables.now();
                ended.add(request.clientRequestToken());
            }
            return TransactWriteItemsResponse.builder()
                    .consumedCapacity(meter.consumed(request.returnConsumedCapacity()))
                    .build();
        }
    }

    /// Begins a transaction, if nothing speaks against it.
    ///
    /// @throws TransactionCanceledException if an item does
    public Begun begin(TransactWriteItemsRequest request, Meter meter) {
        List<TransactWriteItem> items = request.transactItems();
        if (items.isEmpty() || items.size() > ITEMS_MAX) {
            throw invalid("Member must have length between 1 and 100: transactItems has %d".formatted(items.size()));
        }
        List<ItemWrite> writes = items.stream().map(this::write).toList();
        requireDistinct(writes);
        if (isRepeated(request)) {
            writes.forEach(
                    write -> meter.read(write.table(), bytes(write, write.before()), Meter.Reading.TRANSACTIONAL));
            return new Begun(request, meter, List.of(), List.of());
        }
        List<@Nullable Map<String, AttributeValue>> afters = judge(writes, meter);
        writes.forEach(write -> write.table().lock(write.key()));
        if (request.clientRequestToken() != null) {
            tokens.put(request.clientRequestToken(), new Token(items));
        }
        return new Begun(request, meter, writes, afters);
    }

    private static void requireDistinct(List<ItemWrite> writes) {
        for (int i = 0; i < writes.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (writes.get(i).table() == writes.get(j).table()
                        && writes.get(i).key().equals(writes.get(j).key())) {
                    throw invalid("Transaction request cannot include multiple operations on one item");
                }
            }
        }
    }

    private void forget(Instant horizon) {
        while (!ended.isEmpty()) {
            Token oldest = Objects.requireNonNull(tokens.get(ended.getFirst()));
            if (Objects.requireNonNull(oldest.endedAt).isAfter(horizon)) {
                return;
            }
            tokens.remove(ended.remove());
        }
    }

    private boolean isRepeated(TransactWriteItemsRequest request) {
        String text = request.clientRequestToken();
        if (text == null) {
            return false;
        }
        if (text.isEmpty() || text.length() > TOKEN_LENGTH_MAX) {
            throw invalid("Member must have length between 1 and 36: clientRequestToken '%s'".formatted(text));
        }
        Instant horizon = tables.now().minus(TOKEN_AGE_MAX);
        forget(horizon);
        Token known = tokens.get(text);
        if (known == null) {
            return false;
        }
        if (known.itemsHash != request.transactItems().hashCode()) {
            throw filled(
                            IdempotentParameterMismatchException.builder(),
                            "IdempotentParameterMismatchException",
                            "The parameters do not match those of the request that first used the token " + text)
                    .build();
        }
        if (known.endedAt == null) {
            throw filled(
                            TransactionInProgressException.builder(),
                            "TransactionInProgressException",
                            "The transaction with the given request token is already in progress")
                    .build();
        }
        return true;
    }

    /// What the items will be.
    private List<@Nullable Map<String, AttributeValue>> judge(List<ItemWrite> writes, Meter meter) {
        List<CancellationReason> reasons = new ArrayList<>();
        List<@Nullable Map<String, AttributeValue>> afters = new ArrayList<>();
        long bytes = 0;
        boolean isThrottled = false;
        for (ItemWrite write : writes) {
            Map<String, AttributeValue> after = null;
            CancellationReason reason = reason("None", null).build();
            try {
                boolean isFull = isFull(write);
                isThrottled |= isFull;
                if (isFull || throttled.test(write.attributes())) {
                    reason = reason(
                                    "ThrottlingError",
                                    "Throughput exceeds the current capacity of the item's partition")
                            .build();
                } else if (write.table().isLocked(write.key())) {
                    reason = conflict();
                } else {
                    after = write.after();
                }
            } catch (ConditionalCheckFailedException failed) {
                reason = reason("ConditionalCheckFailed", "The conditional request failed")
                        .item(failed.hasItem() ? failed.item() : null)
                        .build();
            } catch (DynamoDbException failed) {
                if (!Refusal.isInvalid(failed)) {
                    throw failed;
                }
                reason = reason("ValidationError", failed.awsErrorDetails().errorMessage())
                        .build();
            }
            bytes += bytes(write, after);
            afters.add(after);
            reasons.add(reason);
        }
        for (int i = 0; i < writes.size(); i++) {
            // Of one that is throttled, what it took of the capacity.
            if (!isThrottled || !"ThrottlingError".equals(reasons.get(i).code())) {
                ItemWrite write = writes.get(i);
                meter.write(write.table(), bytes(write, afters.get(i)), !isThrottled);
            }
        }
        requireNone(reasons);
        if (bytes > BYTES_MAX) {
            throw invalid("The aggregate size of the items in the transaction exceeds 4 MB");
        }
        return Collections.unmodifiableList(afters);
    }

    private static long bytes(ItemWrite write, @Nullable Map<String, AttributeValue> after) {
        return ItemWrite.bytes(write.before(), after);
    }

    private ItemWrite write(TransactWriteItem item) {
        int verbs = 0;
        for (Object verb : new @Nullable Object[] {item.put(), item.update(), item.delete(), item.conditionCheck()}) {
            verbs += verb == null ? 0 : 1;
        }
        if (verbs != 1) {
            throw invalid("TransactItems can only contain one of Check, Put, Update or Delete");
        }
        if (item.put() != null) {
            var put = item.put();
            Expressions expressions = Writes.expressions(
                    put.expressionAttributeNames(), put.expressionAttributeValues(), put.conditionExpression());
            ItemWrite write = ItemWrite.put(tables.table(put.tableName()), put.item());
            return checked(write, expressions, put.conditionExpression(), put.returnValuesOnConditionCheckFailure());
        }
        if (item.update() != null) {
            var update = item.update();
            if (update.updateExpression() == null) {
                throw invalid("The UpdateExpression of an Update is required");
            }
            Expressions expressions = Writes.expressions(
                    update.expressionAttributeNames(), update.expressionAttributeValues(), update.updateExpression());
            ItemWrite write = ItemWrite.ofKey(ItemWrite.Verb.UPDATE, tables.table(update.tableName()), update.key())
                    .updating(expressions, update.updateExpression());
            return checked(
                    write, expressions, update.conditionExpression(), update.returnValuesOnConditionCheckFailure());
        }
        return item.delete() != null ? delete(item) : check(item);
    }

    private ItemWrite delete(TransactWriteItem item) {
        var delete = item.delete();
        Expressions expressions = Writes.expressions(
                delete.expressionAttributeNames(), delete.expressionAttributeValues(), delete.conditionExpression());
        ItemWrite write = ItemWrite.ofKey(ItemWrite.Verb.DELETE, tables.table(delete.tableName()), delete.key());
        return checked(write, expressions, delete.conditionExpression(), delete.returnValuesOnConditionCheckFailure());
    }

    private ItemWrite check(TransactWriteItem item) {
        var check = item.conditionCheck();
        if (check.conditionExpression() == null) {
            throw invalid("The ConditionExpression of a ConditionCheck is required");
        }
        Expressions expressions = Writes.expressions(
                check.expressionAttributeNames(), check.expressionAttributeValues(), check.conditionExpression());
        ItemWrite write = ItemWrite.ofKey(ItemWrite.Verb.CHECK, tables.table(check.tableName()), check.key());
        return checked(write, expressions, check.conditionExpression(), check.returnValuesOnConditionCheckFailure());
    }

    private static ItemWrite checked(
            ItemWrite write,
            Expressions expressions,
            @Nullable String condition,
            @Nullable ReturnValuesOnConditionCheckFailure onFailure) {
        ItemWrite checked = write.onCondition(expressions, condition, onFailure);
        expressions.requireAllUsed();
        return checked;
    }

    static CancellationReason.Builder reason(String code, @Nullable String message) {
        return CancellationReason.builder().code(code).message(message);
    }

    static CancellationReason conflict() {
        return reason("TransactionConflict", "Transaction is ongoing for the item")
                .build();
    }

    static void requireNone(List<CancellationReason> reasons) {
        if (reasons.stream().anyMatch(reason -> !reason.code().equals("None"))) {
            throw cancelled(reasons);
        }
    }

    /// A transaction that is refused because one of so many items is.
    public static TransactionCanceledException cancelled(int items, int index, String code) {
        List<CancellationReason> reasons = new ArrayList<>();
        for (int i = 0; i < items; i++) {
            reasons.add(reason(i == index ? code : "None", i == index ? "simulated" : null)
                    .build());
        }
        return cancelled(reasons);
    }

    private static TransactionCanceledException cancelled(List<CancellationReason> reasons) {
        List<String> codes = reasons.stream().map(CancellationReason::code).toList();
        return filled(
                        TransactionCanceledException.builder(),
                        "TransactionCanceledException",
                        "Transaction cancelled, please refer cancellation reasons for specific reasons " + codes)
                .cancellationReasons(reasons)
                .build();
    }
}
