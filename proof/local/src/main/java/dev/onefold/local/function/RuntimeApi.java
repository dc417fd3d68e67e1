package dev.onefold.local.function;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import dev.onefold.local.server.Loopback;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;

/// The server that a function's process asks for invocations, and tells their answers: Lambda's Runtime API, of
/// one sandbox. Any thread may call.
final class RuntimeApi implements AutoCloseable {
    private static final String VERSION = "/2018-06-01/runtime";
    private static final String INVOCATION = VERSION + "/invocation/";
    private static final String NEXT = INVOCATION + "next";

    /// Asked by a process that a snapshot is taken of, at the end of its start. The answer comes to a restored
    /// copy.
    private static final String RESTORE = VERSION + "/restore/next";

    private static final String INIT_ERROR = VERSION + "/init/error";
    private static final int MESSAGE_CHARACTERS_MAX = 2_000;

    private final Loopback server;
    private final String function;
    private final LinkedBlockingQueue<Invocation> waiting = new LinkedBlockingQueue<>();
    private final Map<String, Invocation> running = new ConcurrentHashMap<>();
    private final CompletableFuture<Void> ready = new CompletableFuture<>();

    private record Invocation(String id, byte[] event, long timeoutMs, CompletableFuture<byte[]> answer) {}

    private RuntimeApi(String function) throws IOException {
        this.function = function;
        server = Loopback.open(this::handle);
    }

    static RuntimeApi open(String function) throws IOException {
        return new RuntimeApi(function);
    }

    /// Host and port, as the variable `AWS_LAMBDA_RUNTIME_API` has them.
    String address() {
        return server.uri().getAuthority();
    }

    /// Completes when the process has made its handler and asks for the first invocation.
    CompletableFuture<Void> ready() {
        return ready;
    }

    /// Gives one invocation to the process when it asks.
    CompletableFuture<byte[]> invoke(byte[] event, long timeoutMs) {
        Invocation invocation =
                new Invocation(UUID.randomUUID().toString(), event, timeoutMs, new CompletableFuture<>());
        waiting.add(invocation);
        return invocation.answer();
    }

    private void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        byte[] body = exchange.getRequestBody().readAllBytes();
        if (path.equals(NEXT)) {
            next(exchange);
        } else if (path.equals(RESTORE)) {
            answer(exchange, 200, "{}".getBytes(StandardCharsets.UTF_8));
        } else if (path.equals(INIT_ERROR)) {
            ready.completeExceptionally(new FunctionFailure(function + " cannot begin: " + text(body)));
            answer(exchange, 202, "{}".getBytes(StandardCharsets.UTF_8));
        } else if (path.startsWith(INVOCATION)) {
            String[] parts = path.substring(INVOCATION.length()).split("/", -1);
            Invocation invocation = running.remove(parts[0]);
            if (invocation == null) {
                answer(exchange, 400, "{\"errorType\":\"InvalidRequestID\"}".getBytes(StandardCharsets.UTF_8));
                return;
            }
            answer(exchange, 202, "{\"status\":\"OK\"}".getBytes(StandardCharsets.UTF_8));
            if (parts[1].equals("response")) {
                invocation.answer().complete(body);
            } else {
                invocation.answer().completeExceptionally(new FunctionFailure(function + " failed: " + text(body)));
            }
        } else {
            answer(exchange, 404, "{}".getBytes(StandardCharsets.UTF_8));
        }
    }

    private void next(HttpExchange exchange) throws IOException {
        ready.complete(null);
        Invocation invocation;
        try {
            invocation = waiting.take();
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
            exchange.close();
            return;
        }
        running.put(invocation.id(), invocation);
        Headers headers = exchange.getResponseHeaders();
        headers.set("Lambda-Runtime-Aws-Request-Id", invocation.id());
        headers.set("Lambda-Runtime-Deadline-Ms", String.valueOf(System.currentTimeMillis() + invocation.timeoutMs()));
        headers.set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:local:000000000000:function:" + function);
        answer(exchange, 200, invocation.event());
    }

    /// Without a content type the client crashes.
    private static void answer(HttpExchange exchange, int status, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static String text(byte[] body) {
        String text = new String(body, StandardCharsets.UTF_8);
        return text.substring(0, Math.min(text.length(), MESSAGE_CHARACTERS_MAX));
    }

    @Override
    public void close() {
        server.close();
    }
}
