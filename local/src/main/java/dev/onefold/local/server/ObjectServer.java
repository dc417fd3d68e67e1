package dev.onefold.local.server;

import com.sun.net.httpserver.HttpExchange;
import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Objects in memory, as much of S3 as the functions use: put with a hash that is compared, get, delete. Buckets
/// are not made: a name is one. Any thread.
public final class ObjectServer implements AutoCloseable {
    private static final String HASH = "x-amz-checksum-sha256";

    private final Loopback server;
    private final Map<String, byte[]> objects = new ConcurrentHashMap<>();

    private ObjectServer() throws IOException {
        server = Loopback.open(this::handle);
    }

    /// Opens an empty one.
    public static ObjectServer open() throws IOException {
        return new ObjectServer();
    }

    /// Where it is.
    public URI uri() {
        return server.uri();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            byte[] body = exchange.getRequestBody().readAllBytes();
            switch (exchange.getRequestMethod()) {
                case "PUT" -> put(exchange, path, body);
                case "GET" -> {
                    byte[] object = objects.get(path);
                    if (object == null) {
                        refuse(exchange, 404, "NoSuchKey", "The specified key does not exist.");
                    } else {
                        exchange.getResponseHeaders().set(HASH, hash(object));
                        answer(exchange, 200, "binary/octet-stream", object);
                    }
                }
                case "DELETE" -> {
                    objects.remove(path);
                    exchange.sendResponseHeaders(204, -1);
                }
                default -> refuse(exchange, 501, "NotImplemented", "Nobody asked for that yet.");
            }
        }
    }

    private void put(HttpExchange exchange, String path, byte[] body) throws IOException {
        String expected = exchange.getRequestHeaders().getFirst(HASH);
        if (expected != null && !expected.equals(hash(body))) {
            refuse(exchange, 400, "BadDigest", "The SHA256 you specified did not match the calculated checksum.");
            return;
        }
        objects.put(path, body);
        exchange.getResponseHeaders().set("ETag", '"' + hash(body) + '"');
        exchange.sendResponseHeaders(200, -1);
    }

    private static void refuse(HttpExchange exchange, int status, String code, String message) throws IOException {
        String xml = "<Error><Code>" + code + "</Code><Message>" + message + "</Message></Error>";
        answer(exchange, status, "application/xml", xml.getBytes(StandardCharsets.UTF_8));
    }

    private static void answer(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    private static String hash(byte[] bytes) {
        return Base64.getEncoder().encodeToString(Sha256.of(bytes));
    }

    @Override
    public void close() {
        server.close();
    }
}
