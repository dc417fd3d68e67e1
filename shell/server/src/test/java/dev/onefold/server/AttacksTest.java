package dev.onefold.server;

import static dev.onefold.server.RunningService.bytes;
import static dev.onefold.server.RunningService.record;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.Zstd;
import dev.onefold.fixtures.Seeds;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Callers that try to delay a service or to make it give wrong answers.
@Timeout(60)
class AttacksTest {
    private static final String RECORDS = "/v1/trades/records";

    @TempDir
    Path directory;

    @Test
    void a_compressed_content_without_end_that_holds_nothing_is_cut_off() throws Exception {
        ByteArrayOutputStream empty = new ByteArrayOutputStream();
        new GZIPOutputStream(empty).close();
        byte[] skippable = {0x50, 0x2a, 0x4d, 0x18, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        try (RunningService on = new RunningService(directory, null, RunningService.IMPATIENT)) {
            requireEnd(on, "gzip", empty.toByteArray());
            requireEnd(on, "zstd", Zstd.compress(new byte[0]));
            requireEnd(on, "zstd", skippable);
            assertThat(on.trades.counts().records()).isZero();
        }
    }

    @Test
    void a_client_that_opens_all_connections_ends_its_own_silent_ones_and_no_request_under_way() throws Exception {
        int many = 3 * RunningService.LIMITS.connections();
        List<Socket> silent = new ArrayList<>();
        try (RunningService on = new RunningService(directory);
                Socket reader = on.connect()) {
            reader.setSoTimeout(20_000);
            reader.getOutputStream()
                    .write(bytes("GET /v1/trades/changes?format=csv HTTP/1.1\r\nHost: localhost\r\n\r\n"));
            BufferedReader events =
                    new BufferedReader(new InputStreamReader(reader.getInputStream(), StandardCharsets.UTF_8));
            await(events, "event: totals");
            for (int i = 0; i < many; i++) {
                silent.add(on.connect());
            }
            assertThat(on.get("/health/live").statusCode()).isEqualTo(200);
            assertThat(on.post(RECORDS, record(1, "77.25")).statusCode()).isEqualTo(200);
            await(events, "77.25");
            try (Socket other = new Socket(
                    on.service.uri().getHost(), on.service.uri().getPort(), InetAddress.getByName("127.0.0.2"), 0)) {
                other.getOutputStream()
                        .write(bytes("GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
                assertThat(RunningService.read(other)).startsWith("HTTP/1.1 200");
            }
        } finally {
            for (Socket each : silent) {
                each.close();
            }
        }
    }

    private static void await(BufferedReader lines, String text) throws IOException {
        String line = lines.readLine();
        while (line != null && !line.contains(text)) {
            line = lines.readLine();
        }
        assertThat(line).as(text).isNotNull();
    }

    /// Sends a piece again and again, until an answer comes.
    private static void requireEnd(RunningService on, String encoding, byte[] piece) throws IOException {
        ByteArrayOutputStream many = new ByteArrayOutputStream();
        while (many.size() < 10_000) {
            many.write(piece);
        }
        try (Socket endless = on.connect()) {
            OutputStream out = endless.getOutputStream();
            out.write(bytes("POST " + RECORDS + " HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: " + encoding
                    + "\r\nTransfer-Encoding: chunked\r\n\r\n"));
            long sent = 0;
            try {
                while (endless.getInputStream().available() == 0 && sent < 100L * RunningService.LIMITS.bodyBytes()) {
                    out.write((Integer.toHexString(many.size()) + "\r\n").getBytes(StandardCharsets.US_ASCII));
                    many.writeTo(out);
                    out.write(bytes("\r\n"));
                    sent += many.size();
                }
            } catch (IOException cutOff) {
                // So it should be.
            }
            assertThat(sent).as(encoding).isLessThan(100L * RunningService.LIMITS.bodyBytes());
        }
    }

    @Test
    void whatever_is_compressed_in_parts_is_taken_whole_or_not_at_all() throws Exception {
        ByteArrayOutputStream two = new ByteArrayOutputStream();
        two.write(gzip(record(1, "1")));
        int first = two.size();
        two.write(gzip(record(2, "2")));
        byte[] parts = two.toByteArray();
        try (RunningService on = new RunningService(directory)) {
            try (Socket slow = on.connect()) {
                slow.getOutputStream()
                        .write(bytes("POST " + RECORDS + " HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\n"
                                + "Connection: close\r\nContent-Length: " + parts.length + "\r\n\r\n"));
                slow.getOutputStream().write(parts, 0, first);
                on.get("/v1"); // The first part is there by now.
                slow.getOutputStream().write(parts, first, parts.length - first);
                assertThat(RunningService.read(slow)).contains("\"accepted\":2");
            }
            for (int damaged : new int[] {first, first + 1, first + 12, parts.length - 1, parts.length - 8}) {
                byte[] other = parts.clone();
                other[damaged] ^= 0x55;
                assertThat(on.send("POST", RECORDS, other, "Content-Encoding", "gzip")
                                .statusCode())
                        .as("byte " + damaged)
                        .isEqualTo(400);
            }
            for (int length = 1; length < parts.length; length++) {
                byte[] cut = Arrays.copyOf(parts, length);
                if (length != first) {
                    assertThat(on.send("POST", RECORDS, cut, "Content-Encoding", "gzip")
                                    .statusCode())
                            .as("up to byte " + length)
                            .isEqualTo(400);
                }
            }
            assertThat(on.trades.counts().records()).isEqualTo(2);
        }
    }

    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes(text));
        }
        return out.toByteArray();
    }

    @Test
    @Tag("campaign")
    void readers_that_take_some_bytes_now_and_then_keep_nobody_from_the_totals() throws Exception {
        List<Socket> readers = new ArrayList<>();
        AtomicBoolean isOver = new AtomicBoolean();
        try (RunningService on = new RunningService(directory, null, RunningService.IMPATIENT)) {
            for (int i = 0; i < 40; i++) {
                assertThat(on.post(RECORDS, desks(i * 90, 90)).body()).contains("\"accepted\":90");
            }
            for (int i = 0; i < 20; i++) {
                Socket reader = new Socket();
                reader.setReceiveBufferSize(4_096);
                reader.connect(new InetSocketAddress(
                        on.service.uri().getHost(), on.service.uri().getPort()));
                readers.add(reader);
                String route = i % 6 == 0 ? "changes" : "totals";
                reader.getOutputStream()
                        .write(bytes("GET /v1/trades/" + route + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
            }
            Thread trickle = Thread.ofPlatform().start(() -> trickle(readers, isOver));
            try {
                HttpResponse<String> totals = on.get("/v1/trades/totals");
                while (totals.statusCode() == 429) { // Until some have been read, or are cut off.
                    totals = on.get("/v1/trades/totals");
                }
                assertThat(totals.statusCode()).isEqualTo(200);
            } finally {
                isOver.set(true);
                trickle.join();
            }
        } finally {
            for (Socket reader : readers) {
                reader.close();
            }
        }
    }

    /// Records of this many groups, each with a long name.
    private static String desks(int from, int count) {
        StringBuilder body = new StringBuilder();
        for (int i = from; i < from + count; i++) {
            body.append("{\"id\":%d,\"v\":1,\"desk\":\"%01000d\",\"value\":1}\n".formatted(i, i));
        }
        return body.toString();
    }

    private static void trickle(List<Socket> readers, AtomicBoolean isOver) {
        while (!isOver.get()) {
            for (Socket reader : readers) {
                try {
                    if (reader.getInputStream().available() > 0) {
                        reader.getInputStream().readNBytes(200);
                    }
                } catch (IOException cutOff) {
                    // So it should be.
                }
            }
            LockSupport.parkNanos(100_000_000);
        }
    }

    @Test
    void an_engine_that_has_stopped_takes_no_metric_of_the_others_away() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.lines.close();
            HttpResponse<String> metrics = on.get("/metrics");
            assertThat(metrics.statusCode()).isEqualTo(200);
            assertThat(metrics.body())
                    .contains("onefold_up{pipeline=\"trades\"} 1.0", "onefold_up{pipeline=\"lines\"} 0.0")
                    .contains("onefold_rows{pipeline=\"trades\"}")
                    .doesNotContain("onefold_rows{pipeline=\"lines\"}");
        }
    }

    @Test
    void a_bug_of_the_service_itself_is_counted_and_said_without_what_it_was_about() throws Exception {
        String secret = "s3cr3t";
        try (RunningService on = new RunningService(directory);
                HttpService broken = HttpService.open(
                        new Settings(InetAddress.getLoopbackAddress(), 0, null, null, RunningService.LIMITS),
                        List.of(new Served(
                                on.trades,
                                null,
                                () -> {
                                    throw new IllegalStateException(secret);
                                },
                                List::of)))) {
            HttpResponse<String> answer = on.post(broken.uri() + RECORDS, record(1, "1"));
            assertThat(answer.statusCode()).isEqualTo(500);
            assertThat(answer.body()).contains("\"BUG\"").doesNotContain(secret);
            assertThat(on.get(broken.uri() + "/metrics").body())
                    .contains("onefold_http_requests_total{status=\"500\"} 1.0");
        }
    }

    @Test
    void clients_that_send_the_same_lines_of_one_source_at_a_time_count_each_line_once() throws Exception {
        Seeds.forAllSeeds(3, random -> {
            try (RunningService on = new RunningService(Files.createTempDirectory(directory, "seed"));
                    ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
                int lines = 300;
                List<Future<?>> all = new ArrayList<>();
                for (int client = 0; client < 4; client++) {
                    SplittableRandom own = new SplittableRandom(random.nextLong());
                    all.add(clients.submit(() -> sendAll(on, lines, own)));
                }
                for (Future<?> each : all) {
                    each.get();
                }
                assertThat(on.get("/v1/lines/totals?depth=0").body()).contains("\"n\":" + lines);
                assertThat(on.lines.acknowledged("s")).isEqualTo(lines);
            }
        });
    }

    /// Sends lines 1 to the last one, in requests of any cut; some break off, some are sent twice, some leave a gap.
    private static Void sendAll(RunningService on, int lines, SplittableRandom random) throws Exception {
        long next = 1;
        while (next <= lines) {
            long from = random.nextInt(5) == 0
                    ? Math.max(1, next - random.nextInt(20))
                    : next + random.nextInt(10) / 9 * 50;
            StringBuilder body = new StringBuilder();
            for (long line = from; line < from + 1 + random.nextInt(20) && line <= lines; line++) {
                body.append("{\"desk\":\"a\",\"value\":").append(line).append("}\n");
            }
            String path = "/v1/lines/records?source=s&from=" + from;
            if (random.nextInt(4) == 0) {
                on.raw(bytes("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + (body.length() + 1)
                        + "\r\n\r\n" + body)); // Breaks off.
            } else if (!body.isEmpty()) {
                HttpResponse<String> answer = on.post(path, body.toString());
                assertThat(answer.statusCode()).isIn(200, 409);
            }
            next = on.lines.acknowledged("s") + 1;
        }
        return null;
    }

    @Test
    void a_source_that_is_called_as_a_file_is_none() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            for (String name : List.of("/etc/hosts", "https://sqs.eu-central-1.amazonaws.com/1/orders")) {
                assertThat(on.post(RECORDS + "?source=" + name, record(1, "1")).body())
                        .contains("400", "names of files");
            }
            assertThat(on.trades.counts().records()).isZero();
            Path file = Files.writeString(directory.resolve("long.txt"), "a long text\n".repeat(100));
            on.trades.append(file.toString(), List.of(record(1, "1").strip()));
            assertThat(on.trades.status().lagBytes()).isZero();
            assertThat(on.get("/metrics").body()).doesNotContain("onefold_lag_bytes{pipeline=\"trades\"");
        }
    }

    @Test
    void a_content_that_is_refused_by_its_head_is_not_asked_for() throws Exception {
        String head = "POST /v1/trades/records HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n";
        try (RunningService on = new RunningService(directory, null, RunningService.IMPATIENT)) {
            for (String refused : List.of(
                    "413 Content-Length: 200000",
                    "415 Content-Length: 9\r\nContent-Encoding: rot13",
                    "403 Content-Length: 9\r\nOrigin: http://example.com")) {
                try (Socket socket = on.connect()) {
                    socket.getOutputStream().write(RunningService.bytes(head + refused.substring(4) + "\r\n\r\n"));
                    assertThat(RunningService.read(socket)) // It ends without a byte of the content.
                            .startsWith("HTTP/1.1 " + refused.substring(0, 3));
                }
            }
            try (Socket socket = on.connect()) {
                String record = RunningService.record(1, "1");
                socket.getOutputStream()
                        .write(RunningService.bytes(
                                head + "Connection: close\r\nContent-Length: " + record.length() + "\r\n\r\n"));
                assertThat(new String(socket.getInputStream().readNBytes(25), StandardCharsets.US_ASCII))
                        .isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
                socket.getOutputStream().write(RunningService.bytes(record));
                assertThat(RunningService.read(socket)).startsWith("HTTP/1.1 200");
            }
            assertThat(on.trades.counts().accepted()).isEqualTo(1);
        }
    }

    @Test
    void a_request_without_a_path_is_refused_as_that() throws Exception {
        String connect = "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nConnection: close\r\n\r\n";
        try (RunningService on = new RunningService(directory, null, RunningService.IMPATIENT);
                HttpService opening = HttpService.listen(
                        new Settings(InetAddress.getLoopbackAddress(), 0, null, null, RunningService.IMPATIENT));
                Socket early = new Socket(opening.uri().getHost(), opening.uri().getPort())) {
            early.getOutputStream().write(RunningService.bytes(connect));
            assertThat(RunningService.read(early)).startsWith("HTTP/1.1 503");
            assertThat(on.raw(RunningService.bytes(connect))).startsWith("HTTP/1.1 4");
        }
    }

    @Test
    @Tag("campaign")
    void a_stop_does_not_wait_for_connections_that_their_clients_have_reset() throws Exception {
        String upgrade = String.join(
                "\r\n",
                "GET /v1 HTTP/1.1",
                "Host: localhost",
                "Upgrade: h2c",
                "Connection: Upgrade, HTTP2-Settings",
                "HTTP2-Settings: AAMAAABk",
                "",
                "");
        try (RunningService on = new RunningService(directory)) {
            for (int i = 0; i < 200; i++) {
                try (Socket client = on.connect()) {
                    client.getOutputStream().write(bytes(upgrade));
                    client.setSoLinger(true, 0);
                }
            }
            assertThat(on.get("/v1").statusCode()).isEqualTo(200);
            long began = System.nanoTime();
            on.service.close();
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(7));
        }
    }

    @Test
    void content_where_none_belongs_ends_the_connection_behind_the_answer() throws IOException {
        String second = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
        try (RunningService on = new RunningService(directory)) {
            for (String method : List.of("GET", "HEAD", "PUT")) {
                String first = method + " /v1/trades/totals HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                        + second.length() + "\r\n\r\n";
                assertThat(on.raw(bytes(first + second + second)))
                        .as(method)
                        .startsWith("HTTP/1.1 400 ")
                        .contains("Connection: close\r\n")
                        .doesNotContain("HTTP/1.1 200 ");
            }
        }
    }
}
