package dev.onefold.aws.stream;

import dev.onefold.aws.event.TableRecord;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsResponse;
import software.amazon.awssdk.services.dynamodb.model.GetShardIteratorResponse;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.model.ShardIteratorType;

/// A shard of a table's change stream. It can be read from a record on, not from a time, and does not say how far
/// behind its newest record a page is: at the end of what there is, pages are empty.
///
/// @param stream its ARN
record ChangePages(DynamoDbStreamsAsyncClient client, String stream, String shard) implements Pages {
    @Override
    public CompletableFuture<String> iterator(
            ShardIteratorType type, @Nullable String sequence, @Nullable Instant time) {
        ShardIteratorType known = time == null ? type : ShardIteratorType.TRIM_HORIZON;
        return client.getShardIterator(request -> request.streamArn(stream)
                        .shardId(shard)
                        .shardIteratorType(known.toString())
                        .sequenceNumber(sequence))
                .thenApply(GetShardIteratorResponse::shardIterator);
    }

    @Override
    public CompletableFuture<Page> read(String iterator) {
        return client.getRecords(request -> request.shardIterator(iterator)).thenApply(this::page);
    }

    private Page page(GetRecordsResponse response) {
        List<Page.Item> items = response.records().stream()
                .map(record -> {
                    Instant changed = record.dynamodb().approximateCreationDateTime();
                    return new Page.Item(
                            record.dynamodb().sequenceNumber(),
                            changed == null ? Instant.MIN : changed,
                            List.of(TableRecord.arrival(stream, record)));
                })
                .toList();
        return new Page(items, response.nextShardIterator(), null);
    }
}
