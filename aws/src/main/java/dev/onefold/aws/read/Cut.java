package dev.onefold.aws.read;

import dev.onefold.aws.Futures;
import dev.onefold.aws.Store;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.reduce.Headers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.model.Get;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.Update;

/// One instant of all lanes: the end of an epoch, which a reader closes in one transaction over all headers. Items keep
/// what was in them then, until the next epoch is closed and they change again; who finds one that did so starts
/// again with a new cut.
///
/// Readers share a cut for a second: each closing moves what Reduce's commits are conditional on, and many readers
/// would leave it no time between two of them.
///
/// @param epoch the one that was closed; items are read as they are if it is [#NOW]
/// @param covers all that was written before is in the cut
record Cut(long epoch, Instant covers) {
    /// No item was ever changed in a later epoch.
    static final long NOW = Long.MAX_VALUE >> 1;

    /// Instead of the least epoch: one that is not closed yet.
    static final long NEXT = -1;

    private static final Duration SHARED_MAX = Duration.ofSeconds(1);

    /// Takes a cut that somebody else has closed lately, or closes one.
    ///
    /// @param covers what a cut that is closed from now on covers
    /// @param least the least epoch that will do, or [#NEXT]
    static CompletableFuture<Cut> take(Store store, int lanes, Instant covers, long least) {
        return take(store, lanes, covers, least, 1).exceptionallyCompose(failure -> {
            Throwable cause = Futures.cause(failure);
            return CompletableFuture.failedFuture(
                    cause instanceof TransactionCanceledException
                            ? new IllegalStateException(
                                    "The headers of " + store.tables().totals()
                                            + " were in other transactions in all attempts to read them. Ask again.",
                                    cause)
                            : cause);
        });
    }

    private static CompletableFuture<Cut> take(Store store, int lanes, Instant covers, long least, int attempt) {
        return headers(store, lanes).thenCompose(headers -> {
            if (headers.size() < lanes) {
                return store.backOff(attempt)
                        .thenCompose(_ -> Headers.make(store, lanes))
                        .thenCompose(_ -> take(store, lanes, covers, least, attempt + 1));
            }
            long epoch = epoch(headers);
            Header.Closing closing = headers.getFirst().closing();
            if (closing != null && least != NEXT && epoch > least && isYoung(closing, store)) {
                return settle(store, headers).thenApply(_ -> new Cut(epoch - 1, closing.covers()));
            }
            // Whoever closes it, it is closed after this call began; so its cut is as good as one of ours.
            long enough = least == NEXT ? epoch : least;
            return close(store, headers, covers)
                    .thenCompose(written -> written instanceof Store.Written.Done
                            ? closed(store, lanes)
                            : store.backOff(attempt).thenCompose(_ -> take(store, lanes, covers, enough, attempt + 1)));
        });
    }

    private static boolean isYoung(Header.Closing closing, Store store) {
        Duration age = Duration.between(closing.at(), store.clock().instant()).abs();
        return age.compareTo(SHARED_MAX) < 0;
    }

    /// The last epoch that was closed; at least the one that this caller has closed.
    private static CompletableFuture<Cut> closed(Store store, int lanes) {
        return headers(store, lanes)
                .thenCompose(headers -> settle(store, headers)
                        .thenApply(_ -> new Cut(
                                epoch(headers) - 1,
                                Objects.requireNonNull(headers.getFirst().closing())
                                        .covers())));
    }

    /// The epoch of all lanes.
    static long epoch(List<Header> headers) {
        long epoch = headers.getFirst().epoch();
        if (headers.stream().anyMatch(header -> header.epoch() != epoch)) {
            throw new IllegalStateException("The lanes are in different epochs: " + headers
                    + ". The table of totals was changed by hand, or restored in part; rebuild it.");
        }
        return epoch;
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

    private static CompletableFuture<Store.Written> close(Store store, List<Header> headers, Instant covers) {
        List<TransactWriteItem> items = new ArrayList<>();
        for (Header header : headers) {
            items.add(TransactWriteItem.builder()
                    .update(Update.builder()
                            .tableName(store.tables().totals())
                            .key(Header.keyOf(header.lane()))
                            .updateExpression("SET t = :t, a = :a ADD n :one, e :one")
                            .conditionExpression("e = :epoch")
                            .expressionAttributeValues(Map.of(
                                    ":one", Items.number(1),
                                    ":epoch", Items.number(header.epoch()),
                                    ":t", Items.number(store.clock().millis()),
                                    ":a", Items.number(covers.toEpochMilli())))
                            .build())
                    .build());
        }
        return store.transact(items);
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
