package dev.onefold.aws.stream;

import dev.onefold.aws.event.Aggregated;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.StreamName;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.GetRecordsResponse;
import software.amazon.awssdk.services.kinesis.model.GetShardIteratorResponse;
import software.amazon.awssdk.services.kinesis.model.ShardIteratorType;

/// A shard of Kinesis.
///
/// @param stream its name or its ARN
record KinesisPages(KinesisAsyncClient client, String stream, String shard) implements Pages {
    /// A page of these is a batch for State, whatever their size: a request brings at most 10 MiB.
    private static final int PAGE_RECORDS_MAX = 1_000;

    @Override
    public CompletableFuture<String> iterator(
            ShardIteratorType type, @Nullable String sequence, @Nullable Instant time) {
        boolean isArn = stream.startsWith("arn:");
        return client.getShardIterator(request -> request.streamName(isArn ? null : stream)
                        .streamARN(isArn ? stream : null)
                        .shardId(shard)
                        .shardIteratorType(type)
                        .startingSequenceNumber(sequence)
                        .timestamp(time))
                .thenApply(GetShardIteratorResponse::shardIterator);
    }

    @Override
    public CompletableFuture<Page> read(String iterator) {
        return client.getRecords(request -> request.shardIterator(iterator).limit(PAGE_RECORDS_MAX))
                .thenApply(this::page);
    }

    private Page page(GetRecordsResponse response) {
        String place = StreamName.of(stream) + "/" + shard;
        List<Page.Item> items = response.records().stream()
                .map(record -> {
                    Instant arrived = record.approximateArrivalTimestamp();
                    return new Page.Item(
                            record.sequenceNumber(),
                            arrived == null ? Instant.MIN : arrived,
                            Aggregated.arrivals(
                                    place,
                                    record.sequenceNumber(),
                                    record.data().asByteArrayUnsafe(),
                                    Arrival.ms(arrived)));
                })
                .toList();
        return new Page(items, response.nextShardIterator(), response.millisBehindLatest());
    }
}
