package dev.onefold.aws.stream;

import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// A stream of Kinesis.
///
/// @param stream its name or its ARN
record KinesisShards(KinesisAsyncClient client, String stream) implements Shards {
    @Override
    public CompletableFuture<List<Shard>> list(Store store) {
        return list(store, null, new ArrayList<>());
    }

    private CompletableFuture<List<Shard>> list(Store store, @Nullable String token, List<Shard> found) {
        boolean isArn = stream.startsWith("arn:");
        return Failure.retried(
                        store,
                        () -> client.listShards(request -> {
                            // The token knows the stream, and both together are refused.
                            if (token != null) {
                                request.nextToken(token);
                            } else {
                                request.streamName(isArn ? null : stream).streamARN(isArn ? stream : null);
                            }
                        }))
                .thenCompose(response -> {
                    response.shards().forEach(shard -> found.add(shard(shard)));
                    return response.nextToken() == null
                            ? CompletableFuture.completedFuture(found)
                            : list(store, response.nextToken(), found);
                });
    }

    private static Shard shard(software.amazon.awssdk.services.kinesis.model.Shard shard) {
        return new Shard(
                shard.shardId(),
                Stream.of(shard.parentShardId(), shard.adjacentParentShardId())
                        .filter(Objects::nonNull)
                        .toList());
    }

    @Override
    public Pages pages(String shard) {
        return new KinesisPages(client, stream, shard);
    }

    @Override
    public CompletableFuture<Duration> retention(Store store) {
        boolean isArn = stream.startsWith("arn:");
        return Failure.retried(
                        store,
                        () -> client.describeStreamSummary(request ->
                                request.streamName(isArn ? null : stream).streamARN(isArn ? stream : null)))
                .thenApply(response ->
                        Duration.ofHours(response.streamDescriptionSummary().retentionPeriodHours()));
    }

    @Override
    public Position begin(Position from) {
        return from;
    }
}
