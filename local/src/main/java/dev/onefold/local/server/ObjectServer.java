package dev.onefold.local.server;

import com.sun.net.httpserver.HttpExchange;
import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Objects in memory, as much of S3 as is used: put with a hash that is compared, and only where nothing is if that is
/// asked for; get, head, delete. Buckets are not made: a name is one. Any thread.
public final class ObjectServer implements AutoCloseable {
    private static final String HASH = "x-amz-checksum-sha256";

    private final Loopback server;
    private final Map<String, byte[]> objects = new ConcurrentHashMap<>();
    private final Set<String> hashed = ConcurrentHashMap.newKeySet();

    private ObjectServer() throws IOException {
        server = Loopback.open(this::handle);
    }

    /// Opens an empty one.
    public static ObjectServer open() throws IOException {
        return new ObjectServer();
    }

    /// All objects, by their buckets and keys: `/bucket/key`.
    public Map<String, byte[]> objects() {
        return Map.copyOf(objects);
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
                case "GET", "HEAD" -> {
                    byte[] object = objects.get(path);
                    if (object == null) {
                        refuse(exchange, 404, "NoSuchKey", "The specified key does not exist.");
                    } else {
                        tellHash(exchange, path, object);
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

    /// The store knows a hash only if it came with the object, and tells it only if it is asked.
    private void tellHash(HttpExchange exchange, String path, byte[] object) {
        if (hashed.contains(path)
                && "ENABLED".equals(exchange.getRequestHeaders().getFirst("x-amz-checksum-mode"))) {
            exchange.getResponseHeaders().set(HASH, hash(object));
        }
    }

    private void put(HttpExchange exchange, String path, byte[] body) throws IOException {
        String expected = exchange.getRequestHeaders().getFirst(HASH);
        if (expected != null && !expected.equals(hash(body))) {
            refuse(exchange, 400, "BadDigest", "The SHA256 you specified did not match the calculated checksum.");
            return;
        }
        if ("*".equals(exchange.getRequestHeaders().getFirst("If-None-Match"))) {
            if (objects.putIfAbsent(path, body) != null) {
                refuse(exchange, 412, "PreconditionFailed", "At least one of the preconditions did not hold.");
                return;
            }
        } else {
            objects.put(path, body);
        }
        if (expected == null) {
            hashed.remove(path);
        } else {
            hashed.add(path);
        }
        exchange.getResponseHeaders().set("ETag", '"' + hash(body) + '"');
        exchange.sendResponseHeaders(200, -1);
    }

    private static void refuse(HttpExchange exchange, int status, String code, String message) throws IOException {
        String xml = "<Error><Code>" + code + "</Code><Message>" + message + "</Message></Error>";
        answer(exchange, status, "application/xml", xml.getBytes(StandardCharsets.UTF_8));
    }

    private static void answer(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
            exchange.sendResponseHeaders(status, -1);
            return;
        }
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
