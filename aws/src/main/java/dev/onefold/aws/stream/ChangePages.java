package dev.onefold.aws.stream;

import dev.onefold.aws.event.StreamName;
import dev.onefold.aws.event.TableRecord;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsResponse;
import software.amazon.awssdk.services.dynamodb.model.GetShardIteratorRequest;
import software.amazon.awssdk.services.dynamodb.model.GetShardIteratorResponse;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;

/// A shard of a table's change stream. It can be read from a record on, not from a time, and does not say how far
/// behind its newest record a page is: at the end of what there is, pages are empty.
///
/// @param stream its ARN
record ChangePages(DynamoDbStreamsAsyncClient client, String stream, String shard) implements Pages {
    private CompletableFuture<String> iterator(Consumer<GetShardIteratorRequest.Builder> where) {
        return client.getShardIterator(
                        request -> request.streamArn(stream).shardId(shard).applyMutation(where))
                .thenApply(GetShardIteratorResponse::shardIterator);
    }

    @Override
    public CompletableFuture<String> at(Position position) {
        return switch (position) {
            case Position.Sequence(var number) ->
                iterator(request -> request.shardIteratorType(ShardIteratorType.AT_SEQUENCE_NUMBER)
                        .sequenceNumber(number));
            case Position.Time _ -> oldest();
        };
    }

    @Override
    public CompletableFuture<String> after(String sequence) {
        return iterator(request -> request.shardIteratorType(ShardIteratorType.AFTER_SEQUENCE_NUMBER)
                .sequenceNumber(sequence));
    }

    @Override
    public CompletableFuture<String> oldest() {
        return iterator(request -> request.shardIteratorType(ShardIteratorType.TRIM_HORIZON));
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
                            List.of(TableRecord.arrival(StreamName.of(stream), record)));
                })
                .toList();
        return new Page(items, response.nextShardIterator(), null);
    }
}
