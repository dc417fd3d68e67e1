package dev.onefold.cli.aws;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/// Buckets behind the wire of S3: what a client says over HTTP is understood and answered by its documentation. How the
/// service fails is tested where no wire is needed.
final class HttpBucket implements AutoCloseable {
    private final HttpServer server;

    /// By path: bucket and object.
    final Map<String, byte[]> objects = new ConcurrentSkipListMap<>();

    HttpBucket() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    /// By its address: a client then puts the bucket's name into the path, not before the host.
    String endpoint() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            byte[] body = exchange.getRequestBody().readAllBytes();
            switch (exchange.getRequestMethod()) {
                case "PUT" -> {
                    objects.put(path, body);
                    exchange.getResponseHeaders().set("ETag", "\"1\"");
                    exchange.sendResponseHeaders(200, -1);
                }
                case "GET" -> send(exchange, objects.get(path));
                case "DELETE" -> {
                    objects.remove(path);
                    exchange.sendResponseHeaders(204, -1);
                }
                default -> throw new AssertionError("Nobody needs " + exchange.getRequestMethod());
            }
        }
    }

    private static void send(HttpExchange exchange, byte[] object) throws IOException {
        byte[] missing = "<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>"
                .getBytes(StandardCharsets.UTF_8);
        byte[] content = object == null ? missing : object;
        exchange.sendResponseHeaders(object == null ? 404 : 200, content.length == 0 ? -1 : content.length);
        exchange.getResponseBody().write(content);
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
