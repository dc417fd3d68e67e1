package dev.onefold.aws.reduce;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.store.Futures;
import dev.onefold.aws.store.SettledReads;
import dev.onefold.aws.store.Store;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;

/// Makes the headers of lanes that have none yet. An epoch cannot be closed before all are there, so all are made in
/// the first one, whoever makes them and however often.
public final class Headers {
    private Headers() {}

    /// Makes those that are missing.
    public static CompletableFuture<Void> make(Store store, Definition definition) {
        CompletableFuture<Void> made = CompletableFuture.completedFuture(null);
        for (int lane = 0; lane < definition.lanes(); lane++) {
            Header header = Header.first(lane, definition.incarnation().id());
            made = made.thenCompose(_ -> make(store, header));
        }
        return made;
    }

    /// Completes when all that a header's last commit wrote is visible to plain reads.
    ///
    /// @param header as it was read
    public static CompletableFuture<Void> settle(Store store, Header header) {
        return settle(store, header, 1);
    }

    private static CompletableFuture<Void> settle(Store store, Header header, int attempt) {
        return SettledReads.of(store, store.tables().totals(), header.touched())
                .thenCompose(items -> items.isPresent()
                        ? CompletableFuture.completedFuture(null)
                        : store.backOff(attempt)
                                .thenCompose(_ -> find(store, header.lane()))
                                .thenCompose(now ->
                                        // Nobody sends the next commit before the last one is visible.
                                        now.isEmpty() || now.get().last() != header.last()
                                                ? CompletableFuture.completedFuture(null)
                                                : settle(store, now.get(), attempt + 1)));
    }

    /// A lane's header, if it has one.
    public static CompletableFuture<Optional<Header>> find(Store store, int lane) {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(store.tables().totals())
                                .key(Header.keyOf(lane))
                                .consistentRead(true)))
                .thenApply(response ->
                        response.item().isEmpty() ? Optional.empty() : Optional.of(Header.of(response.item())));
    }

    private static CompletableFuture<Void> make(Store store, Header header) {
        return store.retried(() -> store.client()
                        .putItem(request -> request.tableName(store.tables().totals())
                                .item(header.item())
                                .conditionExpression("attribute_not_exists(p)")))
                .handle((_, failure) -> {
                    Throwable cause = failure == null ? null : Futures.cause(failure);
                    if (cause != null && !(cause instanceof ConditionalCheckFailedException)) {
                        throw new CompletionException(cause);
                    }
                    return null;
                });
    }
}
