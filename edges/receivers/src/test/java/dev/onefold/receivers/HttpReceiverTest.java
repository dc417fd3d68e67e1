package dev.onefold.receivers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Input.Format;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HttpReceiverTest {
    private static final String CONTENT = "{\"id\":1}\n{\"id\":2}\n";
    private static final Handover BATCH = Sample.handover(42, CONTENT);

    private final Map<String, String> environment = new HashMap<>();
    private HttpServer server;
    private ServerSocket socket;
    private final AtomicInteger connections = new AtomicInteger();

    /// The answer of a server to a request.
    private interface Handler {
        void handle(HttpExchange exchange) throws IOException;
    }

    /// The treatment of a connection by a server, after the head of a request was read.
    private interface Raw {
        void handle(Socket connection) throws IOException;
    }

    @AfterEach
    void close() throws IOException {
        if (server != null) {
            server.stop(0);
        }
        if (socket != null) {
            socket.close();
        }
    }

    private static InetSocketAddress anywhere() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private Outcome deliver(Handover handover, int port, Map<String, String> options) throws InterruptedException {
        String address = "http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + port + "/in?a=b";
        try (Receiver receiver =
                Sample.open(Sample.destination(Kind.HTTP, List.of(address), options), Path.of("."), environment)) {
            return receiver.deliver(handover);
        }
    }

    private Outcome deliver(Handler handler, Map<String, String> options) throws IOException, InterruptedException {
        if (server != null) {
            server.stop(0);
        }
        server = HttpServer.create(anywhere(), 0);
        server.createContext("/in", handler::handle);
        server.start();
        return deliver(BATCH, server.getAddress().getPort(), options);
    }

    private Outcome answer(int status, String body, String... headers) throws IOException, InterruptedException {
        return deliver(
                exchange -> {
                    exchange.getRequestBody().readAllBytes();
                    for (int i = 0; i < headers.length; i += 2) {
                        exchange.getResponseHeaders().add(headers[i], headers[i + 1]);
                    }
                    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
                    exchange.getResponseBody().write(bytes);
                    exchange.close();
                },
                Map.of());
    }

    /// A server that reads the head of a request and then does as it likes, with each connection.
    private Outcome raw(Raw handler, Map<String, String> options) throws IOException, InterruptedException {
        socket = new ServerSocket();
        socket.bind(anywhere());
        Thread.ofVirtual().start(() -> {
            while (!socket.isClosed()) {
                try (Socket connection = socket.accept()) {
                    connections.incrementAndGet();
                    readHead(connection.getInputStream());
                    handler.handle(connection);
                } catch (IOException closed) {
                    connections.get(); // By the client, or by the end of the test.
                }
            }
        });
        return deliver(BATCH, socket.getLocalPort(), options);
    }

    private static void readHead(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.US_ASCII).endsWith("\r\n\r\n")) {
            head.write(in.read());
        }
    }

    private static void write(Socket connection, String text) throws IOException {
        connection.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        connection.getOutputStream().flush();
    }

    @Test
    void a_request_carries_the_content_its_key_and_its_digest() throws Exception {
        Map<String, String> seen = new HashMap<>();
        environment.put("TOKEN", "Bearer secret");
        assertThat(deliver(
                        exchange -> {
                            for (String name : List.of(
                                    "Idempotency-Key",
                                    "Content-Digest",
                                    "Content-Type",
                                    "Content-Length",
                                    "Authorization")) {
                                seen.put(name, exchange.getRequestHeaders().getFirst(name));
                            }
                            seen.put("method", exchange.getRequestMethod());
                            seen.put("query", exchange.getRequestURI().getQuery());
                            seen.put(
                                    "body",
                                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
                            exchange.sendResponseHeaders(204, -1);
                        },
                        Map.of("authorization", "TOKEN")))
                .isEqualTo(new Outcome.Done());
        String digest = Base64.getEncoder()
                .encodeToString(HexFormat.of().parseHex(BATCH.manifest().sha256()));
        assertThat(seen)
                .containsEntry("Idempotency-Key", "\"quakes-000042\"")
                .containsEntry("Content-Digest", "sha-256=:" + digest + ":")
                .containsEntry("Content-Type", "application/x-ndjson")
                .containsEntry("Content-Length", "18")
                .containsEntry("Authorization", "Bearer secret")
                .containsEntry("method", "POST")
                .containsEntry("query", "a=b")
                .containsEntry("body", CONTENT);
    }

    @Test
    void a_content_of_csv_lines_says_so() throws Exception {
        AtomicReference<String> type = new AtomicReference<>();
        server = HttpServer.create(anywhere(), 0);
        server.createContext("/", exchange -> {
            type.set(exchange.getRequestHeaders().getFirst("Content-Type"));
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(204, -1);
        });
        server.start();
        Destination destination = Sample.destination(
                Kind.HTTP, List.of("http://127.0.0.1:" + server.getAddress().getPort() + "/"), Map.of());
        try (Receiver receiver =
                Sample.open(destination, Path.of("."), Map.of(), new Format.Csv(';', List.of("id", "size")))) {
            assertThat(receiver.deliver(BATCH)).isEqualTo(new Outcome.Done());
        }
        assertThat(type).hasValue("text/csv; charset=utf-8; header=absent");
    }

    @Test
    void each_status_has_one_meaning() throws Exception {
        assertThat(answer(200, "thanks")).isEqualTo(new Outcome.Done());
        assertThat(answer(202, "")).isEqualTo(new Outcome.Done());
        assertThat(answer(302, "", "Location", "http://elsewhere/"))
                .isInstanceOfSatisfying(
                        Outcome.Refused.class,
                        refused -> assertThat(refused.reason()).contains("302", "'http://elsewhere/'"));
        assertThat(answer(400, "line 1: no id"))
                .isEqualTo(new Outcome.Refused("The receiver answered 400: line 1: no id"));
        assertThat(answer(413, "")).isInstanceOf(Outcome.Refused.class);
        for (int status : List.of(401, 403, 404, 405)) {
            assertThat(answer(status, "")).isInstanceOf(Outcome.NotNow.class);
        }
        assertThat(answer(408, "")).isInstanceOf(Outcome.Unknown.class);
        assertThat(answer(409, "")).isInstanceOf(Outcome.Unknown.class);
        assertThat(answer(503, "")).isInstanceOf(Outcome.Unknown.class);
        assertThat(answer(422, "")).isInstanceOf(Outcome.Conflict.class);
        assertThat(answer(500, "")).isEqualTo(new Outcome.Unknown("The receiver answered 500"));
        assertThat(answer(504, "")).isInstanceOf(Outcome.Unknown.class);
    }

    @Test
    void a_receiver_may_say_how_long_to_wait() throws Exception {
        assertThat(answer(429, "", "Retry-After", "125"))
                .isEqualTo(new Outcome.NotNow("The receiver answered 429", Duration.ofSeconds(125)));
        assertThat(answer(503, "", "Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"))
                .isEqualTo(new Outcome.NotNow("The receiver answered 503", Duration.ZERO));
        assertThat(((Outcome.NotNow) answer(503, "", "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT")).after())
                .isEqualTo(Duration.ofDays(366));
        assertThat(((Outcome.NotNow) answer(503, "", "Retry-After", "999999999999999999")).after())
                .isEqualTo(Duration.ofDays(366));
        for (String nonsense : List.of("soon", "-5", "99999999999999999999999")) {
            assertThat(((Outcome.NotNow) answer(429, "", "Retry-After", nonsense)).after())
                    .isNull();
        }
    }

    @Test
    void an_answer_may_name_the_records_that_failed() throws Exception {
        assertThat(
                        answer(
                                200,
                                "{\"batchItemFailures\":[{\"itemIdentifier\":\"1\",\"reason\":\"no id\"},{\"itemIdentifier\":0}]}"))
                .isEqualTo(new Outcome.Partial(List.of(
                        new Outcome.Failed(0, "the receiver gives no reason"), new Outcome.Failed(1, "no id"))));
        assertThat(answer(200, "{\"batchItemFailures\":[]}")).isEqualTo(new Outcome.Done());
        for (String nonsense : List.of(
                "{\"batchItemFailures\":[{\"itemIdentifier\":\"abc\"}]}",
                "{\"batchItemFailures\":[{}]}",
                "{\"batchItemFailures\":[3]}",
                "{\"batchItemFailures\":null}",
                "{\"batchItemFailures\":[",
                "{\"batchItemFailures\":[" + " ".repeat(70_000) + "]}",
                "{\"x\":\"" + "y".repeat(70_000) + "\",\"batchItemFailures\":[{\"itemIdentifier\":1}]}")) {
            assertThat(answer(200, nonsense)).isInstanceOf(Outcome.Unknown.class);
        }
        assertThat(answer(200, "x".repeat(1_000_000))).isEqualTo(new Outcome.Done());
    }

    @Test
    void nothing_was_sent_where_nothing_listens() throws Exception {
        int port;
        try (ServerSocket closed = new ServerSocket()) {
            closed.bind(anywhere());
            port = closed.getLocalPort();
        }
        assertThat(deliver(BATCH, port, Map.of())).isInstanceOf(Outcome.NotNow.class);
        try (Receiver receiver = Sample.open(
                Sample.destination(Kind.HTTP, List.of("http://no-such-host.invalid/"), Map.of()),
                Path.of("."),
                Map.of())) {
            assertThat(receiver.deliver(BATCH)).isInstanceOf(Outcome.NotNow.class);
        }
    }

    @Test
    void without_its_authorization_nothing_is_sent() throws Exception {
        for (String value : List.of("", " ", "a\nb")) {
            environment.put("TOKEN", value);
            assertThat(raw(connection -> {}, Map.of("authorization", "TOKEN"))).isInstanceOf(Outcome.NotNow.class);
            socket.close();
        }
        assertThat(connections).hasValue(0);
    }

    @Test
    void a_server_that_does_not_answer_leaves_it_unknown() throws Exception {
        assertThat(raw(
                        connection -> connection.getInputStream().transferTo(new ByteArrayOutputStream()),
                        Map.of("timeout", "1s")))
                .isInstanceOf(Outcome.Unknown.class);
        assertThat(connections).hasValue(1);
    }

    @Test
    void a_connection_that_breaks_leaves_it_unknown_and_is_not_tried_again_in_secret() throws Exception {
        assertThat(raw(connection -> {}, Map.of())).isInstanceOf(Outcome.Unknown.class);
        assertThat(connections).hasValue(1);
    }

    @Test
    void half_an_answer_leaves_it_unknown() throws Exception {
        for (String half : List.of("HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "nonsense\r\n")) {
            assertThat(raw(
                            connection -> {
                                connection.getInputStream().readNBytes(CONTENT.length());
                                write(connection, half);
                            },
                            Map.of()))
                    .isInstanceOf(Outcome.Unknown.class);
            socket.close();
        }
    }

    @Test
    void an_answer_that_never_ends_is_bounded() throws Exception {
        assertThat(raw(
                        connection -> {
                            connection.getInputStream().readNBytes(CONTENT.length());
                            write(connection, "HTTP/1.1 400 No\r\n\r\n");
                            while (true) {
                                write(connection, "more and more ".repeat(1_000));
                            }
                        },
                        Map.of()))
                .isInstanceOf(Outcome.Refused.class);
    }

    @Test
    void an_answer_that_trickles_ends_with_the_time() throws Exception {
        assertThat(raw(
                        connection -> {
                            connection.getInputStream().readNBytes(CONTENT.length());
                            write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
                            connection.getInputStream().read(); // Until the client gives up.
                        },
                        Map.of("timeout", "1s")))
                .isInstanceOf(Outcome.Unknown.class);
    }

    @Test
    void an_address_without_a_host_is_refused_before_anything_is_delivered() {
        assertThatThrownBy(() -> Sample.open(
                        Sample.destination(Kind.HTTP, List.of("http://a b/"), Map.of()), Path.of("."), Map.of()))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
