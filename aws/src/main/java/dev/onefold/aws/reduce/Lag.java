package dev.onefold.aws.reduce;

import dev.onefold.aws.item.DeltaItem;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/// How far the totals are behind the rows.
public final class Lag {
    private Lag() {}

    /// Age of the oldest delta; zero if there is none.
    public static CompletableFuture<Duration> of(Store store, int lanes) {
        Instant now = store.clock().instant();
        return oldest(store, lanes, now).thenApply(oldest -> Duration.between(oldest, now));
    }

    /// When the oldest delta was written that is not in the totals yet.
    ///
    /// @param otherwise if there is none
    public static CompletableFuture<Instant> oldest(Store store, int lanes, Instant otherwise) {
        List<CompletableFuture<Instant>> each = IntStream.range(0, lanes)
                .mapToObj(lane -> Queries.first(
                                store,
                                QueryRequest.builder()
                                        .tableName(store.tables().deltas())
                                        .keyConditionExpression("l = :l")
                                        .expressionAttributeValues(
                                                Map.of(":l", AttributeValue.fromS(Integer.toString(lane))))
                                        .consistentRead(true)
                                        .limit(1)
                                        .build())
                        .thenApply(response -> response.items().isEmpty()
                                ? otherwise
                                : DeltaItem.of(response.items().getFirst()).at()))
                .toList();
        return CompletableFuture.allOf(each.toArray(CompletableFuture[]::new))
                .thenApply(_ -> each.stream()
                        .map(CompletableFuture::join)
                        .min(Instant::compareTo)
                        .orElse(otherwise));
    }
}
