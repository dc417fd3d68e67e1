package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.api.Request;
import dev.onefold.api.Response;
import dev.onefold.api.Routes;
import dev.onefold.api.Routes.Permission;
import dev.onefold.api.body.ContentFormat;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.server.Remembered.Known;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;

/// Takes the records of a request, and answers when they are forced. Any thread may call.
final class Records {
    private static final int KEY_LENGTH_MAX = 255;
    private static final int OK = 200;

    private final Routes routes;
    private final Map<String, Served> pipelines;
    private final Map<String, Remembered> memories = new LinkedHashMap<>();
    private final Metrics metrics;

    Records(Routes routes, Map<String, Served> pipelines, Metrics metrics, InstantSource clock) throws IOException {
        this.routes = routes;
        this.pipelines = pipelines;
        this.metrics = metrics;
        for (Map.Entry<String, Served> each : pipelines.entrySet()) {
            Path answers = each.getValue().answers();
            if (answers != null) {
                memories.put(each.getKey(), Remembered.open(answers, clock));
            }
        }
    }

    /// Takes the records of a caller that may send them.
    void take(Exchange exchange, Request sent, Permission permission) throws IOException, Refusal {
        String name = sent.path().get(1);
        Served served = served(name);
        Optional<Failure> refusal = served.refusal().get();
        if (refusal.isPresent()) {
            throw new Refusal(refusal.get());
        }
        Pipeline pipeline = served.engine().pipeline();
        String type = exchange.header(HttpHeader.CONTENT_TYPE).orElse("");
        Optional<String> otherFormat = ContentFormat.refusal(type, pipeline);
        if (otherFormat.isPresent()) {
            throw new Refusal(415, Failure.REQUEST, otherFormat.get());
        }
        Request asked = lines(exchange, sent, type, pipeline);
        requireOwnName(asked.parameters().getOrDefault("source", List.of()));
        long began = System.nanoTime();
        Optional<String> key = exchange.header("Idempotency-Key");
        if (exchange.request().getHeaders().getValuesList("Idempotency-Key").size() > 1) {
            throw exchange.refused("The request has several idempotency keys. Send one.");
        }
        boolean isTaken = key.isPresent()
                ? takeOnce(exchange, asked, permission, key.get())
                : send(exchange, answer(asked, permission));
        if (isTaken) {
            long now = System.nanoTime();
            metrics.acknowledged(
                    name, Duration.ofNanos(now - exchange.request().getBeginNanoTime()), Duration.ofNanos(now - began));
        }
    }

    /// The request with one record a line.
    private static Request lines(Exchange exchange, Request sent, String type, Pipeline pipeline) throws Refusal {
        Optional<byte[]> lines;
        try {
            lines = ContentFormat.lines(type, pipeline, sent.body());
        } catch (IllegalArgumentException e) {
            throw exchange.refused(String.valueOf(e.getMessage()));
        }
        if (lines.isPresent() && sent.parameters().containsKey("from")) {
            throw exchange.refused(
                    "An array, or objects over several lines, have no numbered lines, as 'from' needs them."
                            + " Send one record a line.");
        }
        return lines.isEmpty() ? sent : new Request(sent.method(), sent.path(), sent.parameters(), lines.get());
    }

    /// The routes have found it already.
    private Served served(String name) {
        return Objects.requireNonNull(pipelines.get(name));
    }

    /// An answer with its whole content, which is short.
    private record Answered(Response response, byte[] content) {}

    private Answered answer(Request asked, Permission permission) throws IOException {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        Response[] answer = new Response[1];
        routes.answer(asked, permission, response -> {
            answer[0] = response;
            response.body().writeTo(content);
        });
        return new Answered(answer[0], content.toByteArray());
    }

    private static boolean send(Exchange exchange, Answered answered) throws IOException {
        Response response = answered.response;
        exchange.send(new Response(response.status(), response.contentType(), out -> out.write(answered.content)));
        return response.status() == OK;
    }

    private boolean takeOnce(Exchange exchange, Request asked, Permission permission, String key)
            throws IOException, Refusal {
        String name = asked.path().get(1);
        Remembered memory = memory(exchange, asked, name, key);
        byte[] request = hash(asked, exchange.request().getHttpURI().getPathQuery());
        switch (memory.begin(key, request)) {
            case Known.Same(byte[] answer) -> {
                exchange.response().getHeaders().put("Idempotency-Replayed", "true");
                exchange.send(new Response(OK, Response.JSON, out -> out.write(answer)));
                return false;
            }
            case Known.Other _ ->
                throw new Refusal(
                        422,
                        Failure.KEY_REUSED,
                        "The idempotency key was sent with another request. Nothing was done. Use a new key for new"
                                + " records.");
            case Known.UnderWay _ ->
                throw new Refusal(
                        409,
                        Failure.BUSY,
                        "A request with this idempotency key is under way. Repeat it, and its answer comes.");
            case Known.Nothing _ -> {
                Answered answered;
                try {
                    answered = answer(asked, permission);
                    if (answered.response.status() == OK) {
                        memory.end(key, request, answered.content);
                    }
                } finally {
                    memory.end(key);
                }
                return send(exchange, answered);
            }
        }
    }

    private Remembered memory(Exchange exchange, Request asked, String name, String key) throws Refusal {
        if (key.isEmpty() || key.length() > KEY_LENGTH_MAX) {
            throw exchange.refused("The idempotency key has 1 to " + KEY_LENGTH_MAX + " characters.");
        }
        if (asked.parameters().containsKey("from")) {
            throw exchange.refused("An idempotency key does not go with 'from', which makes a repeated request the same"
                    + " lines for ever.");
        }
        Remembered memory = memories.get(name);
        Pipeline pipeline = served(name).engine().pipeline();
        if (memory == null || isForgottenBeforeKeys(pipeline)) {
            String known = pipeline.input().identity() instanceof Identity.ByPlace
                    ? "are known by their place"
                    : "have ids that are forgotten after delivery";
            throw exchange.refused("The records of pipeline " + name + " " + known + ", and the memory of"
                    + " idempotency keys ends after a day: a request that is repeated later would count twice. Send"
                    + " 'source' and 'from' instead.");
        }
        return memory;
    }

    /// A key brings an answer back; only the identity of the records makes a late repeat count once. An id
    /// that is forgotten after a time lives longer than the key, and its time is the time for which a sender
    /// may repeat a record.
    private static boolean isForgottenBeforeKeys(Pipeline pipeline) {
        return pipeline.recordsKnownFor()
                .filter(known -> known.compareTo(Remembered.AGE_MAX) < 0)
                .isPresent();
    }

    private static byte[] hash(Request asked, String target) {
        MessageDigest digest = Sha256.digest();
        digest.update(target.getBytes(StandardCharsets.UTF_8));
        digest.update((byte) '\n');
        return digest.digest(asked.body());
    }

    /// A sender that takes the name of a file or a queue would keep the service from reading that.
    private static void requireOwnName(List<String> sources) throws Refusal {
        if (sources.stream().anyMatch(name -> name.startsWith("/") || name.contains("://"))) {
            throw new Refusal(
                    400,
                    Failure.REQUEST,
                    "A source of requests has no name that begins with / or is an address: these are names of files"
                            + " and of queues.");
        }
    }
}
