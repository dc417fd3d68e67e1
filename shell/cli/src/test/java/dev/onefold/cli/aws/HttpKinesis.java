package dev.onefold.cli.aws;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/// One stream of one shard behind the wire of Kinesis, in JSON: what a client says over HTTP is understood and answered
/// by its documentation. How the service fails is tested where no wire is needed.
final class HttpKinesis implements AutoCloseable {
    static final String SHARD = "shardId-000000000000";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PAGE = 100;

    private final HttpServer server;
    private final String stream;
    /// What is in the stream: `PartitionKey`, `Data` in base64, and when it came.
    private final List<ObjectNode> records = new ArrayList<>();

    HttpKinesis(String stream) throws IOException {
        this.stream = stream;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    URI endpoint() {
        return URI.create("http://localhost:" + server.getAddress().getPort());
    }

    /// Partition key and text of each record.
    synchronized List<String> texts() throws IOException {
        List<String> texts = new ArrayList<>();
        for (ObjectNode each : records) {
            texts.add(each.path("PartitionKey").asText() + " "
                    + new String(each.path("Data").binaryValue(), java.nio.charset.StandardCharsets.UTF_8));
        }
        return texts;
    }

    private synchronized void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            JsonNode request = JSON.readTree(exchange.getRequestBody().readAllBytes());
            String operation = exchange.getRequestHeaders().getFirst("X-Amz-Target");
            ObjectNode answer = JSON.createObjectNode();
            int status = 200;
            if (request.has("StreamName")
                    && !request.path("StreamName").asText().equals(stream)) {
                status = 400;
                answer.put("__type", "ResourceNotFoundException").put("message", "Stream not found");
            } else {
                answer(operation.substring(operation.indexOf('.') + 1), request, answer);
            }
            byte[] body = JSON.writeValueAsBytes(answer);
            exchange.getResponseHeaders().set("Content-Type", "application/x-amz-json-1.1");
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private void answer(String operation, JsonNode request, ObjectNode answer) {
        switch (operation) {
            case "PutRecords" -> put(request, answer);
            case "ListShards" -> answer.putArray("Shards").addObject().put("ShardId", SHARD);
            case "DescribeStreamSummary" ->
                answer.putObject("StreamDescriptionSummary").put("RetentionPeriodHours", 24);
            case "GetShardIterator" -> {
                String from = request.path("StartingSequenceNumber").asText();
                answer.put("ShardIterator", from.isEmpty() ? "0" : String.valueOf(Integer.parseInt(from) - 1));
            }
            case "GetRecords" ->
                page(Integer.parseInt(request.path("ShardIterator").asText()), answer);
            default -> throw new AssertionError("Nobody needs " + operation);
        }
    }

    private void put(JsonNode request, ObjectNode answer) {
        ArrayNode results = answer.put("FailedRecordCount", 0).putArray("Records");
        request.path("Records").forEach(record -> {
            records.add(((ObjectNode) record.deepCopy()).put("At", System.currentTimeMillis() / 1e3));
            results.addObject().put("ShardId", SHARD).put("SequenceNumber", String.valueOf(records.size()));
        });
    }

    private void page(int from, ObjectNode answer) {
        int to = Math.min(records.size(), from + PAGE);
        ArrayNode page = answer.put("NextShardIterator", String.valueOf(to))
                .put("MillisBehindLatest", to < records.size() ? 1 : 0)
                .putArray("Records");
        for (int i = from; i < to; i++) {
            page.addObject()
                    .put("SequenceNumber", String.valueOf(i + 1))
                    .put("PartitionKey", records.get(i).path("PartitionKey").asText())
                    .put("Data", records.get(i).path("Data").asText())
                    .put(
                            "ApproximateArrivalTimestamp",
                            records.get(i).path("At").asDouble());
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
