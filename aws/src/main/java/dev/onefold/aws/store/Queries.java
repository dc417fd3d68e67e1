package dev.onefold.aws.store;

import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;

/// Queries that want the first items of a range. A page without items is not the end of the range: a query may stop at
/// the border of a partition whose items are gone. Only a page without a key to go on from is the last one.
public final class Queries {
    private Queries() {}

    /// The first page that has items, or the last one.
    public static CompletableFuture<QueryResponse> first(Store store, QueryRequest request) {
        return store.retried(() -> store.client().query(request))
                .thenCompose(page ->
                        page.items().isEmpty() && !page.lastEvaluatedKey().isEmpty()
                                ? first(
                                        store,
                                        request.toBuilder()
                                                .exclusiveStartKey(page.lastEvaluatedKey())
                                                .build())
                                : CompletableFuture.completedFuture(page));
    }
}
