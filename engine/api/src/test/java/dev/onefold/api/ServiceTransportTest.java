package dev.onefold.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.core.EngineException.Kind;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The other side of a service's client may be anything: what it sends is bounded, and a change that it may have made
/// is never taken for none.
@Timeout(60)
class ServiceTransportTest {
    private static final ServiceTransport.Limits SHORT =
            new ServiceTransport.Limits(Duration.ofMillis(500), 1000, Duration.ofMillis(300));

    private static final String JSON = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
    private static final String PIPELINES = "{\"pipelines\":[{\"pipeline\":\"trades\",\"missing\":{}}]}";

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private Thread serving;
    private ServerSocket listening;
    private URI address;

    /// Sends an answer.
    private interface Answering {
        void answer(String target, OutputStream out) throws IOException, InterruptedException;
    }

    @BeforeEach
    void listen() throws IOException {
        listening = new ServerSocket(0, 9, InetAddress.getLoopbackAddress());
        address = URI.create("http://localhost:" + listening.getLocalPort());
    }

    @AfterEach
    void close() throws IOException, InterruptedException {
        ended.countDown();
        listening.close();
        serving.join();
    }

    private void serve(Answering answering) {
        serving = Thread.ofVirtual().start(() -> {
            while (!listening.isClosed()) {
                try (Socket socket = listening.accept();
                        BufferedReader in = new BufferedReader(
                                new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1))) {
                    String target = in.readLine().split(" ", 3)[1];
                    while (!in.readLine().isEmpty()) {
                        // The fields do not matter.
                    }
                    asked.add(target);
                    answering.answer(target, socket.getOutputStream());
                } catch (IOException | InterruptedException hungUp) {
                    // The client has what it wants, or the test has ended.
                }
            }
        });
    }

    private static void send(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private byte[] ask(String target) {
        Client client = new Client(new ServiceTransport(address, null, SHORT));
        try {
            return client.ask(Client.Way.GET, target, null, InputStream::readAllBytes);
        } finally {
            client.close();
        }
    }

    private static void assertFailure(Kind kind, String message, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        EngineException.class, e -> assertThat(e.kind()).isEqualTo(kind))
                .hasMessageContaining(message);
    }

    @Test
    void a_first_answer_that_is_too_long_or_does_not_end_is_of_no_service() {
        serve((_, out) -> send(out, JSON + "x".repeat(1001)));
        assertFailure(Kind.FORMAT, "has a first answer of more than 1000 bytes, which no service", () -> ask("/v1"));
        assertThat(ask("/v1/trades/counts")).hasSize(1001);
    }

    @Test
    void a_first_answer_that_comes_byte_by_byte_is_of_no_service() {
        serve((_, out) -> {
            send(out, JSON);
            while (!ended.await(100, TimeUnit.MILLISECONDS)) {
                send(out, " ");
            }
        });
        assertFailure(Kind.FORMAT, "did not end its first answer in", () -> ask("/v1"));
    }

    @Test
    void a_first_answer_without_a_head_is_of_no_service() {
        serve((_, _) -> ended.await());
        assertFailure(Kind.FORMAT, "did not end its first answer in", () -> ask("/v1"));
    }

    @Test
    void an_answer_that_falls_silent_is_given_up_and_one_that_is_slow_is_not() {
        serve((target, out) -> {
            send(out, JSON);
            for (int i = 0; i < 6; i++) {
                send(out, "x");
                assertThat(ended.await(100, TimeUnit.MILLISECONDS)).isFalse();
            }
            if (target.equals("/v1/trades/silent")) {
                ended.await();
            }
        });
        assertThat(ask("/v1/trades/slow")).hasSize(6);
        assertFailure(Kind.STOPPED, "in the middle of an answer", () -> ask("/v1/trades/silent"));
    }

    @Test
    void a_status_that_no_route_has_is_of_no_service() {
        List<String> statuses = List.of("201 Created", "206 Partial Content", "304 Not Modified");
        serve((_, out) -> send(out, JSON.replace("200 OK", statuses.get(asked.size() - 1))));
        for (String status : statuses) {
            assertFailure(
                    Kind.FORMAT,
                    "answered with status " + status.substring(0, 3) + " and content of type",
                    () -> ask("/v1/trades/counts"));
        }
    }

    @Test
    void many_letters_are_purged_by_requests_that_a_proxy_takes() {
        serve((target, out) -> send(
                out,
                JSON + (target.equals("/v1") ? PIPELINES : "{\"purged\":" + target.split("id=", -1).length + "}")));
        try (RemoteEngine engine = RemoteEngine.connect(address, "trades", null)) {
            long first = Long.MAX_VALUE - 401;
            int purged = engine.deadLetters()
                    .purge(LongStream.range(first, first + 401).boxed().toList());
            assertThat(purged).isEqualTo(401 + 3); // One more than the ids of each request.
        }
        assertThat(asked).hasSize(4).allMatch(target -> target.length() < 8_000);
    }

    @Test
    void an_answer_to_a_change_that_cannot_be_read_leaves_its_outcome_unknown() {
        serve((target, out) -> send(out, JSON + (target.equals("/v1") ? PIPELINES : "{\"other\":1}")));
        try (RemoteEngine engine = RemoteEngine.connect(address, "trades", null)) {
            for (ThrowingCallable change : List.<ThrowingCallable>of(
                    engine::rebuild,
                    () -> engine.append("one", List.of("a")),
                    () -> engine.deadLetters().purge(List.of(1L)),
                    () -> engine.batches().seal())) {
                assertFailure(Kind.FORMAT, "It is unknown whether the change was made.", change);
            }
        }
    }
}
