package dev.onefold.aws.publication;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.TableIds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionCheck;
import software.amazon.awssdk.services.dynamodb.model.Delete;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// The requests to a published table.
record PublishedTable(Store store, String name) {
    private static final int ITEMS_PER_TRANSACTION = 99; // Of the hundred, one is the mark.
    private static final int AT_ONCE_MAX = 100;

    /// Another table has another one, also if it has taken the place of this one.
    String id() {
        return TableIds.ask(store, List.of(name)).getFirst().id();
    }

    Mark mark() {
        return Mark.of(store.get(name, Mark.key()));
    }

    /// Puts a mark in the place of another one; whether it is there now. An answer may be lost.
    boolean put(Mark next, Mark seen) {
        boolean isPut = store.retriedIf(() -> store.client().putItem(request -> {
            request.tableName(name).item(next.item());
            request.conditionExpression(seen.isUnmoved());
            if (seen.claim().cut() > 0) {
                request.expressionAttributeValues(seen.claimedAndCut());
            }
        }));
        if (isPut) {
            return true;
        }
        Mark now = mark();
        return now.isClaimOf(next) && now.whole().cut() == next.whole().cut();
    }

    void scan(Consumer<List<Map<String, AttributeValue>>> reader) {
        Queries.scan(store, name, reader);
    }

    TransactWriteItem putting(Map<String, AttributeValue> item) {
        return TransactWriteItem.builder()
                .put(Put.builder().tableName(name).item(item).build())
                .build();
    }

    TransactWriteItem deleting(String id) {
        return TransactWriteItem.builder()
                .delete(Delete.builder()
                        .tableName(name)
                        .key(PublishedItems.key(id))
                        .build())
                .build();
    }

    /// Writes items in transactions which check that a claim is the last one; whether it still is. Done twice
    /// it is as if done once.
    boolean commit(Mark claim, List<TransactWriteItem> items) {
        return !store.threads()
                .all(Parts.of(items, ITEMS_PER_TRANSACTION), some -> store.transactIf(checked(claim, some)))
                .contains(false);
    }

    private List<TransactWriteItem> checked(Mark claim, List<TransactWriteItem> some) {
        List<TransactWriteItem> items = new ArrayList<>();
        items.add(TransactWriteItem.builder()
                .conditionCheck(ConditionCheck.builder()
                        .tableName(name)
                        .key(Mark.key())
                        .conditionExpression(Mark.IS_LAST)
                        .expressionAttributeValues(claim.claimed())
                        .build())
                .build());
        items.addAll(some);
        return items;
    }

    /// Replaces items that are of the cut in which they were read. If one is not, it is of this claim's commits
    /// already, or of later ones: each writer of a claim that adds commits writes the same items with the same
    /// content until all of them are written.
    ///
    /// @param items each with the cut that it had
    void replace(Map<Map<String, AttributeValue>, Long> items) {
        for (List<Map.Entry<Map<String, AttributeValue>, Long>> some :
                Parts.of(List.copyOf(items.entrySet()), AT_ONCE_MAX)) {
            store.threads()
                    .each(
                            some,
                            each -> store.retriedIf(() -> store.client()
                                    .putItem(request -> request.tableName(name)
                                            .item(each.getKey())
                                            .conditionExpression("cut = :cut")
                                            .expressionAttributeValues(
                                                    Map.of(":cut", Items.number(each.getValue()))))));
        }
    }
}
