package dev.onefold.fakes.stream;

import dev.onefold.fakes.aws.FakeClient;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Wire;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.CreateStreamRequest;
import software.amazon.awssdk.services.kinesis.model.CreateStreamResponse;
import software.amazon.awssdk.services.kinesis.model.DeleteStreamRequest;
import software.amazon.awssdk.services.kinesis.model.DeleteStreamResponse;
import software.amazon.awssdk.services.kinesis.model.DescribeStreamSummaryRequest;
import software.amazon.awssdk.services.kinesis.model.DescribeStreamSummaryResponse;
import software.amazon.awssdk.services.kinesis.model.GetRecordsRequest;
import software.amazon.awssdk.services.kinesis.model.GetRecordsResponse;
import software.amazon.awssdk.services.kinesis.model.GetShardIteratorRequest;
import software.amazon.awssdk.services.kinesis.model.GetShardIteratorResponse;
import software.amazon.awssdk.services.kinesis.model.IncreaseStreamRetentionPeriodRequest;
import software.amazon.awssdk.services.kinesis.model.IncreaseStreamRetentionPeriodResponse;
import software.amazon.awssdk.services.kinesis.model.ListShardsRequest;
import software.amazon.awssdk.services.kinesis.model.ListShardsResponse;
import software.amazon.awssdk.services.kinesis.model.MergeShardsRequest;
import software.amazon.awssdk.services.kinesis.model.MergeShardsResponse;
import software.amazon.awssdk.services.kinesis.model.PutRecordRequest;
import software.amazon.awssdk.services.kinesis.model.PutRecordResponse;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequest;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResponse;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResultEntry;
import software.amazon.awssdk.services.kinesis.model.Record;
import software.amazon.awssdk.services.kinesis.model.SplitShardRequest;
import software.amazon.awssdk.services.kinesis.model.SplitShardResponse;
import software.amazon.awssdk.services.kinesis.model.StreamStatus;

/// The SDK's client, as one process has it. When the process is killed, nothing that it waits for ever completes.
///
/// An operation that is not overridden here fails, as the SDK's interface has it.
public final class KinesisClient implements KinesisAsyncClient, FakeClient {
    private static final int PUT_RECORDS_MAX = 500;
    private static final int RECORD_BYTES_MAX = 10 * 1024 * 1024;
    private static final int PUT_BYTES_MAX = 10 * 1024 * 1024;
    private static final int PARTITION_KEY_CHARACTERS_MAX = 256;
    private static final int GET_RECORDS_MAX = 10_000;
    private static final int GET_BYTES_MAX = 10 * 1024 * 1024;
    private static final int PAGE_MAX = 1_000;
    private static final Duration ITERATOR_AGE_MAX = Duration.ofMinutes(5);

    private final SimulatedKinesis service;
    private final Wire wire;

    KinesisClient(SimulatedKinesis service) {
        this.service = service;
        wire = new Wire(
                service.time,
                service.random,
                service::faults,
                new Wire.Refusals(Refusals::throttled, Refusals::failed));
    }

    /// Kills the process. What it has sent still arrives.
    public void kill() {
        wire.kill();
    }

    @Override
    public CompletableFuture<CreateStreamResponse> createStream(CreateStreamRequest request) {
        return wire.call(() -> {
            service.create(request.streamName(), request.shardCount());
            return CreateStreamResponse.builder().build();
        });
    }

    @Override
    public CompletableFuture<DeleteStreamResponse> deleteStream(DeleteStreamRequest request) {
        return wire.call(() -> {
            service.delete(request.streamName());
            return DeleteStreamResponse.builder().build();
        });
    }

    @Override
    public CompletableFuture<IncreaseStreamRetentionPeriodResponse> increaseStreamRetentionPeriod(
            IncreaseStreamRetentionPeriodRequest request) {
        return wire.call(() -> {
            service.stream(request.streamName()).retain(Duration.ofHours(request.retentionPeriodHours()));
            return IncreaseStreamRetentionPeriodResponse.builder().build();
        });
    }

    @Override
    public CompletableFuture<DescribeStreamSummaryResponse> describeStreamSummary(
            DescribeStreamSummaryRequest request) {
        return wire.call(() -> {
            StoredStream stream = service.stream(request.streamName());
            int open =
                    (int) stream.shards().stream().filter(StoredShard::isOpen).count();
            return DescribeStreamSummaryResponse.builder()
                    .streamDescriptionSummary(summary -> summary.streamName(stream.name())
                            .streamARN(stream.arn())
                            .streamStatus(StreamStatus.ACTIVE)
                            .streamCreationTimestamp(stream.created())
                            .retentionPeriodHours((int) stream.retention().toHours())
                            .openShardCount(open))
                    .build();
        });
    }

    /// A token is `stream/index of the next shard`.
    @Override
    public CompletableFuture<ListShardsResponse> listShards(ListShardsRequest request) {
        return wire.call(() -> {
            String token = request.nextToken();
            if ((token == null) == (request.streamName() == null)) {
                throw Refusals.invalid("Either NextToken or StreamName should be provided.");
            }
            int slash = token == null ? -1 : token.lastIndexOf('/');
            StoredStream stream = service.stream(token == null ? request.streamName() : token.substring(0, slash));
            int from = token == null ? 0 : Integer.parseInt(token.substring(slash + 1));
            int max = request.maxResults() == null ? PAGE_MAX : request.maxResults();
            if (service.faults().strikes(Fault.UNPROCESSED, service.random)) {
                max = 1;
            }
            List<StoredShard> shards = stream.shards();
            int to = Math.min(shards.size(), from + max);
            return ListShardsResponse.builder()
                    .shards(shards.subList(Math.min(from, to), to).stream()
                            .map(StoredShard::described)
                            .toList())
                    .nextToken(to == shards.size() ? null : stream.name() + "/" + to)
                    .build();
        });
    }

    @Override
    public CompletableFuture<SplitShardResponse> splitShard(SplitShardRequest request) {
        return wire.call(() -> {
            service.stream(request.streamName())
                    .split(
                            request.shardToSplit(),
                            new BigInteger(request.newStartingHashKey()),
                            service.time.instant());
            return SplitShardResponse.builder().build();
        });
    }

    @Override
    public CompletableFuture<MergeShardsResponse> mergeShards(MergeShardsRequest request) {
        return wire.call(() -> {
            service.stream(request.streamName())
                    .merge(request.shardToMerge(), request.adjacentShardToMerge(), service.time.instant());
            return MergeShardsResponse.builder().build();
        });
    }

    @Override
    public CompletableFuture<PutRecordResponse> putRecord(PutRecordRequest request) {
        return wire.call(() -> {
            StoredStream stream = service.stream(request.streamName());
            size(request.partitionKey(), request.data());
            StoredShard shard = stream.owner(request.partitionKey(), request.explicitHashKey());
            String sequence = stream.add(shard, request.partitionKey(), request.data(), service.time.instant());
            return PutRecordResponse.builder()
                    .shardId(shard.id())
                    .sequenceNumber(sequence)
                    .build();
        });
    }

    /// Each entry by itself: what is not refused is taken.
    @Override
    public CompletableFuture<PutRecordsResponse> putRecords(PutRecordsRequest request) {
        return wire.call(() -> {
            StoredStream stream = service.stream(request.streamName());
            int count = request.records().size();
            if (count == 0 || count > PUT_RECORDS_MAX) {
                throw Refusals.invalid("records must have a length from 1 to 500, and has " + count);
            }
            long bytes = 0;
            for (PutRecordsRequestEntry entry : request.records()) {
                bytes += size(entry.partitionKey(), entry.data());
            }
            if (bytes > PUT_BYTES_MAX) {
                throw Refusals.invalid("Records size exceeds 10 MB limit: " + bytes);
            }
            List<PutRecordsResultEntry> results = new ArrayList<>();
            for (PutRecordsRequestEntry entry : request.records()) {
                results.add(put(stream, entry));
            }
            int failed = (int) results.stream()
                    .filter(result -> result.errorCode() != null)
                    .count();
            return PutRecordsResponse.builder()
                    .failedRecordCount(failed)
                    .records(results)
                    .build();
        });
    }

    private PutRecordsResultEntry put(StoredStream stream, PutRecordsRequestEntry entry) {
        if (service.faults().strikes(Fault.UNPROCESSED, service.random)) {
            return service.random.nextBoolean()
                    ? PutRecordsResultEntry.builder()
                            .errorCode("ProvisionedThroughputExceededException")
                            .errorMessage("Rate exceeded for a shard in stream " + stream.name())
                            .build()
                    : PutRecordsResultEntry.builder()
                            .errorCode("InternalFailure")
                            .errorMessage("Internal Service Failure")
                            .build();
        }
        StoredShard shard = stream.owner(entry.partitionKey(), entry.explicitHashKey());
        String sequence = stream.add(shard, entry.partitionKey(), entry.data(), service.time.instant());
        return PutRecordsResultEntry.builder()
                .shardId(shard.id())
                .sequenceNumber(sequence)
                .build();
    }

    private static int size(String partitionKey, SdkBytes data) {
        if (partitionKey.isEmpty() || partitionKey.length() > PARTITION_KEY_CHARACTERS_MAX) {
            throw Refusals.invalid("partitionKey must have a length from 1 to 256, and has " + partitionKey.length());
        }
        int bytes = data.asByteArrayUnsafe().length + partitionKey.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > RECORD_BYTES_MAX) {
            throw Refusals.invalid("A record must not be larger than 10 MiB, and has " + bytes + " bytes");
        }
        return bytes;
    }

    @Override
    public CompletableFuture<GetShardIteratorResponse> getShardIterator(GetShardIteratorRequest request) {
        return wire.call(() -> {
            StoredStream stream = service.stream(name(request.streamName(), request.streamARN()));
            StoredShard shard = stream.shard(request.shardId());
            int index = switch (request.shardIteratorType()) {
                case TRIM_HORIZON -> 0;
                case LATEST -> shard.end();
                case AT_TIMESTAMP -> shard.at(request.timestamp());
                case AT_SEQUENCE_NUMBER -> known(stream, shard, request.startingSequenceNumber());
                case AFTER_SEQUENCE_NUMBER -> known(stream, shard, request.startingSequenceNumber()) + 1;
                case UNKNOWN_TO_SDK_VERSION ->
                    throw Refusals.invalid("There is no type " + request.shardIteratorTypeAsString());
            };
            return GetShardIteratorResponse.builder()
                    .shardIterator(iterator(stream, shard, shard.notBefore(index)))
                    .build();
        });
    }

    /// A stream is called by its name or by its ARN.
    private static String name(@Nullable String name, @Nullable String arn) {
        if ((name == null) == (arn == null)) {
            throw Refusals.invalid("Either StreamName or StreamARN should be provided.");
        }
        return name == null ? arn.substring(arn.lastIndexOf('/') + 1) : name;
    }

    private static int known(StoredStream stream, StoredShard shard, @Nullable String sequence) {
        if (sequence == null || !shard.hasHad(sequence)) {
            throw Refusals.invalid("StartingSequenceNumber " + sequence + " used in GetShardIterator on shard "
                    + shard.id() + " in stream " + stream.name()
                    + " under account 000000000000 is invalid because it did not come from this stream.");
        }
        return shard.at(sequence);
    }

    /// `stream/its creation in ms/shard/index/time in ms at which it expires`.
    private String iterator(StoredStream stream, StoredShard shard, int index) {
        return String.join(
                "/",
                stream.name(),
                Long.toString(stream.created().toEpochMilli()),
                shard.id(),
                Integer.toString(index),
                Long.toString(service.time.instant().plus(ITERATOR_AGE_MAX).toEpochMilli()));
    }

    @Override
    public CompletableFuture<GetRecordsResponse> getRecords(GetRecordsRequest request) {
        return wire.call(() -> {
            String[] parts = request.shardIterator().split("/", -1);
            StoredStream stream = service.stream(parts[0]);
            if (stream.created().toEpochMilli() != Long.parseLong(parts[1])) {
                throw Refusals.notFound("Stream " + parts[0] + " was deleted and recreated");
            }
            long end = Long.parseLong(parts[4]);
            if (service.time.instant().toEpochMilli() > end) {
                throw Refusals.expired("Iterator expired at " + Instant.ofEpochMilli(end));
            }
            int max = request.limit() == null ? GET_RECORDS_MAX : request.limit();
            return page(stream, stream.shard(parts[2]), Integer.parseInt(parts[3]), max);
        });
    }

    private GetRecordsResponse page(StoredStream stream, StoredShard shard, int index, int max) {
        int from = shard.notBefore(index);
        int most = service.faults().strikes(Fault.UNPROCESSED, service.random) ? service.random.nextInt(3) : max;
        List<Record> records = new ArrayList<>();
        long bytes = 0;
        int at = from;
        while (at < shard.end() && records.size() < most) {
            Record next = shard.get(at);
            bytes += next.data().asByteArrayUnsafe().length;
            if (bytes > GET_BYTES_MAX && !records.isEmpty()) {
                break;
            }
            records.add(next);
            at++;
        }
        boolean isBehind = at < shard.end();
        boolean isEnd = !isBehind && !shard.isOpen();
        long behindMs = !isBehind
                ? 0
                : Math.max(
                        1,
                        Duration.between(shard.get(at).approximateArrivalTimestamp(), service.time.instant())
                                .toMillis());
        return GetRecordsResponse.builder()
                .records(records)
                .nextShardIterator(isEnd ? null : iterator(stream, shard, at))
                .millisBehindLatest(behindMs)
                .build();
    }
}
