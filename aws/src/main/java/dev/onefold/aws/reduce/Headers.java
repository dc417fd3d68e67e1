package dev.onefold.aws.reduce;

import dev.onefold.aws.Futures;
import dev.onefold.aws.Store;
import dev.onefold.aws.item.Header;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;

/// Makes the headers of lanes that have none yet. An epoch cannot be closed before all are there, so all are made in
/// the first one, whoever makes them and however often.
public final class Headers {
    private Headers() {}

    /// Makes those that are missing.
    public static CompletableFuture<Void> make(Store store, int lanes) {
        CompletableFuture<Void> made = CompletableFuture.completedFuture(null);
        for (int lane = 0; lane < lanes; lane++) {
            Header header = Header.first(lane);
            made = made.thenCompose(_ -> make(store, header));
        }
        return made;
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
