package dev.onefold.local.stack;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Executors;

/// A receiver of batches that keeps what it gets. One request in three is answered with an error, half of these after
/// the batch was taken.
final class Drop implements AutoCloseable {
    private final HttpServer server;
    private final Map<String, List<String>> batches = new TreeMap<>();
    private final List<String> wrong = new ArrayList<>();
    private int requests;

    Drop() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::take);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }

    String address() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/drop";
    }

    private void take(HttpExchange exchange) throws IOException {
        try (exchange) {
            String id = Optional.ofNullable(exchange.getRequestHeaders().getFirst("Idempotency-Key"))
                    .orElse("none");
            List<String> lines = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            exchange.sendResponseHeaders(answer(id, lines), -1);
        }
    }

    private synchronized int answer(String id, List<String> lines) {
        requests++;
        if (requests % 6 == 3) {
            return 503;
        }
        List<String> before = batches.putIfAbsent(id, lines);
        if (before != null && !before.equals(lines)) {
            wrong.add(id + " came with two contents");
        }
        return requests % 6 == 0 ? 500 : 200;
    }

    /// The records of each batch, by its id.
    synchronized Map<String, List<String>> batches() {
        return new TreeMap<>(batches);
    }

    synchronized List<String> wrong() {
        return List.copyOf(wrong);
    }

    synchronized int requests() {
        return requests;
    }

    @Override
    public void close() {
        server.stop(0);
    }

    /// For messages of failures.
    @Override
    public synchronized String toString() {
        return batches.size() + " batches in " + requests + " requests";
    }
}
