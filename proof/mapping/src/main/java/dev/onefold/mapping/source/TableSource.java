package dev.onefold.mapping.source;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DescribeStreamRequest;
import software.amazon.awssdk.services.dynamodb.model.ExpiredIteratorException;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsResponse;
import software.amazon.awssdk.services.dynamodb.model.GetShardIteratorRequest;
import software.amazon.awssdk.services.dynamodb.model.OperationType;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.model.TrimmedDataAccessException;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;

/// The change stream of a table. An event names no shard.
public final class TableSource implements StreamSource {
    private final DynamoDbStreamsAsyncClient client;
    private final String arn;
    private final String region;
    private final Filter filter;

    /// Which changes are delivered, as the mapping's filter says; others are done as they are read.
    ///
    /// @param kinds of changes
    /// @param keys texts that attributes of the key may have, by their names; others may have any
    public record Filter(Set<OperationType> kinds, Map<String, Set<String>> keys) {
        public Filter {
            kinds = Set.copyOf(kinds);
            keys = Map.copyOf(keys);
        }

        boolean passes(Record record) {
            return kinds.contains(record.eventName())
                    && keys.entrySet().stream().allMatch(key -> {
                        AttributeValue value = record.dynamodb().keys().get(key.getKey());
                        return value != null
                                && value.s() != null
                                && key.getValue().contains(value.s());
                    });
        }
    }

    /// @param arn of the stream, such as
    ///     `arn:aws:dynamodb:eu-central-1:000000000000:table/Trades/stream/2026-11-21T00:00:00.000`
    /// @param kinds of changes that are delivered
    public TableSource(DynamoDbStreamsAsyncClient client, String arn, Set<OperationType> kinds) {
        this(client, arn, new Filter(kinds, Map.of()));
    }

    /// The same, with a filter that may look at keys, too.
    public TableSource(DynamoDbStreamsAsyncClient client, String arn, Filter filter) {
        this.client = client;
        this.arn = arn;
        this.filter = filter;
        region = RecordJson.region(arn);
        if (!arn.contains(":table/") || !arn.contains("/stream/")) {
            throw new IllegalArgumentException("'" + arn + "' is not the ARN of a table's stream");
        }
    }

    @Override
    public String arn() {
        return arn;
    }

    @Override
    public String batchInfo() {
        return "DDBStreamBatchInfo";
    }

    @Override
    public Duration pollInterval() {
        return Duration.ofMillis(250);
    }

    @Override
    public CompletableFuture<List<Shard>> shards() {
        return shards(new ArrayList<>(), null);
    }

    private CompletableFuture<List<Shard>> shards(List<Shard> found, @Nullable String last) {
        DescribeStreamRequest request = DescribeStreamRequest.builder()
                .streamArn(arn)
                .exclusiveStartShardId(last)
                .build();
        return client.describeStream(request).thenCompose(answer -> {
            for (var shard : answer.streamDescription().shards()) {
                List<String> parents = shard.parentShardId() == null ? List.of() : List.of(shard.parentShardId());
                var range = shard.sequenceNumberRange();
                boolean isClosed = range.endingSequenceNumber() != null;
                found.add(new Shard(shard.shardId(), range.startingSequenceNumber(), parents, isClosed));
            }
            String next = answer.streamDescription().lastEvaluatedShardId();
            return next == null ? CompletableFuture.completedFuture(found) : shards(found, next);
        });
    }

    @Override
    public CompletableFuture<String> iterator(String shardId, Position position) {
        GetShardIteratorRequest.Builder request =
                GetShardIteratorRequest.builder().streamArn(arn).shardId(shardId);
        switch (position) {
            case Position.TrimHorizon _ -> request.shardIteratorType(ShardIteratorType.TRIM_HORIZON);
            case Position.Latest _ -> request.shardIteratorType(ShardIteratorType.LATEST);
            case Position.AtTimestamp _ ->
                throw new IllegalArgumentException("A table's stream cannot be read from a time on: " + arn);
            case Position.After(var sequence) ->
                request.shardIteratorType(ShardIteratorType.AFTER_SEQUENCE_NUMBER)
                        .sequenceNumber(sequence);
        }
        return client.getShardIterator(request.build())
                .thenApply(answer -> answer.shardIterator())
                .exceptionallyCompose(failure -> Futures.cause(failure) instanceof TrimmedDataAccessException
                                && position instanceof Position.After
                        ? iterator(shardId, new Position.TrimHorizon())
                        : CompletableFuture.failedFuture(Futures.cause(failure)));
    }

    @Override
    public CompletableFuture<Page> records(String shardId, String iterator) {
        return client.getRecords(request -> request.shardIterator(iterator))
                .thenApply(this::page)
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(
                        switch (Futures.cause(failure)) {
                            case ExpiredIteratorException expired -> new ForgottenIterator(expired);
                            case TrimmedDataAccessException trimmed -> new ForgottenIterator(trimmed);
                            case Throwable other -> other;
                        }));
    }

    private Page page(GetRecordsResponse answer) {
        List<StreamRecord> records =
                answer.records().stream().filter(filter::passes).map(this::read).toList();
        return new Page(records, answer.nextShardIterator(), !answer.records().isEmpty());
    }

    private StreamRecord read(Record record) {
        var change = record.dynamodb();
        byte[] json = RecordJson.object(event -> {
            event.writeStringField("eventID", record.eventID());
            event.writeStringField("eventName", record.eventNameAsString());
            event.writeStringField("eventVersion", record.eventVersion());
            event.writeStringField("eventSource", "aws:dynamodb");
            event.writeStringField("awsRegion", region);
            event.writeObjectFieldStart("dynamodb");
            event.writeNumberField(
                    "ApproximateCreationDateTime", RecordJson.seconds(change.approximateCreationDateTime()));
            event.writeFieldName("Keys");
            writeItem(change.keys(), event);
            if (change.hasNewImage()) {
                event.writeFieldName("NewImage");
                writeItem(change.newImage(), event);
            }
            if (change.hasOldImage()) {
                event.writeFieldName("OldImage");
                writeItem(change.oldImage(), event);
            }
            event.writeStringField("SequenceNumber", change.sequenceNumber());
            event.writeNumberField("SizeBytes", change.sizeBytes());
            event.writeStringField("StreamViewType", change.streamViewTypeAsString());
            event.writeEndObject();
            if (record.userIdentity() != null) { // Whoever deletes what has expired.
                event.writeObjectFieldStart("userIdentity");
                event.writeStringField("type", record.userIdentity().type());
                event.writeStringField("principalId", record.userIdentity().principalId());
                event.writeEndObject();
            }
            event.writeStringField("eventSourceARN", arn);
        });
        byte[] key = RecordJson.object(members -> {
            members.writeFieldName("k");
            writeItem(new TreeMap<>(change.keys()), members);
        });
        return new StreamRecord(
                change.sequenceNumber(),
                new String(key, StandardCharsets.UTF_8),
                change.approximateCreationDateTime(),
                json);
    }

    private static void writeItem(Map<String, AttributeValue> item, JsonGenerator json) throws IOException {
        json.writeStartObject();
        for (Map.Entry<String, AttributeValue> attribute : item.entrySet()) {
            json.writeFieldName(attribute.getKey());
            writeValue(attribute.getValue(), json);
        }
        json.writeEndObject();
    }

    private static void writeValue(AttributeValue value, JsonGenerator json) throws IOException {
        json.writeStartObject();
        switch (value.type()) {
            case S -> json.writeStringField("S", value.s());
            case N -> json.writeStringField("N", value.n());
            case B -> json.writeBinaryField("B", value.b().asByteArrayUnsafe());
            case BOOL -> json.writeBooleanField("BOOL", value.bool());
            case NUL -> json.writeBooleanField("NULL", true);
            case SS -> writeStrings("SS", value.ss(), json);
            case NS -> writeStrings("NS", value.ns(), json);
            case BS -> {
                json.writeArrayFieldStart("BS");
                for (var bytes : value.bs()) {
                    json.writeBinary(bytes.asByteArrayUnsafe());
                }
                json.writeEndArray();
            }
            case M -> {
                json.writeFieldName("M");
                writeItem(value.m(), json);
            }
            case L -> {
                json.writeArrayFieldStart("L");
                for (AttributeValue each : value.l()) {
                    writeValue(each, json);
                }
                json.writeEndArray();
            }
            case UNKNOWN_TO_SDK_VERSION ->
                throw new IllegalStateException("An attribute has a type that this version of the SDK does not know");
        }
        json.writeEndObject();
    }

    private static void writeStrings(String type, List<String> values, JsonGenerator json) throws IOException {
        json.writeArrayFieldStart(type);
        for (String value : values) {
            json.writeString(value);
        }
        json.writeEndArray();
    }
}
