package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdOutputStream;
import dev.onefold.api.Scope;
import dev.onefold.core.Engine;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Real engines behind a real server, asked over TCP.
@Timeout(60)
class HttpServiceTest {
    private static final Settings.Limits LIMITS =
            new Settings.Limits(100_000, 400_000, 100, 4, Duration.ofSeconds(2), 1_000, 1_000);

    @TempDir
    Path directory;

    private Engine trades;
    private Engine orders;
    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeEach
    void open() {
        trades = engine("trades");
        orders = engine("orders");
    }

    @AfterEach
    void close() {
        client.close();
        trades.close();
        orders.close();
    }

    private Engine engine(String name) {
        Pipeline pipeline = PipelineBuilder.named(name)
                .key("id")
                .version("v")
                .rollup(rollup ->
                        rollup.levels("desk").sum("value", "value", 18, 2).count("n"))
                .build();
        return EmbeddedEngine.open(directory.resolve(name), pipeline, dev.onefold.embedded.Settings.defaults());
    }

    private HttpService service(@Nullable Tokens tokens) throws IOException {
        return HttpService.open(
                new Settings(InetAddress.getLoopbackAddress(), 0, null, tokens, LIMITS),
                List.of(
                        Served.of(trades, directory.resolve("answers/trades")),
                        Served.of(orders, directory.resolve("answers/orders"))));
    }

    private static String record(int id, String value) {
        return "{\"id\":" + id + ",\"v\":1,\"desk\":\"a\",\"value\":" + value + "}\n";
    }

    private HttpResponse<String> get(HttpService service, String path, String... headers)
            throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(service.uri().resolve(path)).GET(), headers);
    }

    private HttpResponse<String> post(HttpService service, String path, byte[] body, String... headers)
            throws IOException, InterruptedException {
        return send(
                HttpRequest.newBuilder(service.uri().resolve(path)).POST(BodyPublishers.ofByteArray(body)), headers);
    }

    private HttpResponse<String> send(HttpRequest.Builder request, String... headers)
            throws IOException, InterruptedException {
        return client.send((headers.length == 0 ? request : request.headers(headers)).build(), BodyHandlers.ofString());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String withoutTime(String answer) {
        return answer.replaceFirst("\"at\":\"[^\"]*\"", "");
    }

    private String totals() {
        StringBuilder out = new StringBuilder();
        JsonForm.write("trades", trades.query(new Query("main", List.of(), 9, null)), out::append);
        return out.toString();
    }

    @Test
    void records_that_are_posted_are_in_the_totals_as_the_command_line_shows_them()
            throws IOException, InterruptedException {
        try (HttpService service = service(null)) {
            HttpResponse<String> posted = post(
                    service,
                    "/v1/trades/records?source=desk-1&from=1",
                    bytes(record(1, "1.50") + record(2, "2.25") + "no record\n"));
            assertThat(posted.statusCode()).isEqualTo(200);
            assertThat(posted.body()).contains("\"acknowledged\":3", "\"accepted\":2", "\"rejected\":1");
            HttpResponse<String> read = get(service, "/v1/trades/totals");
            assertThat(withoutTime(read.body()))
                    .isEqualTo(withoutTime(totals()))
                    .contains("3.75");
            assertThat(read.headers().firstValue("content-type")).contains("application/json");
            assertThat(get(service, "/v1").body()).contains("\"trades\"", "\"orders\"");
            assertThat(get(service, "/v1/orders/totals").body()).doesNotContain("3.75");
        }
    }

    @Test
    void a_request_that_is_repeated_counts_once() throws IOException, InterruptedException {
        try (HttpService service = service(null)) {
            byte[] body = bytes("no key\n" + record(1, "1.00"));
            for (int i = 0; i < 3; i++) {
                assertThat(post(service, "/v1/trades/records?source=s&from=1", body)
                                .body())
                        .contains("\"acknowledged\":2");
            }
            assertThat(trades.counts().rejected()).isEqualTo(1);
            assertThat(post(service, "/v1/trades/records?source=s&from=4", body).statusCode())
                    .isEqualTo(409);
        }
    }

    @Test
    void hazard_87_a_content_may_be_compressed_and_a_damaged_or_huge_one_folds_nothing()
            throws IOException, InterruptedException {
        byte[] body = bytes(record(1, "1.00") + record(2, "2.00"));
        byte[] bomb = bytes(" ".repeat(10_000_000));
        try (HttpService service = service(null)) {
            assertThat(post(service, "/v1/trades/records?source=s&from=1", gzip(bomb), "Content-Encoding", "gzip")
                            .statusCode())
                    .isEqualTo(413);
            assertThat(post(
                                    service,
                                    "/v1/trades/records?source=s&from=1",
                                    Zstd.compress(bomb),
                                    "Content-Encoding",
                                    "zstd")
                            .statusCode())
                    .isEqualTo(413);
            assertThat(post(service, "/v1/trades/records?source=s&from=1", bytes(" ".repeat(150_000)))
                            .statusCode())
                    .isEqualTo(413);
            byte[] cut = gzip(body);
            assertThat(post(
                                    service,
                                    "/v1/trades/records?source=s&from=1",
                                    java.util.Arrays.copyOf(cut, cut.length - 9),
                                    "Content-Encoding",
                                    "gzip")
                            .statusCode())
                    .isEqualTo(400);
            assertThat(post(service, "/v1/trades/records?source=s&from=1", body, "Content-Encoding", "br")
                            .statusCode())
                    .isEqualTo(415);
            assertThat(trades.counts().records()).isZero();
            assertThat(post(service, "/v1/trades/records?source=s&from=1", gzip(body), "Content-Encoding", "gzip")
                            .body())
                    .contains("\"accepted\":2");
            assertThat(post(
                                    service,
                                    "/v1/trades/records?source=s&from=3",
                                    zstd(bytes(record(3, "3.00"))),
                                    "Content-Encoding",
                                    "zstd")
                            .body())
                    .contains("\"accepted\":1");
        }
    }

    @Test
    void a_content_of_several_frames_that_is_cut_folds_nothing() throws IOException, InterruptedException {
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        frames.writeBytes(zstd(bytes(record(1, "1.00"))));
        int first = frames.size();
        frames.writeBytes(zstd(bytes(record(2, "2.00"))));
        byte[] whole = frames.toByteArray();
        try (HttpService service = service(null)) {
            for (int end = first + 1; end < whole.length; end++) {
                byte[] cut = java.util.Arrays.copyOf(whole, end);
                assertThat(post(service, "/v1/trades/records", cut, "Content-Encoding", "zstd")
                                .statusCode())
                        .as("cut at %d of %d", end, whole.length)
                        .isEqualTo(400);
            }
            assertThat(post(service, "/v1/trades/records", new byte[0], "Content-Encoding", "zstd")
                            .statusCode())
                    .isEqualTo(400);
            assertThat(post(service, "/v1/trades/records", whole, "Content-Encoding", "zstd")
                            .body())
                    .contains("\"accepted\":2");
        }
    }

    private static byte[] gzip(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        }
        return out.toByteArray();
    }

    private static byte[] zstd(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream zstd = new ZstdOutputStream(out)) {
            zstd.write(bytes);
        }
        return out.toByteArray();
    }

    @Test
    @Tag("campaign")
    void a_content_that_breaks_off_folds_nothing() throws IOException, InterruptedException {
        try (HttpService service = service(null)) {
            String body = record(1, "1.00") + record(2, "2.00");
            try (Socket socket =
                    new Socket(service.uri().getHost(), service.uri().getPort())) {
                socket.getOutputStream()
                        .write(bytes("POST /v1/trades/records?source=s&from=1 HTTP/1.1\r\n"
                                + "Host: localhost\r\n"
                                + "Content-Length: "
                                + (body.length() + 1) + "\r\n\r\n" + body));
                socket.shutdownOutput();
                socket.getInputStream().readAllBytes();
            }
            try (Socket slow = new Socket(service.uri().getHost(), service.uri().getPort())) {
                slow.getOutputStream()
                        .write(bytes("POST /v1/trades/records?source=s&from=1 HTTP/1.1\r\n"
                                + "Host: localhost\r\n"
                                + "Content-Length: "
                                + (body.length() + 1) + "\r\n\r\n" + body));
                slow.getInputStream().readAllBytes(); // Ends when the service has lost patience.
            }
            assertThat(trades.counts().records()).isZero();
            assertThat(post(service, "/v1/trades/records?source=s&from=1", bytes(body))
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void a_token_allows_its_scopes_in_its_pipelines_and_nothing_else() throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>();
        lines.add("# who may do what");
        lines.add(Tokens.line("reader", "secret-r", EnumSet.of(Scope.READ), List.of("trades")));
        lines.add(Tokens.line("writer", "secret-w", EnumSet.of(Scope.WRITE), List.of("orders")));
        lines.add(Tokens.line("operator", "secret-o", EnumSet.allOf(Scope.class), List.of("*")));
        try (HttpService service = service(Tokens.read(lines))) {
            assertThat(get(service, "/v1").statusCode()).isEqualTo(401);
            assertThat(get(service, "/v1", "Authorization", "Bearer wrong").statusCode())
                    .isEqualTo(401);
            String[] reader = {"Authorization", "Bearer secret-r"};
            String[] writer = {"Authorization", "bearer secret-w"};
            String[] operator = {"Authorization", "Bearer secret-o"};
            assertThat(get(service, "/v1", reader).body()).contains("trades").doesNotContain("orders");
            assertThat(get(service, "/v1/trades/totals", reader).statusCode()).isEqualTo(200);
            assertThat(get(service, "/v1/orders/totals", reader).statusCode()).isEqualTo(404);
            assertThat(get(service, "/v1/orders/totals", writer).statusCode()).isEqualTo(403);
            assertThat(get(service, "/v1/trades/dead-letters", reader).statusCode())
                    .isEqualTo(403);
            assertThat(post(service, "/v1/orders/records?source=s", bytes(record(1, "1.00")), writer)
                            .statusCode())
                    .isEqualTo(200);
            for (String path :
                    List.of("verify", "rebuild", "checkpoint", "dead-letters/purge?id=1", "journal/release")) {
                assertThat(post(service, "/v1/orders/" + path, new byte[0], writer)
                                .statusCode())
                        .describedAs(path)
                        .isEqualTo(403);
                assertThat(post(service, "/v1/trades/" + path, new byte[0], reader)
                                .statusCode())
                        .describedAs(path)
                        .isEqualTo(403);
            }
            assertThat(post(service, "/v1/orders/verify", new byte[0], operator).body())
                    .contains("\"equal\":true");
        }
    }

    @Test
    void without_tokens_nobody_is_let_in_from_another_machine_or_another_site()
            throws IOException, InterruptedException {
        InetAddress any = InetAddress.getByName("0.0.0.0");
        assertThatThrownBy(() -> new Settings(any, 0, null, null, LIMITS)).hasMessageContaining("no tokens");
        try (HttpService service = service(null)) {
            assertThat(get(service, "/v1", "Origin", "https://example.com").statusCode())
                    .isEqualTo(403);
            assertThat(get(service, "/v1", "Origin", service.uri().toString()).statusCode())
                    .isEqualTo(200);
            assertThat(get(service, "/v1", "Sec-Fetch-Site", "cross-site").statusCode())
                    .as("an image of another site's page")
                    .isEqualTo(403);
            assertThat(raw(service, "GET /v1 HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"))
                    .startsWith("HTTP/1.1 403");
        }
    }

    @Test
    void a_link_on_another_site_leads_to_the_page_and_to_nothing_else() throws IOException, InterruptedException {
        String[] link = {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"};
        String[] frame = {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"};
        try (HttpService service = service(null)) {
            HttpResponse<String> page = get(service, "/", link);
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                    .contains("frame-ancestors 'none'");
            assertThat(get(service, "/", frame).statusCode()).isEqualTo(403);
            assertThat(get(service, "/", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors")
                            .statusCode())
                    .isEqualTo(403);
            for (String data : List.of("/v1", "/v1/trades/totals", "/v1/trades/changes", "/metrics", "/openapi.json")) {
                assertThat(get(service, data, link).statusCode()).as(data).isEqualTo(403);
            }
            assertThat(raw(
                            service,
                            "GET / HTTP/1.1\r\nHost: evil.example\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode:"
                                    + " navigate\r\nSec-Fetch-Dest: document\r\nConnection: close\r\n\r\n"))
                    .startsWith("HTTP/1.1 403");
        }
    }

    @Test
    void who_acts_on_numbers_of_letters_says_whose_they_are_and_is_refused_by_the_next_opening()
            throws IOException, InterruptedException {
        String first;
        try (HttpService service = service(null)) {
            HttpResponse<String> answer = get(service, "/v1/trades/dead-letters");
            first = answer.headers().firstValue("onefold-owner").orElseThrow();
            assertThat(get(service, "/v1/trades/dead-letters", "onefold-owner", first)
                            .statusCode())
                    .isEqualTo(200);
            assertThat(answer.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
        }
        try (HttpService service = service(null)) {
            HttpResponse<String> refused =
                    post(service, "/v1/trades/dead-letters/purge?id=1", new byte[0], "onefold-owner", first);
            assertThat(refused.statusCode()).isEqualTo(409);
            assertThat(refused.body()).contains("OWNER_CHANGED");
        }
    }

    @Test
    void a_tag_is_known_in_both_of_its_forms_and_a_request_has_one_key() throws IOException, InterruptedException {
        try (HttpService service = service(null)) {
            String tag = get(service, "/v1/trades/totals")
                    .headers()
                    .firstValue("ETag")
                    .orElseThrow();
            for (String form : List.of(tag, tag.substring(2), "\"x\", " + tag)) {
                assertThat(get(service, "/v1/trades/totals", "If-None-Match", form)
                                .statusCode())
                        .as(form)
                        .isEqualTo(304);
            }
            HttpResponse<String> twice = post(
                    service,
                    "/v1/trades/records",
                    bytes(record(1, "1.00")),
                    "Idempotency-Key",
                    "a",
                    "Idempotency-Key",
                    "b");
            assertThat(twice.statusCode()).isEqualTo(400);
            assertThat(get(service, "/v1/trades/totals?at-least=s:-1").statusCode())
                    .isEqualTo(400);
        }
    }

    private static String raw(HttpService service, String request) throws IOException {
        try (Socket socket = new Socket(service.uri().getHost(), service.uri().getPort())) {
            socket.getOutputStream().write(bytes(request));
            socket.shutdownOutput();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void what_cannot_be_understood_is_a_problem_that_repeats_nothing_of_it() throws IOException {
        try (HttpService service = service(null)) {
            String host = "Host: localhost\r\nConnection: close\r\n";
            for (String request : List.of(
                    "GET /v1/trades/secret%zz HTTP/1.1\r\n" + host + "\r\n",
                    "GET /v1/trades/totals HTTP/1.1\r\n" + host + "secret secret\r\n\r\n",
                    "GET /v1/trades/totals HTTP/1.1\r\n" + host + "a: " + "secret".repeat(20_000) + "\r\n\r\n",
                    "POST /v1/trades/records?source=s HTTP/1.1\r\n" + host
                            + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\nsecret",
                    "POST /v1/trades/records?source=s HTTP/1.1\r\n" + host
                            + "Content-Length: 6\r\nContent-Length: 7\r\n\r\nsecret",
                    "SECRET\r\n\r\n")) {
                String answer = raw(service, request);
                assertThat(answer)
                        .describedAs(request.lines().findFirst().orElseThrow())
                        .startsWith("HTTP/1.1 4");
                assertThat(answer.toLowerCase(java.util.Locale.ROOT)).doesNotContain("<html", "jetty");
            }
            assertThat(trades.counts().records()).isZero();
        }
    }

    @Test
    void keys_with_any_characters_are_found_by_their_path() throws IOException, InterruptedException {
        try (HttpService service = service(null)) {
            post(
                    service,
                    "/v1/trades/records?source=s",
                    bytes("{\"id\":\"a/b ..%+;ü\",\"v\":1,\"desk\":\"a\",\"value\":1}\n"));
            assertThat(get(service, "/v1/trades/rows/a%2Fb%20..%25%2B%3B%C3%BC").body())
                    .contains("a/b ..%+;ü");
        }
    }
}
