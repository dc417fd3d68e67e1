package dev.onefold.aws.store;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;

/// Queries and scans, page by page. A page without items is not the end of the range: a query may stop at the border of
/// a partition whose items are gone. Only a page without a key to go on from is the last one.
public final class Queries {
    private Queries() {}

    /// Reads all items of a table, a page at a time.
    public static void scan(Store store, String table, Consumer<List<Map<String, AttributeValue>>> reader) {
        Map<String, AttributeValue> start = Map.of();
        do {
            ScanRequest request = ScanRequest.builder()
                    .tableName(table)
                    .consistentRead(true)
                    .exclusiveStartKey(start.isEmpty() ? null : start)
                    .build();
            ScanResponse page = store.retried(() -> store.client().scan(request));
            reader.accept(page.items());
            start = page.lastEvaluatedKey();
        } while (!start.isEmpty());
    }

    /// The first page that has items, or the last one.
    public static QueryResponse first(Store store, QueryRequest request) {
        return pages(store, request, page -> page.items().isEmpty());
    }

    /// Reads page after page, as long as there is one and it is wanted.
    ///
    /// @param goesOn takes a page; whether the next one is wanted
    /// @return the last page that was read
    public static QueryResponse pages(Store store, QueryRequest request, Predicate<QueryResponse> goesOn) {
        for (Map<String, AttributeValue> start = request.exclusiveStartKey(); ; ) {
            QueryRequest next = request.toBuilder().exclusiveStartKey(start).build();
            QueryResponse page = store.retried(() -> store.client().query(next));
            if (!goesOn.test(page) || page.lastEvaluatedKey().isEmpty()) {
                return page;
            }
            start = page.lastEvaluatedKey();
        }
    }
}
