package dev.onefold.aws.stream;

import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import software.amazon.awssdk.services.dynamodb.model.StreamDescription;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;

/// The change stream of a table.
///
/// @param stream its ARN
record ChangeShards(DynamoDbStreamsAsyncClient client, String stream) implements Shards {
    /// Of every table, and nothing prolongs it.
    private static final Duration RETENTION = Duration.ofHours(24);

    @Override
    public List<Shard> list(Store store) {
        List<Shard> found = new ArrayList<>();
        String last = null;
        do {
            String start = last;
            StreamDescription page = Failure.retried(
                            store,
                            () -> client.describeStream(
                                    request -> request.streamArn(stream).exclusiveStartShardId(start)))
                    .streamDescription();
            for (var shard : page.shards()) {
                String parent = shard.parentShardId();
                found.add(new Shard(shard.shardId(), parent == null ? List.of() : List.of(parent)));
            }
            last = page.lastEvaluatedShardId();
        } while (last != null);
        return found;
    }

    @Override
    public Pages pages(String shard) {
        return new ChangePages(client, stream, shard);
    }

    @Override
    public Duration retention(Store store) {
        return RETENTION;
    }

    /// The time of a change is told rounded down, to a second or, as some do, to a minute.
    @Override
    public Position begin(Position from) {
        return from instanceof Position.Time(var at) ? new Position.Time(at.truncatedTo(ChronoUnit.MINUTES)) : from;
    }
}
