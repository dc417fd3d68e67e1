package dev.onefold.aws.stream;

import dev.onefold.fakes.aws.FakeClient;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.DescribeStreamSummaryRequest;
import software.amazon.awssdk.services.kinesis.model.DescribeStreamSummaryResponse;
import software.amazon.awssdk.services.kinesis.model.ExpiredIteratorException;
import software.amazon.awssdk.services.kinesis.model.GetRecordsRequest;
import software.amazon.awssdk.services.kinesis.model.GetRecordsResponse;
import software.amazon.awssdk.services.kinesis.model.GetShardIteratorRequest;
import software.amazon.awssdk.services.kinesis.model.GetShardIteratorResponse;
import software.amazon.awssdk.services.kinesis.model.InvalidArgumentException;
import software.amazon.awssdk.services.kinesis.model.LimitExceededException;
import software.amazon.awssdk.services.kinesis.model.ListShardsRequest;
import software.amazon.awssdk.services.kinesis.model.ListShardsResponse;
import software.amazon.awssdk.services.kinesis.model.Record;
import software.amazon.awssdk.services.kinesis.model.ResourceNotFoundException;
import software.amazon.awssdk.services.kinesis.model.Shard;

/// The reading side of a stream, as nasty as its documentation allows: pages of any size, and without records though
/// there are more; iterators that expire; requests that are refused or lost; a trim horizon that moves.
final class FakeStream implements KinesisAsyncClient, FakeClient {
    static final String NAME = "trades";
    static final String ARN = "arn:aws:kinesis:us-east-2:123456789012:stream/" + NAME;

    private final RandomGenerator random;
    private final double faultChance;
    private final Map<String, Held> shards = new LinkedHashMap<>();
    private final boolean refusesTrimmed;

    /// A record of a shard.
    record Stored(BigInteger sequence, Instant at, byte[] data) {}

    /// A shard.
    static final class Held {
        final String id;
        final List<String> parents;
        final List<Stored> records = new ArrayList<>();
        int trimmed;
        boolean closed;

        Held(String id, List<String> parents) {
            this.id = id;
            this.parents = parents;
        }

        /// Puts a record behind the others.
        String add(int sequence, Instant at, byte[] data) {
            // As Kinesis numbers them: 56 digits, with gaps.
            BigInteger number = BigInteger.TEN.pow(55).add(BigInteger.valueOf(sequence * 10L));
            records.add(new Stored(number, at, data));
            return number.toString();
        }
    }

    /// @param faultChance from 0 to 1
    FakeStream(RandomGenerator random, double faultChance) {
        this.random = random;
        this.faultChance = faultChance;
        refusesTrimmed = random.nextBoolean();
    }

    Held shard(String id, String... parents) {
        Held held = new Held(id, List.of(parents));
        shards.put(id, held);
        return held;
    }

    void forget(String shard) {
        shards.remove(shard);
    }

    private boolean strikes() {
        return random.nextDouble() < faultChance;
    }

    /// As an answer comes: from another thread, perhaps not at all.
    private synchronized <T> CompletableFuture<T> answer(java.util.function.Supplier<T> work) {
        try {
            if (strikes()) {
                throw random.nextBoolean()
                        ? LimitExceededException.builder()
                                .message("Rate exceeded")
                                .statusCode(400)
                                .build()
                        : SdkClientException.create("connection reset");
            }
            T answer = work.get();
            return CompletableFuture.supplyAsync(() -> answer);
        } catch (SdkException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    private Held held(String shard) {
        Held held = shards.get(shard);
        if (held == null) {
            throw ResourceNotFoundException.builder()
                    .message("Shard " + shard + " does not exist")
                    .statusCode(400)
                    .build();
        }
        return held;
    }

    @Override
    public CompletableFuture<ListShardsResponse> listShards(ListShardsRequest request) {
        return answer(() -> {
            if ((request.nextToken() == null) == (request.streamName() == null && request.streamARN() == null)) {
                throw InvalidArgumentException.builder()
                        .message("NextToken and StreamName cannot be provided together")
                        .statusCode(400)
                        .build();
            }
            int from = request.nextToken() == null ? 0 : Integer.parseInt(request.nextToken());
            int to = Math.min(shards.size(), from + 2);
            return ListShardsResponse.builder()
                    .shards(List.copyOf(shards.values()).subList(from, to).stream()
                            .map(held -> Shard.builder()
                                    .shardId(held.id)
                                    .parentShardId(held.parents.isEmpty() ? null : held.parents.getFirst())
                                    .adjacentParentShardId(held.parents.size() < 2 ? null : held.parents.get(1))
                                    .build())
                            .toList())
                    .nextToken(to < shards.size() ? String.valueOf(to) : null)
                    .build();
        });
    }

    @Override
    public CompletableFuture<DescribeStreamSummaryResponse> describeStreamSummary(
            DescribeStreamSummaryRequest request) {
        return answer(() -> DescribeStreamSummaryResponse.builder()
                .streamDescriptionSummary(summary -> summary.retentionPeriodHours(24))
                .build());
    }

    @Override
    public CompletableFuture<GetShardIteratorResponse> getShardIterator(GetShardIteratorRequest request) {
        return answer(() -> {
            Held held = held(request.shardId());
            int index = switch (request.shardIteratorType()) {
                case AT_SEQUENCE_NUMBER -> index(held, request.startingSequenceNumber(), 0);
                case AFTER_SEQUENCE_NUMBER -> index(held, request.startingSequenceNumber(), 1);
                case AT_TIMESTAMP -> {
                    int first = held.trimmed;
                    while (first < held.records.size()
                            && held.records.get(first).at().isBefore(request.timestamp())) {
                        first++;
                    }
                    yield first;
                }
                case TRIM_HORIZON -> held.trimmed;
                case LATEST, UNKNOWN_TO_SDK_VERSION -> throw new AssertionError(request);
            };
            return GetShardIteratorResponse.builder()
                    .shardIterator(held.id + "|" + index)
                    .build();
        });
    }

    private int index(Held held, String sequence, int behind) {
        BigInteger number = new BigInteger(sequence);
        for (int i = 0; i < held.records.size(); i++) {
            if (held.records.get(i).sequence().equals(number)) {
                if (i < held.trimmed && refusesTrimmed) {
                    break;
                }
                return Math.max(held.trimmed, i + behind);
            }
        }
        throw InvalidArgumentException.builder()
                .message("StartingSequenceNumber " + sequence + " is invalid")
                .statusCode(400)
                .build();
    }

    @Override
    public CompletableFuture<GetRecordsResponse> getRecords(GetRecordsRequest request) {
        return answer(() -> {
            if (strikes()) {
                throw ExpiredIteratorException.builder()
                        .message("Iterator expired")
                        .statusCode(400)
                        .build();
            }
            String[] token = request.shardIterator().split("\\|", -1);
            Held held = held(token[0]);
            int from = Math.max(held.trimmed, Integer.parseInt(token[1]));
            int left = held.records.size() - from;
            int count = strikes() ? 0 : Math.min(left, 1 + random.nextInt(Math.min(50, request.limit())));
            int to = from + count;
            boolean isEnd = to == held.records.size();
            return GetRecordsResponse.builder()
                    .records(held.records.subList(from, to).stream()
                            .map(FakeStream::record)
                            .toList())
                    .nextShardIterator(isEnd && held.closed ? null : next(held, to))
                    .millisBehindLatest(isEnd ? 0L : 1_000L)
                    .build();
        });
    }

    private static @Nullable String next(Held held, int index) {
        return held.id + "|" + index;
    }

    private static Record record(Stored stored) {
        return Record.builder()
                .sequenceNumber(stored.sequence().toString())
                .approximateArrivalTimestamp(stored.at())
                .partitionKey("k")
                .data(SdkBytes.fromByteArrayUnsafe(Arrays.copyOf(stored.data(), stored.data().length)))
                .build();
    }
}
