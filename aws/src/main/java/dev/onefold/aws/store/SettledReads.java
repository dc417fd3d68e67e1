package dev.onefold.aws.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
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
    public static CompletableFuture<Optional<List<Map<String, AttributeValue>>>> of(
            Store store, String table, List<Map<String, AttributeValue>> keys) {
        List<CompletableFuture<Optional<List<Map<String, AttributeValue>>>>> parts = new ArrayList<>();
        for (int from = 0; from < keys.size(); from += KEYS_PER_REQUEST) {
            parts.add(part(store, table, keys.subList(from, Math.min(keys.size(), from + KEYS_PER_REQUEST))));
        }
        return together(parts);
    }

    private static CompletableFuture<Optional<List<Map<String, AttributeValue>>>> together(
            List<CompletableFuture<Optional<List<Map<String, AttributeValue>>>>> parts) {
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)).thenApply(_ -> {
            List<Map<String, AttributeValue>> items = new ArrayList<>();
            for (CompletableFuture<Optional<List<Map<String, AttributeValue>>>> part : parts) {
                if (part.join().isEmpty()) {
                    return Optional.empty();
                }
                items.addAll(part.join().get());
            }
            return Optional.of(items);
        });
    }

    private static CompletableFuture<Optional<List<Map<String, AttributeValue>>>> part(
            Store store, String table, List<Map<String, AttributeValue>> keys) {
        List<TransactGetItem> gets = keys.stream()
                .map(key -> TransactGetItem.builder()
                        .get(Get.builder().tableName(table).key(key).build())
                        .build())
                .toList();
        return store.client()
                .transactGetItems(request -> request.transactItems(gets))
                .thenApply(response -> Optional.of(response.responses().stream()
                        .map(ItemResponse::item)
                        .filter(item -> !item.isEmpty())
                        .toList()))
                .exceptionallyCompose(failure -> {
                    Throwable cause = Futures.cause(failure);
                    if (Store.mayPass(cause)) {
                        return CompletableFuture.completedFuture(Optional.empty());
                    }
                    if (isTooLarge(cause) && keys.size() > 1) {
                        int half = keys.size() / 2;
                        return together(List.of(
                                part(store, table, keys.subList(0, half)),
                                part(store, table, keys.subList(half, keys.size()))));
                    }
                    return CompletableFuture.failedFuture(new CompletionException(cause));
                });
    }

    /// Items of more than 4 MB together fit into no transaction.
    private static boolean isTooLarge(Throwable cause) {
        return !(cause instanceof TransactionCanceledException)
                && cause instanceof AwsServiceException service
                && service.awsErrorDetails() != null
                && "ValidationException".equals(service.awsErrorDetails().errorCode());
    }
}
