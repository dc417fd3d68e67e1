package dev.onefold.mapping.source;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.ExpiredIteratorException;
import software.amazon.awssdk.services.kinesis.model.GetRecordsResponse;
import software.amazon.awssdk.services.kinesis.model.GetShardIteratorRequest;
import software.amazon.awssdk.services.kinesis.model.InvalidArgumentException;
import software.amazon.awssdk.services.kinesis.model.ListShardsRequest;
import software.amazon.awssdk.services.kinesis.model.ListShardsResponse;
import software.amazon.awssdk.services.kinesis.model.Record;
import software.amazon.awssdk.services.kinesis.model.ShardIteratorType;

/// A stream of Kinesis.
public final class KinesisSource implements StreamSource {
    private static final String RESOURCE = ":stream/";
    private static final String ROLE = "arn:aws:iam::000000000000:role/mapping";

    private final KinesisAsyncClient client;
    private final String arn;
    private final String region;

    /// @param arn of the stream, such as `arn:aws:kinesis:eu-central-1:000000000000:stream/trades`
    public KinesisSource(KinesisAsyncClient client, String arn) {
        this.client = client;
        this.arn = arn;
        region = RecordJson.region(arn);
        if (!arn.contains(RESOURCE)) {
            throw new IllegalArgumentException("'" + arn + "' is not the ARN of a stream of Kinesis");
        }
    }

    @Override
    public String arn() {
        return arn;
    }

    @Override
    public String batchInfo() {
        return "KinesisBatchInfo";
    }

    @Override
    public Duration pollInterval() {
        return Duration.ofSeconds(1);
    }

    /// By its name, which every stand-in understands.
    private String stream() {
        return arn.substring(arn.indexOf(RESOURCE) + RESOURCE.length());
    }

    @Override
    public CompletableFuture<List<Shard>> shards() {
        return shards(new ArrayList<>(), null);
    }

    private CompletableFuture<List<Shard>> shards(List<Shard> found, @Nullable String token) {
        ListShardsRequest.Builder request = ListShardsRequest.builder();
        ListShardsRequest page = (token == null ? request.streamName(stream()) : request.nextToken(token)).build();
        return client.listShards(page).thenCompose(answer -> {
            add(answer, found);
            return answer.nextToken() == null
                    ? CompletableFuture.completedFuture(found)
                    : shards(found, answer.nextToken());
        });
    }

    private static void add(ListShardsResponse answer, List<Shard> found) {
        for (var shard : answer.shards()) {
            List<String> parents = Stream.of(
                            shard.parentShardId() == null ? "" : shard.parentShardId(),
                            shard.adjacentParentShardId() == null ? "" : shard.adjacentParentShardId())
                    .filter(parent -> !parent.isEmpty())
                    .toList();
            var range = shard.sequenceNumberRange();
            boolean isClosed = range.endingSequenceNumber() != null;
            found.add(new Shard(shard.shardId(), range.startingSequenceNumber(), parents, isClosed));
        }
    }

    /// A number that the stream never gave, as after it was deleted and recreated, is a position that it has forgotten.
    @Override
    public CompletableFuture<String> iterator(String shardId, Position position) {
        return client.getShardIterator(request(shardId, position))
                .thenApply(answer -> answer.shardIterator())
                .exceptionallyCompose(failure ->
                        Futures.cause(failure) instanceof InvalidArgumentException && position instanceof Position.After
                                ? iterator(shardId, new Position.TrimHorizon())
                                : CompletableFuture.failedFuture(Futures.cause(failure)));
    }

    private GetShardIteratorRequest request(String shardId, Position position) {
        GetShardIteratorRequest.Builder request =
                GetShardIteratorRequest.builder().streamName(stream()).shardId(shardId);
        return switch (position) {
            case Position.TrimHorizon _ ->
                request.shardIteratorType(ShardIteratorType.TRIM_HORIZON).build();
            case Position.Latest _ ->
                request.shardIteratorType(ShardIteratorType.LATEST).build();
            case Position.AtTimestamp(var time) ->
                request.shardIteratorType(ShardIteratorType.AT_TIMESTAMP)
                        .timestamp(time)
                        .build();
            case Position.After(var sequence) ->
                request.shardIteratorType(ShardIteratorType.AFTER_SEQUENCE_NUMBER)
                        .startingSequenceNumber(sequence)
                        .build();
        };
    }

    @Override
    public CompletableFuture<Page> records(String shardId, String iterator) {
        return client.getRecords(request -> request.shardIterator(iterator))
                .thenApply(answer -> page(shardId, answer))
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(
                        Futures.cause(failure) instanceof ExpiredIteratorException expired
                                ? new ForgottenIterator(expired)
                                : Futures.cause(failure)));
    }

    private Page page(String shardId, GetRecordsResponse answer) {
        List<StreamRecord> records =
                answer.records().stream().map(record -> read(shardId, record)).toList();
        Long behindMs = answer.millisBehindLatest();
        return new Page(records, answer.nextShardIterator(), behindMs != null && behindMs > 0);
    }

    private StreamRecord read(String shardId, Record record) {
        byte[] json = RecordJson.object(event -> {
            event.writeObjectFieldStart("kinesis");
            event.writeStringField("kinesisSchemaVersion", "1.0");
            event.writeStringField("partitionKey", record.partitionKey());
            event.writeStringField("sequenceNumber", record.sequenceNumber());
            event.writeBinaryField("data", record.data().asByteArrayUnsafe());
            event.writeNumberField(
                    "approximateArrivalTimestamp", RecordJson.seconds(record.approximateArrivalTimestamp()));
            event.writeEndObject();
            event.writeStringField("eventSource", "aws:kinesis");
            event.writeStringField("eventVersion", "1.0");
            event.writeStringField("eventID", shardId + ":" + record.sequenceNumber());
            event.writeStringField("eventName", "aws:kinesis:record");
            event.writeStringField("invokeIdentityArn", ROLE);
            event.writeStringField("awsRegion", region);
            event.writeStringField("eventSourceARN", arn);
        });
        return new StreamRecord(
                record.sequenceNumber(), record.partitionKey(), record.approximateArrivalTimestamp(), json);
    }
}
