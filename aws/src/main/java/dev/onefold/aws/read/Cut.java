package dev.onefold.aws.read;

import dev.onefold.aws.Store;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.reduce.Headers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.model.Get;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.Update;

/// One instant of all lanes: the end of an epoch, which a reader closes in one transaction over all headers. Items keep
/// what was in them then, until the next epoch is closed and they change again; who finds one that did so starts
/// again with a new cut.
///
/// @param epoch the one that was closed; items are read as they are if it is [#NOW]
record Cut(long epoch) {
    /// No item was ever changed in a later epoch.
    static final long NOW = Long.MAX_VALUE >> 1;

    /// Closes the epoch.
    static CompletableFuture<Cut> close(Store store, int lanes) {
        return close(store, lanes, 1).thenCompose(_ -> headers(store, lanes)).thenCompose(headers -> {
            long epoch = headers.getFirst().epoch();
            if (headers.stream().anyMatch(header -> header.epoch() != epoch)) {
                throw new IllegalStateException("The lanes are in different epochs: " + headers
                        + ". The table of totals was changed by hand, or restored in part; rebuild it.");
            }
            return settle(store, headers).thenApply(_ -> new Cut(epoch - 1));
        });
    }

    /// Completes when all that was committed before these headers were read is visible to plain reads.
    static CompletableFuture<Void> settle(Store store, List<Header> headers) {
        return CompletableFuture.allOf(
                headers.stream().map(header -> Headers.settle(store, header)).toArray(CompletableFuture[]::new));
    }

    /// The headers at one instant; those that there are.
    static CompletableFuture<List<Header>> headers(Store store, int lanes) {
        return store.retried(
                        () -> store.client().transactGetItems(request -> request.transactItems(gets(store, lanes))))
                .thenApply(response -> response.responses().stream()
                        .filter(header -> !header.item().isEmpty())
                        .map(header -> Header.of(header.item()))
                        .toList());
    }

    /// An epoch that is closed once more than was meant is no harm.
    private static CompletableFuture<Void> close(Store store, int lanes, int attempt) {
        List<TransactWriteItem> items = new ArrayList<>();
        for (int lane = 0; lane < lanes; lane++) {
            items.add(TransactWriteItem.builder()
                    .update(Update.builder()
                            .tableName(store.tables().totals())
                            .key(Header.keyOf(lane))
                            .updateExpression("ADD n :one, e :one")
                            .conditionExpression("attribute_exists(p)")
                            .expressionAttributeValues(Map.of(":one", Items.number(1)))
                            .build())
                    .build());
        }
        return store.transact(items)
                .thenCompose(written -> written instanceof Store.Written.Done
                        ? CompletableFuture.completedFuture(null)
                        : store.backOff(attempt)
                                .thenCompose(_ -> written instanceof Store.Written.Refused refused
                                                && IntStream.range(0, lanes).anyMatch(refused::failed)
                                        ? Headers.make(store, lanes)
                                        : CompletableFuture.completedFuture(null))
                                .thenCompose(_ -> close(store, lanes, attempt + 1)));
    }

    private static List<TransactGetItem> gets(Store store, int lanes) {
        return IntStream.range(0, lanes)
                .mapToObj(lane -> TransactGetItem.builder()
                        .get(Get.builder()
                                .tableName(store.tables().totals())
                                .key(Header.keyOf(lane))
                                .build())
                        .build())
                .toList();
    }
}
