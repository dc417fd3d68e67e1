package dev.onefold.fakes.stream;

import dev.onefold.fakes.aws.FakeClient;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fakes.aws.Wire;
import dev.onefold.fakes.aws.table.Change;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.DescribeStreamRequest;
import software.amazon.awssdk.services.dynamodb.model.DescribeStreamResponse;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.ExpiredIteratorException;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsRequest;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsResponse;
import software.amazon.awssdk.services.dynamodb.model.GetShardIteratorRequest;
import software.amazon.awssdk.services.dynamodb.model.GetShardIteratorResponse;
import software.amazon.awssdk.services.dynamodb.model.InternalServerErrorException;
import software.amazon.awssdk.services.dynamodb.model.LimitExceededException;
import software.amazon.awssdk.services.dynamodb.model.OperationType;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.Shard;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.dynamodb.model.TrimmedDataAccessException;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;

/// The change stream of a simulated table, with both images, as the SDK's client shows it. The changes of one item are
/// in one family of shards and in order; nothing else has an order. What is older than 24 hours is forgotten, read or
/// not; each shard is followed by a child when it is [rolled over][#rollOver()].
///
/// One thread, the one that runs the [VirtualTime].
public final class TableStream implements DynamoDbStreamsAsyncClient, FakeClient {
    private static final Duration RETENTION = Duration.ofHours(24);
    private static final Duration ITERATOR_AGE_MAX = Duration.ofMinutes(15);
    private static final int GET_RECORDS_MAX = 1_000;

    private final VirtualTime time;
    private final String arn;
    private final List<Part> parts = new ArrayList<>();
    private final Part[] open;
    private final Wire wire;
    private Faults faults = Faults.none();

    /// A shard.
    private static final class Part {
        private final String id;
        private final @Nullable String parent;
        private final String first;
        private final List<Change> changes = new ArrayList<>();
        private int trimmed;
        private @Nullable Instant closedAt;

        Part(String id, @Nullable String parent, String first) {
            this.id = id;
            this.parent = parent;
            this.first = first;
        }

        boolean forget(Instant oldest) {
            while (trimmed < changes.size() && changes.get(trimmed).at().isBefore(oldest)) {
                trimmed++;
            }
            return closedAt != null && closedAt.isBefore(oldest);
        }
    }

    /// The stream of what changes from now on.
    ///
    /// @param families of shards
    public TableStream(VirtualTime time, SimulatedDynamoDb dynamo, String table, int families, long seed) {
        this.time = time;
        arn = "arn:aws:dynamodb:eu-central-1:000000000000:table/" + table + "/stream/" + time.instant();
        open = IntStream.range(0, families).mapToObj(_ -> part(null)).toArray(Part[]::new);
        dynamo.onWrite(table, change -> open[change.place().part(families)].changes.add(change));
        wire = new Wire(
                time,
                new SplittableRandom(seed),
                () -> faults,
                new Wire.Refusals(
                        () -> Wire.filled(
                                        LimitExceededException.builder(),
                                        "LimitExceededException",
                                        400,
                                        "Too many requests")
                                .build(),
                        () -> Wire.filled(
                                        InternalServerErrorException.builder(),
                                        "InternalServerError",
                                        500,
                                        "Internal server error")
                                .build()));
    }

    /// What the stream is called.
    public String arn() {
        return arn;
    }

    /// From now on this goes wrong.
    public void inject(Faults newFaults) {
        faults = newFaults;
    }

    private Part part(@Nullable String parent) {
        String number = String.format(Locale.ROOT, "%08d", parts.size());
        Part part = new Part("shardId-0000" + number, parent, number);
        parts.add(part);
        return part;
    }

    /// Closes all open shards, and opens a child of each, as the service does every few hours.
    public void rollOver() {
        for (int i = 0; i < open.length; i++) {
            open[i].closedAt = time.instant();
            open[i] = part(open[i].id);
        }
    }

    private void forget() {
        Instant oldest = time.instant().minus(RETENTION);
        parts.removeIf(part -> part.forget(oldest));
    }

    private Part part(String streamArn, String shardId) {
        forget();
        for (Part part : parts) {
            if (part.id.equals(shardId) && arn.equals(streamArn)) {
                return part;
            }
        }
        throw notFound("Requested resource not found: Shard " + shardId + " of " + streamArn);
    }

    private static DynamoDbException notFound(String message) {
        return (DynamoDbException)
                Wire.filled(ResourceNotFoundException.builder(), "ResourceNotFoundException", 400, message)
                        .build();
    }

    private static DynamoDbException trimmed() {
        return (DynamoDbException) Wire.filled(
                        TrimmedDataAccessException.builder(),
                        "TrimmedDataAccessException",
                        400,
                        "The operation attempted to read past the oldest stream record in a shard.")
                .build();
    }

    private static String sequence(Change change) {
        return String.format(Locale.ROOT, "%021d", change.number());
    }

    @Override
    public CompletableFuture<DescribeStreamResponse> describeStream(DescribeStreamRequest request) {
        return wire.call(() -> {
            forget();
            if (!arn.equals(request.streamArn())) {
                throw notFound("Requested resource not found: Stream: " + request.streamArn() + " not found");
            }
            List<Shard> shards = parts.stream()
                    .map(part -> Shard.builder()
                            .shardId(part.id)
                            .parentShardId(part.parent)
                            .sequenceNumberRange(range -> range.startingSequenceNumber(part.first)
                                    .endingSequenceNumber(part.closedAt == null ? null : part.first + "0"))
                            .build())
                    .toList();
            return DescribeStreamResponse.builder()
                    .streamDescription(stream -> stream.streamArn(arn).shards(shards))
                    .build();
        });
    }

    @Override
    public CompletableFuture<GetShardIteratorResponse> getShardIterator(GetShardIteratorRequest request) {
        return wire.call(() -> {
            Part part = part(request.streamArn(), request.shardId());
            int index = index(part, request.shardIteratorType(), request.sequenceNumber());
            return GetShardIteratorResponse.builder()
                    .shardIterator(iterator(part, index))
                    .build();
        });
    }

    private static int index(Part part, ShardIteratorType type, @Nullable String sequence) {
        return switch (type) {
            case TRIM_HORIZON -> part.trimmed;
            case LATEST -> part.changes.size();
            case AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER -> {
                int index = 0;
                while (index < part.changes.size()
                        && !sequence(part.changes.get(index)).equals(sequence)) {
                    index++;
                }
                if (index < part.trimmed || index == part.changes.size()) {
                    throw trimmed();
                }
                yield type == ShardIteratorType.AT_SEQUENCE_NUMBER ? index : index + 1;
            }
            case UNKNOWN_TO_SDK_VERSION -> throw new IllegalArgumentException("There is no such type of iterator");
        };
    }

    /// `shard/index/time in ms at which it expires`.
    private String iterator(Part part, int index) {
        return part.id + "/" + index + "/"
                + time.instant().plus(ITERATOR_AGE_MAX).toEpochMilli();
    }

    @Override
    public CompletableFuture<GetRecordsResponse> getRecords(GetRecordsRequest request) {
        return wire.call(() -> {
            String[] place = request.shardIterator().split("/", -1);
            if (time.instant().toEpochMilli() > Long.parseLong(place[2])) {
                throw Wire.filled(
                                ExpiredIteratorException.builder(),
                                "ExpiredIteratorException",
                                400,
                                "The iterator has expired at " + place[2])
                        .build();
            }
            Part part = part(arn, place[0]);
            int from = Integer.parseInt(place[1]);
            if (from < part.trimmed) {
                throw trimmed();
            }
            int to = Math.min(part.changes.size(), from + GET_RECORDS_MAX);
            boolean isEnd = to == part.changes.size() && part.closedAt != null;
            return GetRecordsResponse.builder()
                    .records(part.changes.subList(from, to).stream()
                            .map(TableStream::record)
                            .toList())
                    .nextShardIterator(isEnd ? null : iterator(part, to))
                    .build();
        });
    }

    private static Record record(Change change) {
        OperationType kind = change.before() == null
                ? OperationType.INSERT
                : change.after() == null ? OperationType.REMOVE : OperationType.MODIFY;
        return Record.builder()
                .eventID("change-" + change.number())
                .eventName(kind)
                .eventVersion("1.1")
                .eventSource("aws:dynamodb")
                .awsRegion("eu-central-1")
                .dynamodb(stream -> stream.approximateCreationDateTime(
                                Instant.ofEpochSecond(change.at().getEpochSecond()))
                        .keys(change.key())
                        .newImage(change.after())
                        .oldImage(change.before())
                        .sequenceNumber(sequence(change))
                        .sizeBytes(1L)
                        .streamViewType(StreamViewType.NEW_AND_OLD_IMAGES))
                .build();
    }
}
