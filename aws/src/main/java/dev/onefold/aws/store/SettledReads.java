package dev.onefold.aws.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Get;
import software.amazon.awssdk.services.dynamodb.model.ItemResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/// Reads items by their keys on which no transaction is under way. The items of a transaction become visible one after
/// the other, and a plain read of one that is still to come is served at once, with the value of before; so what a
/// plain read does not find may be on its way. A transaction of reads is refused as long as it is.
public final class SettledReads {
    private static final int KEYS_PER_REQUEST = 100;

    private SettledReads() {}

    /// An item of a table.
    public record Item(String table, Map<String, AttributeValue> key) {}

    /// The items that there are, in any order; empty if a transaction is under way on one of them.
    ///
    /// @param keys each at most once
    public static Optional<List<Map<String, AttributeValue>>> of(
            Store store, String table, List<Map<String, AttributeValue>> keys) {
        return together(store, table, Parts.of(keys, KEYS_PER_REQUEST));
    }

    private static Optional<List<Map<String, AttributeValue>>> together(
            Store store, String table, List<List<Map<String, AttributeValue>>> parts) {
        List<Map<String, AttributeValue>> items = new ArrayList<>();
        for (var part : store.threads().all(parts, keys -> part(store, table, keys))) {
            if (part.isEmpty()) {
                return Optional.empty();
            }
            items.addAll(part.get());
        }
        return Optional.of(items);
    }

    private static Optional<List<Map<String, AttributeValue>>> part(
            Store store, String table, List<Map<String, AttributeValue>> keys) {
        try {
            return get(store, keys.stream().map(key -> new Item(table, key)).toList())
                    .map(items -> items.stream().filter(item -> !item.isEmpty()).toList());
        } catch (SdkException failed) {
            if (isTooLarge(failed) && keys.size() > 1) {
                return together(store, table, Parts.of(keys, Math.ceilDiv(keys.size(), 2)));
            }
            throw failed;
        }
    }

    /// The first item and up to 99 others, all as of one instant, in their order; one that is not there is empty. If
    /// they are too large for one read, each part of them is as of an instant at which the first one was the same.
    /// Empty if a transaction is under way on one of them, or the first one has changed.
    public static Optional<List<Map<String, AttributeValue>>> inOrder(Store store, List<Item> items) {
        try {
            return get(store, items);
        } catch (SdkException failed) {
            if (!isTooLarge(failed) || items.size() <= 2) {
                throw failed;
            }
            int middle = Math.ceilDiv(items.size(), 2);
            List<Item> right = new ArrayList<>(List.of(items.getFirst()));
            right.addAll(items.subList(middle, items.size()));
            Optional<List<Map<String, AttributeValue>>> first = inOrder(store, items.subList(0, middle));
            Optional<List<Map<String, AttributeValue>>> second = inOrder(store, right);
            if (first.isEmpty()
                    || second.isEmpty()
                    || !first.get().getFirst().equals(second.get().getFirst())) {
                return Optional.empty();
            }
            List<Map<String, AttributeValue>> all = new ArrayList<>(first.get());
            all.addAll(second.get().subList(1, right.size()));
            return Optional.of(all);
        }
    }

    private static Optional<List<Map<String, AttributeValue>>> get(Store store, List<Item> items) {
        List<TransactGetItem> gets = items.stream()
                .map(item -> TransactGetItem.builder()
                        .get(Get.builder().tableName(item.table).key(item.key).build())
                        .build())
                .toList();
        try {
            return Optional.of(store
                    .threads()
                    .await(store.client().transactGetItems(request -> request.transactItems(gets)))
                    .responses()
                    .stream()
                    .map(ItemResponse::item)
                    .toList());
        } catch (SdkException failed) {
            if (Store.mayPass(failed)) {
                return Optional.empty();
            }
            throw failed;
        }
    }

    /// Items of more than 4 MB together fit into no transaction.
    private static boolean isTooLarge(Throwable cause) {
        return !(cause instanceof TransactionCanceledException)
                && cause instanceof AwsServiceException service
                && service.awsErrorDetails() != null
                && "ValidationException".equals(service.awsErrorDetails().errorCode());
    }
}
