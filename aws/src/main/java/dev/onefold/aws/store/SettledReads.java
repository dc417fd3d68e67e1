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
        List<TransactGetItem> gets = keys.stream()
                .map(key -> TransactGetItem.builder()
                        .get(Get.builder().tableName(table).key(key).build())
                        .build())
                .toList();
        try {
            return Optional.of(store
                    .threads()
                    .await(store.client().transactGetItems(request -> request.transactItems(gets)))
                    .responses()
                    .stream()
                    .map(ItemResponse::item)
                    .filter(item -> !item.isEmpty())
                    .toList());
        } catch (SdkException failed) {
            if (Store.mayPass(failed)) {
                return Optional.empty();
            }
            if (isTooLarge(failed) && keys.size() > 1) {
                return together(store, table, Parts.of(keys, Math.ceilDiv(keys.size(), 2)));
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
