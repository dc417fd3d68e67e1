package dev.onefold.aws.stream;

import dev.onefold.fakes.aws.FakeClient;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.InvalidArgumentException;
import software.amazon.awssdk.services.kinesis.model.LimitExceededException;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequest;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResponse;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResultEntry;

/// The writing side of a stream with what the service may do to a request: refuse some of its entries, refuse all
/// of it, do it and lose the answer. It holds the limits of `PutRecords`, and answers in any order.
final class FakeKinesis implements KinesisAsyncClient, FakeClient {
    private static final int SHARDS = 3;

    private final Turns turns;
    private final RandomGenerator random;
    private final double faultChance;
    private int recordBytesMax = Producer.REQUEST_BYTES_MAX;

    /// What each shard has, in its order.
    final Map<Integer, List<String>> shards = new LinkedHashMap<>();

    final Map<String, Set<Integer>> shardsOfKeys = new LinkedHashMap<>();
    long requests;
    long refusedEntries;
    long lostEntries;

    FakeKinesis(Turns turns, RandomGenerator random, double faultChance) {
        this.turns = turns;
        this.random = random;
        this.faultChance = faultChance;
    }

    /// A stream that is not set up for larger records.
    FakeKinesis withRecordBytesMax(int bytes) {
        recordBytesMax = bytes;
        return this;
    }

    private boolean strikes() {
        return random.nextDouble() < faultChance;
    }

    @Override
    public CompletableFuture<PutRecordsResponse> putRecords(PutRecordsRequest request) {
        CompletableFuture<PutRecordsResponse> answer = new CompletableFuture<>();
        turns.later(() -> {
            requests++;
            try {
                PutRecordsResponse response = put(request);
                turns.later(() -> answer.complete(response));
            } catch (SdkException refusal) {
                turns.later(() -> answer.completeExceptionally(refusal));
            }
        });
        return answer;
    }

    private PutRecordsResponse put(PutRecordsRequest request) {
        require(!request.records().isEmpty() && request.records().size() <= 500, "1 to 500 records");
        int bytes = 0;
        for (PutRecordsRequestEntry entry : request.records()) {
            int size = entry.data().asByteArrayUnsafe().length
                    + entry.partitionKey().getBytes(StandardCharsets.UTF_8).length;
            require(size <= recordBytesMax, "a record of at most " + recordBytesMax + " bytes");
            int characters = entry.partitionKey().length();
            require(characters >= 1 && characters <= 256, "a partition key of 1 to 256 characters");
            bytes += size;
        }
        require(bytes <= 10 * 1024 * 1024, "a request of at most 10 MiB");
        if (strikes()) {
            refusedEntries += request.records().size();
            throw LimitExceededException.builder()
                    .message("Rate exceeded")
                    .statusCode(400)
                    .awsErrorDetails(AwsErrorDetails.builder()
                            .errorCode("LimitExceededException")
                            .build())
                    .build();
        }
        List<PutRecordsResultEntry> results = new ArrayList<>();
        request.records().forEach(entry -> results.add(strikes() ? refuse() : take(entry)));
        if (strikes()) {
            lostEntries += results.stream()
                    .filter(result -> result.errorCode() == null)
                    .count();
            throw SdkClientException.create("connection reset");
        }
        return PutRecordsResponse.builder().records(results).build();
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw InvalidArgumentException.builder()
                    .message("The service wants " + what)
                    .statusCode(400)
                    .awsErrorDetails(AwsErrorDetails.builder()
                            .errorCode("InvalidArgumentException")
                            .build())
                    .build();
        }
    }

    private PutRecordsResultEntry refuse() {
        refusedEntries++;
        return PutRecordsResultEntry.builder()
                .errorCode("ProvisionedThroughputExceededException")
                .errorMessage("Rate exceeded for shard")
                .build();
    }

    private PutRecordsResultEntry take(PutRecordsRequestEntry entry) {
        int shard = Math.floorMod(entry.partitionKey().hashCode(), SHARDS);
        List<String> records = shards.computeIfAbsent(shard, _ -> new ArrayList<>());
        records.add(new String(entry.data().asByteArrayUnsafe(), StandardCharsets.UTF_8));
        shardsOfKeys
                .computeIfAbsent(entry.partitionKey(), _ -> new LinkedHashSet<>())
                .add(shard);
        return PutRecordsResultEntry.builder()
                .shardId("shardId-" + shard)
                .sequenceNumber(String.valueOf(records.size()))
                .build();
    }
}
