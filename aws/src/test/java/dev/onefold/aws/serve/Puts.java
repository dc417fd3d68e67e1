package dev.onefold.aws.serve;

import dev.onefold.fakes.aws.FakeClient;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.InvalidArgumentException;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequest;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResponse;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResultEntry;

/// The writing side of a stream that refuses some records for ever: those that contain a word, and those that are too
/// large. Any thread may call.
final class Puts implements KinesisAsyncClient, FakeClient {
    private static final int RECORD_BYTES_MAX = 2 << 20;

    final List<String> taken = new CopyOnWriteArrayList<>();
    volatile String refusedWord = "\0";

    @Override
    public CompletableFuture<PutRecordsResponse> putRecords(PutRecordsRequest request) {
        List<PutRecordsResultEntry> results = new ArrayList<>();
        for (PutRecordsRequestEntry entry : request.records()) {
            if (entry.data().asByteArrayUnsafe().length > RECORD_BYTES_MAX) {
                return CompletableFuture.failedFuture(InvalidArgumentException.builder()
                        .message("The record is too large")
                        .statusCode(400)
                        .build());
            }
            String record = entry.data().asString(StandardCharsets.UTF_8);
            if (record.contains(refusedWord)) {
                results.add(PutRecordsResultEntry.builder()
                        .errorCode("ProvisionedThroughputExceededException")
                        .errorMessage("Rate exceeded for shard")
                        .build());
            } else {
                taken.add(record);
                results.add(PutRecordsResultEntry.builder()
                        .shardId("shardId-0")
                        .sequenceNumber(String.valueOf(taken.size()))
                        .build());
            }
        }
        return CompletableFuture.completedFuture(
                PutRecordsResponse.builder().records(results).build());
    }
}
