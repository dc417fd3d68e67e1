package dev.onefold.aws;

import dev.onefold.fakes.aws.FakeClient;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.services.dynamodb.model.DescribeStreamRequest;
import software.amazon.awssdk.services.dynamodb.model.DescribeStreamResponse;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsRequest;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsResponse;
import software.amazon.awssdk.services.dynamodb.model.GetShardIteratorRequest;
import software.amazon.awssdk.services.dynamodb.model.GetShardIteratorResponse;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/// The tables' streams of DynamoDB Local, without waiting. Its own client of this kind fails at every call. Pages
/// may be empty though there is more, as those of AWS may.
///
/// @param emptyPages how many of the next ones are
public record LocalChanges(DynamoDbStreamsClient local, AtomicInteger emptyPages)
        implements DynamoDbStreamsAsyncClient, FakeClient {
    @Override
    public CompletableFuture<DescribeStreamResponse> describeStream(DescribeStreamRequest request) {
        return CompletableFuture.supplyAsync(() -> local.describeStream(request));
    }

    @Override
    public CompletableFuture<GetShardIteratorResponse> getShardIterator(GetShardIteratorRequest request) {
        return CompletableFuture.supplyAsync(() -> local.getShardIterator(request));
    }

    @Override
    public CompletableFuture<GetRecordsResponse> getRecords(GetRecordsRequest request) {
        return CompletableFuture.supplyAsync(() -> emptyPages.getAndUpdate(left -> Math.max(0, left - 1)) > 0
                ? GetRecordsResponse.builder()
                        .nextShardIterator(request.shardIterator())
                        .build()
                : local.getRecords(request));
    }
}
