package dev.onefold.cli.aws;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/// Answers PutRecords over HTTP as Kinesis does, in JSON, as fast as it can: it keeps nothing, and counts the entries
/// that it took. Now and then it refuses one entry of a request, and takes the others.
final class PutSink implements AutoCloseable {
    private static final byte[] ENTRY = "\"PartitionKey\"".getBytes(StandardCharsets.US_ASCII);
    private static final int REFUSES_ONE_IN_REQUESTS = 20;

    private final HttpServer server;
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();

    PutSink() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::answer);
        server.start();
    }

    URI endpoint() {
        return URI.create("http://localhost:" + server.getAddress().getPort());
    }

    long taken() {
        return taken.get();
    }

    long refused() {
        return refused.get();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            int entries = count(exchange.getRequestBody().readAllBytes());
            boolean refuses = requests.incrementAndGet() % REFUSES_ONE_IN_REQUESTS == 0;
            StringBuilder answer = new StringBuilder(entries * 110);
            answer.append("{\"FailedRecordCount\":").append(refuses ? 1 : 0).append(",\"Records\":[");
            for (int i = 0; i < entries; i++) {
                answer.append(i == 0 ? "" : ",");
                if (refuses && i == entries / 2) {
                    answer.append("{\"ErrorCode\":\"ProvisionedThroughputExceededException\",")
                            .append("\"ErrorMessage\":\"Rate exceeded for shard shardId-000000000001\"}");
                } else {
                    answer.append("{\"SequenceNumber\":\"49543463076548007577105092703039560359975228518395012686\",")
                            .append("\"ShardId\":\"shardId-000000000000\"}");
                }
            }
            byte[] body = answer.append("]}").toString().getBytes(StandardCharsets.US_ASCII);
            taken.addAndGet(refuses ? entries - 1 : entries);
            refused.addAndGet(refuses ? 1 : 0);
            exchange.getResponseHeaders().set("Content-Type", "application/x-amz-json-1.1");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /// How many entries a request has: data is base64, in which the name cannot be.
    private static int count(byte[] request) {
        int entries = 0;
        for (int i = 0; i + ENTRY.length <= request.length; i++) {
            int at = 0;
            while (at < ENTRY.length && request[i + at] == ENTRY[at]) {
                at++;
            }
            entries += at == ENTRY.length ? 1 : 0;
        }
        return entries;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
