package dev.onefold.aws.reduce;

import dev.onefold.aws.item.DeltaItem;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/// How far the totals are behind the rows.
public final class Lag {
    private Lag() {}

    /// Age of the oldest delta; zero if there is none.
    public static Duration of(Store store, int lanes) {
        Instant now = store.clock().instant();
        return Duration.between(oldest(store, lanes, now), now);
    }

    /// When the oldest delta was written that is not in the totals yet.
    ///
    /// @param otherwise if there is none
    public static Instant oldest(Store store, int lanes, Instant otherwise) {
        return store.threads().all(lanes, lane -> oldest(store, lane)).stream()
                .flatMap(Optional::stream)
                .min(Instant::compareTo)
                .orElse(otherwise);
    }

    private static Optional<Instant> oldest(Store store, int lane) {
        QueryRequest request = QueryRequest.builder()
                .tableName(store.tables().deltas())
                .keyConditionExpression("l = :l")
                .expressionAttributeValues(Map.of(":l", AttributeValue.fromS(Integer.toString(lane))))
                .consistentRead(true)
                .limit(1)
                .build();
        return Queries.first(store, request).items().stream()
                .findFirst()
                .map(item -> DeltaItem.of(item).at());
    }
}
