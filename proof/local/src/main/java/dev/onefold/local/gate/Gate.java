package dev.onefold.local.gate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import dev.onefold.local.meter.Meters;
import dev.onefold.local.server.DynamoDbServer;
import dev.onefold.local.server.Loopback;
import dev.onefold.local.template.Account;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The one address of all services. It finds out who calls and what is asked for, lets through what the caller's role
/// allows, and lets some requests fail. Any thread.
public final class Gate implements AutoCloseable {
    private static final Pattern CREDENTIAL = Pattern.compile("Credential=([^/]+)/[^/]*/[^/]*/([^/]*)");

    /// Of one connection, not of what is asked for; and a packed answer could not be read here.
    private static final Set<String> NOT_PASSED_ON =
            Set.of("connection", "content-length", "expect", "host", "upgrade", "accept-encoding", "transfer-encoding");

    private final Loopback server;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Map<Service, URI> services;
    private volatile Map<String, Role> roles;
    private final ServiceRequest.Reader reader;
    private final Account tables;
    private final Faults faults;
    private final Random random;
    private final Usage usage = new Usage();

    private final Optional<Metering> metering;

    /// What is behind a gate.
    ///
    /// @param services where they are
    /// @param meters count what passes; none if nobody asks for it, because to count takes time
    public record Behind(Map<Service, URI> services, Optional<Meters> meters) {}

    private Gate(Account account, Behind behind, Map<String, Role> roles, Faults faults, long seed) throws IOException {
        metering = behind.meters().map(Metering::new);
        reader = new ServiceRequest.Reader(account);
        tables = new Account(account.id(), DynamoDbServer.REGION);
        services = Map.copyOf(behind.services());
        this.roles = roles;
        this.faults = faults;
        random = new Random(seed);
        server = Loopback.open(this::handle);
    }

    /// Opens the gate.
    ///
    /// @param services where they are
    /// @param roles who may call
    public static Gate open(
            Account account, Map<Service, URI> services, Collection<Role> roles, Faults faults, long seed)
            throws IOException {
        return open(account, new Behind(services, Optional.empty()), roles, faults, seed);
    }

    /// The same, and what passes may be counted.
    public static Gate open(Account account, Behind behind, Collection<Role> roles, Faults faults, long seed)
            throws IOException {
        return new Gate(account, behind, byKey(roles), faults, seed);
    }

    private static Map<String, Role> byKey(Collection<Role> roles) {
        return roles.stream().collect(Collectors.toUnmodifiableMap(Role::accessKey, role -> role));
    }

    /// From now on these may call, and nobody else.
    public void setRoles(Collection<Role> callers) {
        roles = byKey(callers);
    }

    /// Where it is: the endpoint of every service.
    public URI uri() {
        return server.uri();
    }

    /// Who asked for what so far.
    public Usage usage() {
        return usage;
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            Matcher credential = CREDENTIAL.matcher(authorization == null ? "" : authorization);
            boolean isSigned = credential.find();
            ServiceRequest asked = reader.read(
                    isSigned ? credential.group(2) : "",
                    exchange.getRequestHeaders().getFirst("X-Amz-Target"),
                    exchange.getRequestMethod(),
                    exchange.getRequestURI(),
                    body);
            Role role = isSigned ? roles.get(credential.group(1)) : null;
            if (role == null) {
                answer(exchange, Reply.unknownCaller(asked));
                return;
            }
            Optional<Role.Need> missing = usage.note(role, asked);
            if (missing.isPresent()) {
                answer(exchange, Reply.denied(asked, role, missing.get()));
                return;
            }
            pass(exchange, asked, named(asked, body));
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt(); // The gate is closed: whoever asked gets no answer.
        }
    }

    /// As the servers name it: Kinesis streams by their names only, and all that is of tables in a region of its own.
    private byte[] named(ServiceRequest asked, byte[] body) throws IOException {
        ObjectNode json = asked.body();
        if (asked.service() == Service.STREAMS && json != null && json.has("StreamArn")) {
            json.put("StreamArn", tables.own(json.path("StreamArn").asText()));
            return ServiceRequest.JSON.writeValueAsBytes(json);
        }
        if (asked.service() != Service.KINESIS || json == null || !json.has("StreamARN") || json.has("StreamName")) {
            return body;
        }
        String arn = json.path("StreamARN").asText();
        json.put("StreamName", arn.substring(arn.lastIndexOf('/') + 1));
        return ServiceRequest.JSON.writeValueAsBytes(json);
    }

    private void pass(HttpExchange exchange, ServiceRequest asked, byte[] body)
            throws IOException, InterruptedException {
        Faults.Fault fault;
        synchronized (random) {
            fault = faults.draw(asked, random);
        }
        usage.noteFault(fault);
        switch (fault) {
            case NONE -> answer(exchange, forward(exchange, asked, body));
            case THROTTLED -> answer(exchange, Reply.throttled(asked));
            case BROKEN -> answer(exchange, Reply.broken(asked));
            case CONFLICT -> answer(exchange, Reply.conflict(asked));
            case LOST -> forward(exchange, asked, body); // And the connection is closed without a word.
            case DELAYED -> {
                Thread.sleep(faults.delay(random)); // On a thread of its own: nobody else waits.
                answer(exchange, forward(exchange, asked, body));
            }
            case PARTIAL -> answer(exchange, partly(exchange, asked, body));
        }
    }

    private Reply forward(HttpExchange exchange, ServiceRequest asked, byte[] body)
            throws IOException, InterruptedException {
        URI service = services.get(asked.service());
        if (service == null) {
            throw new IOException("Nothing stands in for " + asked.service() + " here");
        }
        boolean isCounted = metering.isPresent() && Metering.isAskedFor(asked);
        byte[] sent = isCounted ? Metering.asking(asked) : body;
        HttpRequest.Builder request = HttpRequest.newBuilder(service.resolve(exchange.getRequestURI()))
                .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(sent));
        exchange.getRequestHeaders().forEach((name, values) -> {
            if (!NOT_PASSED_ON.contains(name.toLowerCase(Locale.ROOT))) {
                values.forEach(value -> request.header(name, value));
            }
        });
        HttpResponse<byte[]> response = client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() == 200) {
            reader.answered(asked, response.body());
        }
        Reply reply = new Reply(response.statusCode(), response.headers().map(), response.body());
        return metering.isPresent() ? metering.get().count(asked, body, reply, isCounted) : reply;
    }

    /// Does half of it, and says of the rest that it was not done.
    private Reply partly(HttpExchange exchange, ServiceRequest asked, byte[] body)
            throws IOException, InterruptedException {
        ObjectNode request = asked.body();
        if (request == null) {
            return forward(exchange, asked, body);
        }
        return asked.operation().equals("PutRecords")
                ? halfPut(exchange, asked, request)
                : halfRead(exchange, asked, request);
    }

    private Reply halfRead(HttpExchange exchange, ServiceRequest asked, ObjectNode request)
            throws IOException, InterruptedException {
        ObjectNode rest = ServiceRequest.JSON.createObjectNode();
        request.path("RequestItems").properties().forEach(table -> {
            ObjectNode wanted = (ObjectNode) table.getValue();
            ArrayNode keys = (ArrayNode) wanted.path("Keys");
            ArrayNode later = ServiceRequest.JSON.createArrayNode();
            while (keys.size() > 1 && later.size() < keys.size()) {
                later.add(keys.remove(keys.size() - 1));
            }
            if (!later.isEmpty()) {
                ObjectNode unprocessed = wanted.deepCopy();
                unprocessed.set("Keys", later);
                rest.set(table.getKey(), unprocessed);
            }
        });
        Reply reply = forward(exchange, asked, ServiceRequest.JSON.writeValueAsBytes(request));
        return reply.edited(answer -> answer.set("UnprocessedKeys", rest));
    }

    private Reply halfPut(HttpExchange exchange, ServiceRequest asked, ObjectNode request)
            throws IOException, InterruptedException {
        List<JsonNode> all = new ArrayList<>();
        request.path("Records").forEach(all::add);
        ArrayNode first = ServiceRequest.JSON.createArrayNode();
        for (int i = 0; i < all.size(); i += 2) {
            first.add(all.get(i));
        }
        request.set("Records", first);
        Reply reply = forward(exchange, asked, ServiceRequest.JSON.writeValueAsBytes(request));
        return reply.edited(answer -> {
            JsonNode done = answer.path("Records");
            ArrayNode entries = ServiceRequest.JSON.createArrayNode();
            for (int i = 0; i < all.size(); i++) {
                entries.add(i % 2 == 0 ? done.path(i / 2) : Reply.throttledEntry());
            }
            answer.put("FailedRecordCount", answer.path("FailedRecordCount").asInt() + all.size() / 2);
            answer.set("Records", entries);
        });
    }

    private static void answer(HttpExchange exchange, Reply reply) throws IOException {
        reply.headers().forEach((name, values) -> {
            if (!name.startsWith(":") && !NOT_PASSED_ON.contains(name.toLowerCase(Locale.ROOT))) {
                values.forEach(value -> exchange.getResponseHeaders().add(name, value));
            }
        });
        boolean isHead = exchange.getRequestMethod().equals("HEAD");
        if (isHead && reply.headers().containsKey("content-length")) {
            exchange.getResponseHeaders().put("Content-Length", reply.headers().get("content-length"));
        }
        boolean empty = reply.body().length == 0 || isHead;
        exchange.sendResponseHeaders(reply.status(), empty ? -1 : reply.body().length);
        if (!empty) {
            exchange.getResponseBody().write(reply.body());
        }
    }

    @Override
    public void close() {
        server.close();
        client.shutdownNow();
    }
}
