package dev.onefold.aws.stream;

import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.ListShardsResponse;

/// A stream of Kinesis.
///
/// @param stream its name or its ARN
record KinesisShards(KinesisAsyncClient client, String stream) implements Shards {
    @Override
    public List<Shard> list(Store store) {
        boolean isArn = stream.startsWith("arn:");
        List<Shard> found = new ArrayList<>();
        String token = null;
        do {
            String next = token;
            ListShardsResponse page = Failure.retried(
                    store,
                    () -> client.listShards(request -> {
                        // The token knows the stream, and both together are refused.
                        if (next != null) {
                            request.nextToken(next);
                        } else {
                            request.streamName(isArn ? null : stream).streamARN(isArn ? stream : null);
                        }
                    }));
            page.shards().forEach(shard -> found.add(shard(shard)));
            token = page.nextToken();
        } while (token != null);
        return found;
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
    public Duration retention(Store store) {
        boolean isArn = stream.startsWith("arn:");
        return Duration.ofHours(Failure.retried(
                        store,
                        () -> client.describeStreamSummary(request ->
                                request.streamName(isArn ? null : stream).streamARN(isArn ? stream : null)))
                .streamDescriptionSummary()
                .retentionPeriodHours());
    }

    @Override
    public Position begin(Position from) {
        return from;
    }
}
