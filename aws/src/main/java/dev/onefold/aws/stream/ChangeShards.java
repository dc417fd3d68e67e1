package dev.onefold.aws.stream;

import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;

/// The change stream of a table.
///
/// @param stream its ARN
record ChangeShards(DynamoDbStreamsAsyncClient client, String stream) implements Shards {
    /// Of every table, and nothing prolongs it.
    private static final Duration RETENTION = Duration.ofHours(24);

    @Override
    public CompletableFuture<List<Shard>> list(Store store) {
        return list(store, null, new ArrayList<>());
    }

    private CompletableFuture<List<Shard>> list(Store store, @Nullable String last, List<Shard> found) {
        return Failure.retried(
                        store,
                        () -> client.describeStream(
                                request -> request.streamArn(stream).exclusiveStartShardId(last)))
                .thenCompose(response -> {
                    for (var shard : response.streamDescription().shards()) {
                        String parent = shard.parentShardId();
                        found.add(new Shard(shard.shardId(), parent == null ? List.of() : List.of(parent)));
                    }
                    String next = response.streamDescription().lastEvaluatedShardId();
                    return next == null ? CompletableFuture.completedFuture(found) : list(store, next, found);
                });
    }

    @Override
    public Pages pages(String shard) {
        return new ChangePages(client, stream, shard);
    }

    @Override
    public CompletableFuture<Duration> retention(Store store) {
        return CompletableFuture.completedFuture(RETENTION);
    }

    /// The time of a change is told rounded down, to a second or, as some do, to a minute.
    @Override
    public Position begin(Position from) {
        return from instanceof Position.Time(var at) ? new Position.Time(at.truncatedTo(ChronoUnit.MINUTES)) : from;
    }
}
