package dev.onefold.aws.upkeep;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.store.Futures;
import dev.onefold.aws.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DeleteRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

/// Deletes the totals of views that the definition does not have any more. Only after all gates were moved and all
/// deltas of before were added: then nothing can add to them again. A reader that races with this
/// reads the definition again and discards what it read.
///
///     item = k 00 "cleaned", m all views up to this number are gone, but for s those that the definition had then
final class Cleaning {
    private static final int ITEMS_PER_REQUEST = 25;

    private final Store store;
    private final Definition definition;
    private final BooleanSupplier goesOn;

    private Cleaning(Store store, Definition definition, BooleanSupplier goesOn) {
        this.store = store;
        this.definition = definition;
        this.goesOn = goesOn;
    }

    private static Map<String, AttributeValue> key() {
        return RowItem.other("cleaned");
    }

    /// The views that there were once, and whose totals may still stand there.
    static CompletableFuture<Set<Integer>> left(Store store, Definition definition) {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(store.tables().rows())
                                .key(key())
                                .consistentRead(true)))
                .thenApply(response -> {
                    Set<Integer> left = new TreeSet<>();
                    int upTo = 0;
                    if (!response.item().isEmpty()) {
                        upTo = (int) Items.number(response.item(), "m");
                        Items.require(response.item(), "s").ns().forEach(view -> left.add(Integer.parseInt(view)));
                    }
                    for (int view = upTo + 1; view <= definition.last(); view++) {
                        left.add(view);
                    }
                    definition.views().forEach(view -> left.remove(view.number()));
                    return left;
                });
    }

    /// Deletes what is left of these views. Whether all of it is gone.
    static CompletableFuture<Boolean> clean(
            Store store, Definition definition, Set<Integer> views, BooleanSupplier goesOn) {
        Cleaning cleaning = new Cleaning(store, definition, goesOn);
        List<CompletableFuture<Boolean>> stripes = new ArrayList<>();
        for (int view : views) {
            for (int lane = 0; lane < definition.lanes(); lane++) {
                stripes.add(cleaning.stripe(TotalsKey.partition(view, lane), null));
            }
        }
        return CompletableFuture.allOf(stripes.toArray(CompletableFuture[]::new))
                .thenCompose(_ -> stripes.stream().allMatch(CompletableFuture::join)
                        ? cleaning.note().thenApply(_ -> true)
                        : CompletableFuture.completedFuture(false));
    }

    private CompletableFuture<Void> note() {
        return note(
                store,
                definition.last(),
                new TreeSet<>(
                        definition.views().stream().map(Definition.View::number).toList()));
    }

    /// Notes that all views up to a number are gone, but for some; unless more was noted already.
    static CompletableFuture<Void> note(Store store, int last, Set<Integer> but) {
        TreeMap<String, AttributeValue> item = new TreeMap<>(key());
        item.put("m", Items.number(last));
        item.put("s", AttributeValue.fromNs(but.stream().map(String::valueOf).toList()));
        return store.retried(() -> store.client()
                        .putItem(request -> request.tableName(store.tables().rows())
                                .item(item)
                                .conditionExpression("attribute_not_exists(m) OR m <= :m")
                                .expressionAttributeValues(Map.of(":m", Items.number(last)))))
                .handle((_, failure) -> {
                    Throwable cause = failure == null ? null : Futures.cause(failure);
                    if (cause != null && !(cause instanceof ConditionalCheckFailedException)) {
                        throw new CompletionException(cause);
                    }
                    return null;
                });
    }

    private CompletableFuture<Boolean> stripe(String partition, @Nullable Map<String, AttributeValue> start) {
        if (!goesOn.getAsBoolean()) {
            return CompletableFuture.completedFuture(false);
        }
        return store.retried(() -> store.client()
                        .query(request -> request.tableName(store.tables().totals())
                                .keyConditionExpression("p = :p")
                                .expressionAttributeValues(Map.of(":p", AttributeValue.fromS(partition)))
                                .projectionExpression(String.join(", ", TotalsKey.PARTITION, TotalsKey.GROUP))
                                .consistentRead(true)
                                .exclusiveStartKey(start)))
                .thenCompose(page -> delete(page)
                        .thenCompose(_ -> page.lastEvaluatedKey().isEmpty()
                                ? CompletableFuture.completedFuture(true)
                                : stripe(partition, page.lastEvaluatedKey())));
    }

    private CompletableFuture<Void> delete(QueryResponse page) {
        List<WriteRequest> deletes = new ArrayList<>();
        page.items()
                .forEach(item -> deletes.add(WriteRequest.builder()
                        .deleteRequest(DeleteRequest.builder().key(item).build())
                        .build()));
        CompletableFuture<Void> deleted = CompletableFuture.completedFuture(null);
        for (int from = 0; from < deletes.size(); from += ITEMS_PER_REQUEST) {
            List<WriteRequest> some = deletes.subList(from, Math.min(deletes.size(), from + ITEMS_PER_REQUEST));
            deleted = deleted.thenCompose(_ -> delete(some, 1));
        }
        return deleted;
    }

    private CompletableFuture<Void> delete(List<WriteRequest> some, int attempt) {
        String table = store.tables().totals();
        return store.retried(() -> store.client().batchWriteItem(request -> request.requestItems(Map.of(table, some))))
                .thenCompose(response -> {
                    List<WriteRequest> again = response.unprocessedItems().getOrDefault(table, List.of());
                    return again.isEmpty()
                            ? CompletableFuture.completedFuture(null)
                            : store.backOff(attempt).thenCompose(_ -> delete(again, attempt + 1));
                });
    }
}
