package dev.onefold.cli.aws;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/// A queue behind the wire of SQS that says how many messages it has. When it was asked once, they are worked on; also
/// when it is purged.
final class HttpQueue implements AutoCloseable {
    private final HttpServer server;
    private final Runnable work;
    private int messages;
    private int asked;

    /// @param work is done before the second answer, which says that the queue is empty, and when it is purged
    HttpQueue(int messages, Runnable work) throws IOException {
        this.messages = messages;
        this.work = work;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/000000000000/retries";
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            boolean isPurge =
                    exchange.getRequestHeaders().getFirst("X-Amz-Target").endsWith("PurgeQueue");
            if (isPurge || ++asked == 2) {
                work.run();
                messages = 0;
            }
            byte[] answer = """
                    {"Attributes": {"ApproximateNumberOfMessages": "0",
                    "ApproximateNumberOfMessagesNotVisible": "%d", "ApproximateNumberOfMessagesDelayed": "0"}}""".formatted(messages).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/x-amz-json-1.0");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
