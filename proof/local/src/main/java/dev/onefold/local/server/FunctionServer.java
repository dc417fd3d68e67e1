package dev.onefold.local.server;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Functions of users by their names, as the API of Lambda invokes them: one request, one answer. What a function is
/// made of is the caller's. Any thread.
public final class FunctionServer implements AutoCloseable {
    /// What the paths of invocations begin with.
    public static final String PATH = "/2015-03-31/functions/";

    private static final String END = "/invocations";

    private final Loopback server;
    private final Map<String, Function> functions = new ConcurrentHashMap<>();

    /// A function.
    @FunctionalInterface
    public interface Function {
        /// @return the answer
        /// @throws IllegalStateException if the function itself fails
        String answer(String payload);
    }

    private FunctionServer() throws IOException {
        server = Loopback.open(this::handle);
    }

    /// Opens one without functions.
    public static FunctionServer open() throws IOException {
        return new FunctionServer();
    }

    /// Where it is.
    public URI uri() {
        return server.uri();
    }

    /// Adds a function, or replaces it.
    public void put(String name, Function function) {
        functions.put(name, function);
    }

    /// The name of the function that a path invokes.
    public static String name(String path) {
        return path.substring(PATH.length(), path.length() - END.length());
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String payload = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Function function = functions.get(name(exchange.getRequestURI().getPath()));
            if (function == null) {
                exchange.getResponseHeaders().set("x-amzn-ErrorType", "ResourceNotFoundException");
                answer(exchange, 404, "{\"Message\":\"Function not found\"}");
                return;
            }
            String answer;
            try {
                answer = function.answer(payload);
            } catch (IllegalStateException e) {
                exchange.getResponseHeaders().set("X-Amz-Function-Error", "Unhandled");
                answer = "{\"errorMessage\":\"" + e.getMessage() + "\"}";
            }
            answer(exchange, 200, answer);
        }
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        server.close();
    }
}
