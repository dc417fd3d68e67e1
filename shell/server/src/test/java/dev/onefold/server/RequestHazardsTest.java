package dev.onefold.server;

import static dev.onefold.server.RunningService.bytes;
import static dev.onefold.server.RunningService.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.api.Scope;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The known ways in which a service can count wrong or be stopped: hazards 84 to 90 of `docs/internals/hazards.md`.
@Timeout(60)
class RequestHazardsTest {
    private static final String RECORDS = "/v1/trades/records";
    private static final String LINES = "/v1/lines/records";

    @TempDir
    Path directory;

    @Test
    void hazard_84_a_request_that_is_repeated_because_its_answer_was_lost_counts_once() throws Exception {
        String body = record(1, "1.00") + "no record\n";
        String[] key = {"Idempotency-Key", "\"a1\""};
        try (RunningService on = new RunningService(directory)) {
            String first = on.post(RECORDS, body, key).body();
            HttpResponse<String> again = on.post(RECORDS, body, key);
            assertThat(again.body()).isEqualTo(first).contains("\"accepted\":1", "\"rejected\":1");
            assertThat(again.headers().firstValue("Idempotency-Replayed")).contains("true");
            assertThat(on.trades.counts().records()).isEqualTo(2);
            assertThat(on.post(RECORDS, record(2, "1.00"), key).statusCode()).isEqualTo(422);
            assertThat(on.post(RECORDS + "?source=s", body, key).statusCode()).isEqualTo(422);
            assertThat(on.trades.counts().records()).isEqualTo(2);

            // A place is an identity for ever, and the memory of keys is not.
            assertThat(on.post(LINES, body, key).body()).contains("from").contains("400");
            for (int i = 0; i < 2; i++) {
                assertThat(on.post(LINES + "?source=s&from=1", body).body()).contains("\"acknowledged\":2");
            }
            assertThat(on.lines.counts().records()).isEqualTo(2);
        }
        try (RunningService on = new RunningService(directory)) {
            assertThat(on.post(RECORDS, body, key).headers().firstValue("Idempotency-Replayed"))
                    .as("after a new start")
                    .contains("true");
            assertThat(on.trades.counts().records()).isEqualTo(2);
        }
    }

    @Test
    void hazard_84_a_key_is_refused_if_the_ids_of_the_records_are_forgotten_before_it() throws Exception {
        String body = "{\"id\":1}\n";
        String[] key = {"Idempotency-Key", "\"a1\""};
        try (RunningService on = new RunningService(directory)) {
            assertThat(on.post("/v1/passing/records", body, key).body())
                    .contains("400", "forgotten after delivery", "'from'");
            assertThat(on.post("/v1/passing/records?source=s&from=1", body).body())
                    .contains("\"acknowledged\":1");
            assertThat(on.post("/v1/bursts/records", body, key).body()).contains("\"accepted\":1");
        }
    }

    @Test
    void hazard_84_requests_with_one_key_at_a_time_are_one_request() throws Exception {
        String body = record(1, "1.00") + "no record\n";
        try (RunningService on = new RunningService(directory);
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                answers.add(clients.submit(() -> on.post(RECORDS, body, "Idempotency-Key", "k")));
            }
            for (Future<HttpResponse<String>> answer : answers) {
                assertThat(answer.get().statusCode()).isIn(200, 409);
            }
            assertThat(on.trades.counts().records()).isEqualTo(2);
        }
    }

    @Test
    void hazard_86_a_body_that_is_cut_off_at_any_byte_counts_nothing() throws Exception {
        String body = record(1, "1.00") + record(2, "2.00");
        String head = "POST " + RECORDS + " HTTP/1.1\r\nHost: localhost\r\n";
        byte[] whole = bytes(head + "Content-Length: " + body.length() + "\r\n\r\n" + body);
        byte[] chunked = bytes(head + "Transfer-Encoding: chunked\r\n\r\n" + Integer.toHexString(body.length()) + "\r\n"
                + body + "\r\n0\r\n\r\n");
        try (RunningService on = new RunningService(directory)) {
            for (byte[] request : List.of(whole, chunked)) {
                for (int length = 1; length < request.length - 1; length += 7) {
                    on.raw(java.util.Arrays.copyOf(request, length));
                }
                assertThat(on.trades.counts().records()).isZero();
            }
            assertThat(on.post(RECORDS, body).body()).contains("\"accepted\":2");
        }
    }

    @Test
    void hazard_87_a_head_without_end_and_a_slow_sender_are_cut_off() throws Exception {
        try (RunningService on = new RunningService(directory, null, RunningService.IMPATIENT);
                Socket endless = on.connect();
                Socket slow = on.connect()) {
            slow.getOutputStream()
                    .write(bytes("POST " + RECORDS + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n{"));
            StringBuilder head = new StringBuilder("GET /v1 HTTP/1.1\r\nHost: localhost\r\n");
            while (head.length() < 100_000) {
                head.append("a: ").append("b".repeat(1_000)).append("\r\n");
            }
            endless.getOutputStream().write(bytes(head.toString()));
            assertThat(RunningService.read(endless)).startsWith("HTTP/1.1 431");
            assertThat(RunningService.read(slow))
                    .doesNotStartWith("HTTP/1.1 200"); // Ends although nothing more is sent.
            assertThat(on.trades.counts().records()).isZero();
        }
    }

    @Test
    @Tag("campaign")
    void hazard_87_a_sender_of_few_bytes_now_and_then_is_cut_off_though_others_send_many() throws Exception {
        try (RunningService on = new RunningService(directory, null, RunningService.IMPATIENT);
                Socket slow = on.connect()) {
            slow.getOutputStream()
                    .write(bytes("POST " + RECORDS + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n"));
            int other = 0;
            while (slow.getInputStream().available() == 0) {
                slow.getOutputStream().write('\n');
                assertThat(on.post("/v1/lines/records", " ".repeat(10_000) + "\n")
                                .statusCode())
                        .as("request " + other++)
                        .isEqualTo(200);
                LockSupport.parkNanos(20_000_000);
            }
            assertThat(RunningService.read(slow)).startsWith("HTTP/1.1 408");
            assertThat(on.trades.counts().records()).isZero();
        }
    }

    @Test
    void hazard_88_a_reader_that_takes_nothing_of_a_large_answer_holds_up_no_intake() throws Exception {
        try (RunningService on = new RunningService(directory, null, RunningService.IMPATIENT)) {
            for (int i = 0; i < 60; i++) {
                StringBuilder body = new StringBuilder();
                for (int n = 0; n < 1_000; n++) {
                    body.append("{\"id\":")
                            .append(i * 1_000 + n)
                            .append(",\"v\":1,\"desk\":\"")
                            .append(i * 1_000 + n)
                            .append("\",\"value\":1}\n");
                }
                assertThat(on.post(RECORDS, body.toString()).statusCode()).isEqualTo(200);
            }
            try (Socket lazy = on.connect()) {
                lazy.setReceiveBufferSize(4_096);
                lazy.getOutputStream().write(bytes("GET /v1/trades/totals HTTP/1.1\r\nHost: localhost\r\n\r\n"));
                assertThat(lazy.getInputStream().read()).isEqualTo('H'); // The answer has begun, and stays so.
                for (int i = 0; i < 20; i++) {
                    assertThat(on.post(RECORDS, record(100_000 + i, "1")).statusCode())
                            .isEqualTo(200);
                }
            }
            assertThat(on.trades.counts().accepted()).isEqualTo(60_020);
        }
    }

    @Test
    void hazard_89_no_route_is_open_to_a_token_without_its_scope_or_its_pipeline() throws Exception {
        Tokens tokens = Tokens.read(List.of(
                Tokens.line("reader", "r", EnumSet.of(Scope.READ), List.of("trades")),
                Tokens.line("writer", "w", EnumSet.of(Scope.WRITE), List.of("trades")),
                Tokens.line("operator", "o", EnumSet.of(Scope.OPERATE), List.of("trades")),
                Tokens.line("administrator", "a", EnumSet.of(Scope.ADMINISTER), List.of("trades"))));
        List<String> reads = words("""
                _ /totals /changes /rows/1 /keys/1 /tables /status /counts /journal /records?source=s /batches
                /batches/list /batches/1
                """);
        List<String> operates = words("""
                /dead-letters /dead-letters/1 /dead-letters/1/record /dead-letters/1/edited /batches/1/content
                """);
        List<String> changes = words("""
                /verify /rebuild /checkpoint /change /dead-letters/purge?id=1 /dead-letters/1/redrive /batches/seal
                """);
        List<String> administers = words("""
                /sync /sync?below=1 /sync/seed /range-sums /nothing
                """);
        List<String> administering = words("""
                /sync /sync/seed /sync/seed?restart=true /sync/repair /sync/1/rows?kind=row /sync/1/marks /sync/1/finish
                /sync/1/renew /sync/1/end /row-marks /rows?source=s&from=1 /journal/release /batches/1/release
                /batches/1/settle?how=delivered /nothing /totals /changes
                """);
        try (RunningService on = new RunningService(directory, tokens)) {
            for (String path : reads) {
                requireRefused(on, "GET", path, "w", "o", "a");
            }
            for (String path : operates) {
                requireRefused(on, "GET", path, "r", "w", "a");
            }
            for (String path : changes) {
                requireRefused(on, "POST", path, "r", "w", "a");
            }
            for (String path : administers) {
                requireRefused(on, "GET", path, "r", "w", "o");
            }
            for (String path : administering) {
                requireRefused(on, "POST", path, "r", "w", "o");
            }
            requireRefused(on, "POST", "/records", "r", "o", "a");
            assertThat(on.get("/metrics").statusCode()).isEqualTo(401);
            assertThat(on.get("/metrics", "Authorization", "Bearer w").body()).doesNotContain("trades", "lines");
            assertThat(on.get("/metrics", "Authorization", "Bearer r").body())
                    .contains("pipeline=\"trades\"")
                    .doesNotContain("lines");
        }
    }

    /// Texts between blanks; `_` is an empty one.
    private static List<String> words(String text) {
        return Stream.of(text.strip().split("\\s+", -1))
                .map(word -> word.equals("_") ? "" : word)
                .toList();
    }

    private static void requireRefused(RunningService on, String method, String path, String... secrets)
            throws IOException, InterruptedException {
        for (String secret : secrets) {
            String[] token = {"Authorization", "Bearer " + secret};
            assertThat(on.send(method, "/v1/trades" + path, new byte[0], token).statusCode())
                    .as(method + " " + path + " with " + secret)
                    .isEqualTo(403);
            assertThat(on.send(method, "/v1/lines" + path, new byte[0], token).statusCode())
                    .as("another pipeline: " + path)
                    .isEqualTo(404);
        }
        assertThat(on.send(method, "/v1/trades" + path, new byte[0]).statusCode())
                .isEqualTo(401);
    }

    @Test
    void hazard_90_no_metric_no_health_and_no_refusal_holds_a_payload() throws Exception {
        String secret = "s3cr3t";
        try (RunningService on = new RunningService(directory)) {
            String body =
                    "{\"id\":\"" + secret + "\",\"v\":1,\"desk\":\"" + secret + "\",\"value\":1}\n" + secret + "\n";
            assertThat(on.post(RECORDS + "?source=" + secret, body, "Idempotency-Key", secret)
                            .body())
                    .doesNotContain(secret);
            assertThat(on.post(RECORDS, secret, "Content-Encoding", "gzip").body())
                    .contains("400")
                    .doesNotContain(secret);
            assertThat(on.post(RECORDS, secret, "Content-Type", "text/csv").body())
                    .contains("415")
                    .doesNotContain(secret);
            assertThat(on.post(LINES, secret, "Idempotency-Key", secret).body()).doesNotContain(secret);
            assertThat(on.get("/metrics").body()).contains("fate=\"rejected\"").doesNotContain(secret);
            assertThat(on.get("/health/ready").body()).doesNotContain(secret);
        }
    }

    @Test
    void hazard_90_a_bug_is_said_without_what_it_was_about() throws Exception {
        String secret = "s3cr3t";
        try (RunningService on = new RunningService(directory);
                HttpService broken = HttpService.open(
                        new Settings(InetAddress.getLoopbackAddress(), 0, null, null, RunningService.LIMITS),
                        List.of(Served.of(new BrokenEngine(on.trades, secret), null)))) {
            HttpResponse<String> answer = on.get(broken.uri() + "/v1/trades/counts");
            assertThat(answer.statusCode()).isEqualTo(500);
            assertThat(answer.body()).contains("BUG").doesNotContain(secret);
        }
    }
}
