package dev.onefold.broker;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/// A registry of schemas with the paths of Confluent's REST interface that a reader asks for. It may fail as a real one
/// does. Thread-safe.
public final class SchemaRegistry implements AutoCloseable {
    private static final int NOT_FOUND = 404;

    private final HttpServer server;
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private volatile Fault fault = Fault.NONE;

    /// What each request gets.
    public enum Fault {
        NONE,
        /// No answer at all, and no end of the connection.
        SILENT,
        UNAUTHORIZED,
        BROKEN,
        /// A page of a proxy that knows no such path.
        PAGE_404,
        /// JSON that ends too early.
        DAMAGED
    }

    private SchemaRegistry(HttpServer server) {
        this.server = server;
    }

    /// A registry without schemas at a free port.
    public static SchemaRegistry start() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        SchemaRegistry registry = new SchemaRegistry(server);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", registry::answer);
        server.start();
        return registry;
    }

    public String address() {
        return "http://localhost:" + server.getAddress().getPort();
    }

    /// Answers a path, such as `/schemas/ids/7`, with this JSON.
    public void put(String path, String json) {
        answers.put(path, json);
    }

    public void fail(Fault with) {
        fault = with;
    }

    /// The requests until now: each its path and the value of its header `Authorization`.
    public List<String> asked() {
        return List.copyOf(asked);
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().toString();
        asked.add(path + " " + exchange.getRequestHeaders().getFirst("Authorization"));
        String known = answers.get(path);
        switch (fault) {
            case NONE -> send(exchange, known == null ? NOT_FOUND : 200, json(known));
            case SILENT -> park();
            case UNAUTHORIZED -> send(exchange, 401, "{\"error_code\":401,\"message\":\"Unauthorized\"}");
            case BROKEN -> send(exchange, 500, "{\"error_code\":50001,\"message\":\"Error in the backend\"}");
            case PAGE_404 -> send(exchange, NOT_FOUND, "<html>Not found</html>");
            case DAMAGED ->
                send(exchange, 200, json(known).substring(0, json(known).length() / 2));
        }
    }

    private static String json(@Nullable String known) {
        return known == null ? "{\"error_code\":40403,\"message\":\"Schema not found\"}" : known;
    }

    private static void park() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void send(HttpExchange exchange, int status, String body) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
