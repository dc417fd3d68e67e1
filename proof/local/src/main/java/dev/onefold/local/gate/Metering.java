package dev.onefold.local.gate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onefold.local.meter.Meters;
import dev.onefold.local.meter.Meters.Metric;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// Counts what passes the gate, as CloudWatch would: units of tables, records and bytes of streams, messages of queues,
/// requests for objects. Any thread.
///
/// DynamoDB tells the units of a request only if it is asked. So it is always asked, and what the caller did not ask
/// for is taken out of the answer.
final class Metering {
    private static final String CONSUMED = "ConsumedCapacity";
    private static final String ASK = "ReturnConsumedCapacity";
    private static final Set<String> READS = Set.of("GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems");
    private static final Set<String> WRITES =
            Set.of("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems");

    /// What a write takes at least, even if its condition fails.
    private static final int UNIT = 1;

    private final Meters meters;

    Metering(Meters meters) {
        this.meters = meters;
    }

    /// Whether the units must be asked for, because the caller does not.
    static boolean isAskedFor(ServiceRequest asked) {
        ObjectNode json = asked.body();
        return asked.service() == Service.DYNAMODB
                && json != null
                && !json.has(ASK)
                && (READS.contains(asked.operation()) || WRITES.contains(asked.operation()));
    }

    /// The request, with the units asked for.
    static byte[] asking(ServiceRequest asked) throws IOException {
        ObjectNode json = asked.body();
        if (json == null) {
            throw new IllegalArgumentException("A request without JSON asks for no units");
        }
        ObjectNode more = ServiceRequest.JSON.createObjectNode();
        more.setAll(json);
        return ServiceRequest.JSON.writeValueAsBytes(more.put(ASK, "TOTAL"));
    }

    /// Counts what was done.
    ///
    /// @param takeOut whether the units are to be taken out of the answer
    /// @return the answer that the caller gets
    Reply count(ServiceRequest asked, byte[] body, Reply reply, boolean takeOut) throws IOException {
        switch (asked.service()) {
            case DYNAMODB -> {
                return tables(asked, reply, takeOut);
            }
            case KINESIS -> streams(asked, reply);
            case SQS -> queues(asked, reply);
            case S3 -> objects(asked, body, reply);
            case STREAMS, LAMBDA, CLOUDFORMATION, CLOUDWATCH -> {} // Free, or counted where they run.
        }
        return reply;
    }

    private Reply tables(ServiceRequest asked, Reply reply, boolean takeOut) throws IOException {
        boolean reads = READS.contains(asked.operation());
        if (!reads && !WRITES.contains(asked.operation())) {
            return reply;
        }
        if (reply.status() != 200) {
            failed(asked, reply);
            return reply;
        }
        String metric = reads ? "ConsumedReadCapacityUnits" : "ConsumedWriteCapacityUnits";
        JsonNode consumed = ServiceRequest.JSON.readTree(reply.body()).path(CONSUMED);
        Map<String, Double> units = new TreeMap<>();
        for (JsonNode table : consumed.isArray()
                ? consumed
                : ServiceRequest.JSON.createArrayNode().add(consumed)) {
            units.merge(
                    table.path("TableName").asText(""),
                    table.path("CapacityUnits").asDouble(),
                    Double::sum);
        }
        ObjectNode json = asked.body();
        if (json != null && asked.operation().equals("TransactWriteItems")) {
            // The server counts an update of a new item as none.
            ItemSize.units(json).forEach((table, least) -> units.merge(table, (double) least, Math::max));
        }
        units.remove("");
        units.forEach((table, number) -> units(metric, table, number));
        return takeOut ? reply.edited(answer -> answer.remove(CONSUMED)) : reply;
    }

    /// A condition that fails has been looked at, and takes what the item takes. How large that is nobody tells
    /// here, so it is counted as small.
    private void failed(ServiceRequest asked, Reply reply) throws IOException {
        String error = ServiceRequest.JSON.readTree(reply.body()).path("__type").asText();
        ObjectNode json = asked.body();
        if (json == null) {
            return;
        }
        if (error.endsWith("#ConditionalCheckFailedException")) {
            units("ConsumedWriteCapacityUnits", json.path("TableName").asText(), UNIT);
        } else if (error.endsWith("#TransactionCanceledException")
                && asked.operation().equals("TransactWriteItems")) {
            ItemSize.units(json).forEach((table, units) -> units("ConsumedWriteCapacityUnits", table, (double) units));
        }
    }

    private void units(String metric, String table, double units) {
        String name = table.substring(table.lastIndexOf('/') + 1);
        meters.add(new Metric("AWS/DynamoDB", metric, "TableName", name), units);
    }

    private void streams(ServiceRequest asked, Reply reply) throws IOException {
        if (reply.status() != 200) {
            return;
        }
        switch (asked.operation()) {
            case "PutRecord", "PutRecords" -> put(asked, ServiceRequest.JSON.readTree(reply.body()));
            case "GetRecords" -> {
                JsonNode records = ServiceRequest.JSON.readTree(reply.body()).path("Records");
                String stream = resource(asked);
                stream(stream, "GetRecords.Records", records.size());
                long bytes = 0;
                for (JsonNode record : records) {
                    bytes += bytes(record);
                }
                stream(stream, "GetRecords.Bytes", bytes);
            }
            default -> {} // Not paid for.
        }
    }

    private void put(ServiceRequest asked, JsonNode answer) {
        ObjectNode json = asked.body();
        if (json == null) {
            return;
        }
        String stream = resource(asked);
        if (asked.operation().equals("PutRecord")) {
            stream(stream, "IncomingRecords", 1);
            stream(stream, "IncomingBytes", bytes(json));
            return;
        }
        long records = 0;
        long bytes = 0;
        int at = 0;
        for (JsonNode entry : json.path("Records")) {
            if (!answer.path("Records").path(at++).has("ErrorCode")) {
                records++;
                bytes += bytes(entry);
            }
        }
        stream(stream, "IncomingRecords", records);
        stream(stream, "IncomingBytes", bytes);
    }

    /// Of data in base64, and of the partition key.
    private static long bytes(JsonNode record) {
        String data = record.path("Data").asText();
        int padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
        return data.length() / 4L * 3
                - padding
                + record.path("PartitionKey").asText().length();
    }

    private void stream(String stream, String metric, long value) {
        meters.add(new Metric("AWS/Kinesis", metric, "StreamName", stream), (double) value);
    }

    /// The last part of the name of what is asked for.
    private static String resource(ServiceRequest asked) {
        String arn = asked.needsInOrder().getFirst().resource();
        return arn.substring(Math.max(arn.lastIndexOf('/'), arn.lastIndexOf(':')) + 1);
    }

    private void queues(ServiceRequest asked, Reply reply) throws IOException {
        if (reply.status() != 200) {
            return;
        }
        JsonNode answer = ServiceRequest.JSON.readTree(reply.body());
        switch (asked.operation()) {
            case "SendMessage", "DeleteMessage" ->
                queue(asked, asked.operation().equals("SendMessage") ? "Sent" : "Deleted", 1);
            case "SendMessageBatch", "DeleteMessageBatch" ->
                queue(
                        asked,
                        asked.operation().startsWith("Send") ? "Sent" : "Deleted",
                        answer.path("Successful").size());
            case "ReceiveMessage" -> {
                int messages = answer.path("Messages").size();
                queue(asked, "Received", messages);
                if (messages == 0) {
                    meters.add(new Metric("AWS/SQS", "NumberOfEmptyReceives", "QueueName", resource(asked)), 1);
                }
            }
            default -> {} // Not counted by CloudWatch.
        }
    }

    private void queue(ServiceRequest asked, String what, int messages) {
        meters.add(new Metric("AWS/SQS", "NumberOfMessages" + what, "QueueName", resource(asked)), messages);
    }

    private void objects(ServiceRequest asked, byte[] body, Reply reply) {
        if (reply.status() >= 500) {
            return;
        }
        String path = asked.needsInOrder().getFirst().resource().substring("arn:aws:s3:::".length());
        String bucket = path.contains("/") ? path.substring(0, path.indexOf('/')) : path;
        if (bucket.isEmpty()) {
            return;
        }
        String kind = switch (asked.operation()) {
            case "PutObject" -> "PutRequests";
            case "GetObject" -> "GetRequests";
            case "DeleteObject" -> "DeleteRequests";
            case "ListBucket" -> "ListRequests";
            default -> "";
        };
        object(bucket, "AllRequests", 1);
        if (!kind.isEmpty()) {
            object(bucket, kind, 1);
        }
        if (kind.equals("PutRequests")) {
            object(bucket, "BytesUploaded", body.length);
        } else if (kind.equals("GetRequests")) {
            object(bucket, "BytesDownloaded", reply.body().length);
        }
    }

    private void object(String bucket, String metric, double value) {
        meters.add(new Metric("AWS/S3", metric, "BucketName", bucket), value);
    }
}
