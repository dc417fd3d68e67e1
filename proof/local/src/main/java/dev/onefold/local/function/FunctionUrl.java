package dev.onefold.local.function;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import dev.onefold.local.server.Loopback;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The URL of a function: makes of each request an event (payload format 2.0), and of the function's answer one to the
/// request. With the type AWS_IAM a request must say who has signed it; the signature itself is not checked. Any thread
/// may call.
public final class FunctionUrl implements AutoCloseable {
    /// What Lambda takes, of an event and of an answer.
    private static final int PAYLOAD_BYTES_MAX = 6_291_556;

    private static final Pattern SIGNED = Pattern.compile("AWS4-HMAC-SHA256 Credential=([A-Za-z0-9]+)/.*");
    private static final Pattern TEXT = Pattern.compile("text/.*|application/(json|xml|javascript).*");
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Loopback server;
    private final Function<byte[], CompletableFuture<byte[]>> function;
    private final boolean isSigned;

    private FunctionUrl(Function<byte[], CompletableFuture<byte[]>> function, boolean isSigned) throws IOException {
        this.function = function;
        this.isSigned = isSigned;
        server = Loopback.open(this::handle);
    }

    /// Opens one.
    ///
    /// @param isSigned whether its type is AWS_IAM, not NONE
    public static FunctionUrl open(Function<byte[], CompletableFuture<byte[]>> function, boolean isSigned)
            throws IOException {
        return new FunctionUrl(function, isSigned);
    }

    /// Where it is, with a slash at its end.
    public URI uri() {
        return server.uri().resolve("/");
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            Optional<String> caller = Optional.ofNullable(
                            exchange.getRequestHeaders().getFirst("Authorization"))
                    .map(SIGNED::matcher)
                    .filter(Matcher::matches)
                    .map(signed -> signed.group(1));
            if (isSigned && caller.isEmpty()) {
                refuse(exchange, 403, "Forbidden");
                return;
            }
            byte[] event = JSON.writeValueAsBytes(event(exchange, body, isSigned ? caller : Optional.empty()));
            if (event.length > PAYLOAD_BYTES_MAX) {
                refuse(exchange, 413, "Request Entity Too Large");
                return;
            }
            try {
                byte[] payload = function.apply(event).join();
                if (payload.length > PAYLOAD_BYTES_MAX) {
                    refuse(exchange, 502, "Internal Server Error");
                    return;
                }
                send(exchange, JSON.readTree(payload));
            } catch (CompletionException failed) {
                refuse(exchange, 502, "Internal Server Error");
            }
        }
    }

    private static ObjectNode event(HttpExchange exchange, byte[] body, Optional<String> caller) {
        URI uri = exchange.getRequestURI();
        ObjectNode event = JSON.createObjectNode();
        event.put("version", "2.0");
        event.put("routeKey", "$default");
        event.put("rawPath", uri.getRawPath());
        event.put("rawQueryString", uri.getRawQuery() == null ? "" : uri.getRawQuery());
        ObjectNode headers = event.putObject("headers");
        exchange.getRequestHeaders()
                .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), String.join(",", values)));
        ObjectNode context = event.putObject("requestContext");
        context.put("accountId", caller.isPresent() ? "000000000000" : "anonymous");
        context.put("requestId", UUID.randomUUID().toString());
        caller.ifPresent(key -> context.putObject("authorizer")
                .putObject("iam")
                .put("accessKey", key)
                .put("accountId", "000000000000")
                .put("userArn", "arn:aws:iam::000000000000:user/" + key));
        context.putObject("http")
                .put("method", exchange.getRequestMethod())
                .put("path", uri.getPath())
                .put("protocol", "HTTP/1.1")
                .put("sourceIp", "127.0.0.1");
        if (body.length > 0) {
            boolean isText =
                    TEXT.matcher(headers.path("content-type").asText()).matches() && !headers.has("content-encoding");
            event.put(
                    "body",
                    isText
                            ? new String(body, StandardCharsets.UTF_8)
                            : Base64.getEncoder().encodeToString(body));
            event.put("isBase64Encoded", !isText);
        } else {
            event.put("isBase64Encoded", false);
        }
        return event;
    }

    private static void send(HttpExchange exchange, JsonNode answer) throws IOException {
        answer.path("headers")
                .properties()
                .forEach(header -> exchange.getResponseHeaders()
                        .set(header.getKey(), header.getValue().asText()));
        String body = answer.path("body").asText();
        byte[] bytes = answer.path("isBase64Encoded").asBoolean()
                ? Base64.getDecoder().decode(body)
                : body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(answer.path("statusCode").asInt(), bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private static void refuse(HttpExchange exchange, int status, String message) throws IOException {
        byte[] body = ("{\"Message\":\"" + message + "\"}").getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        server.close();
    }
}
