package dev.onefold.server;

import dev.onefold.core.Engine;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
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
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A service over real engines, and a client of it: `trades` knows records by key and version, `lines` by their place,
/// `bursts` makes batches and keeps ids for a day, `passing` forgets them after delivery.
final class RunningService implements AutoCloseable {
    /// A test that is paused for some seconds on a busy machine is not cut off as silent.
    static final Settings.Limits LIMITS = limits(Duration.ofSeconds(30));

    /// For a test of silence.
    static final Settings.Limits IMPATIENT = limits(Duration.ofSeconds(2));

    final Engine trades;
    final Engine lines;
    final Engine bursts;
    final Engine passing;
    final HttpService service;
    private @Nullable HttpClient client; // Made when it is needed: a service that is killed again and again needs none.

    private static Settings.Limits limits(Duration silence) {
        return new Settings.Limits(100_000, 400_000, 100, 4, silence, 1_000, 1_000);
    }

    RunningService(Path directory) throws IOException {
        this(directory, null);
    }

    RunningService(Path directory, @Nullable Tokens tokens) throws IOException {
        this(directory, tokens, LIMITS);
    }

    RunningService(Path directory, @Nullable Tokens tokens, Settings.Limits limits) throws IOException {
        trades = engine(
                directory.resolve("trades"),
                PipelineBuilder.named("trades")
                        .key("id")
                        .version("v")
                        .rollup(rollup -> rollup.levels("desk")
                                .sum("value", "value", 18, 2)
                                .count("n"))
                        .build());
        lines = engine(
                directory.resolve("lines"),
                PipelineBuilder.named("lines")
                        .rollup(rollup -> rollup.levels("desk")
                                .sum("value", "value", 18, 2)
                                .count("n"))
                        .build());
        bursts = engine(directory.resolve("bursts"), batches("bursts", directory, "1d"));
        passing = engine(directory.resolve("passing"), batches("passing", directory, "after-delivery"));
        service = HttpService.open(
                new Settings(InetAddress.getLoopbackAddress(), 0, null, tokens, limits),
                List.of(
                        Served.of(trades, directory.resolve("requests/trades")),
                        Served.of(lines, directory.resolve("requests/lines")),
                        Served.of(bursts, directory.resolve("requests/bursts")),
                        Served.of(passing, directory.resolve("requests/passing"))));
    }

    private static Pipeline batches(String name, Path directory, String forget) {
        String text = "{\"pipeline\":\"" + name + "\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":10,\"wait\":\"1h\","
                + "\"deliver\":{\"file\":\"" + directory + "/{number}.ndjson\"},\"forget\":\"" + forget + "\"}}";
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    private static Engine engine(Path directory, Pipeline pipeline) {
        return EmbeddedEngine.open(directory, pipeline, dev.onefold.embedded.Settings.defaults());
    }

    static String record(int id, String value) {
        return "{\"id\":" + id + ",\"v\":1,\"desk\":\"a\",\"value\":" + value + "}\n";
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    HttpResponse<String> get(String path, String... headers) throws IOException, InterruptedException {
        return send("GET", path, new byte[0], headers);
    }

    HttpResponse<String> post(String path, String body, String... headers) throws IOException, InterruptedException {
        return send("POST", path, bytes(body), headers);
    }

    HttpResponse<String> send(String method, String path, byte[] body, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(service.uri().resolve(path))
                .method(method, body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
        return client().send(
                        (headers.length == 0 ? request : request.headers(headers)).build(), BodyHandlers.ofString());
    }

    private synchronized HttpClient client() {
        HttpClient made = client == null ? HttpClient.newHttpClient() : client;
        client = made;
        return made;
    }

    /// A connection of its own.
    Socket connect() throws IOException {
        return new Socket(service.uri().getHost(), service.uri().getPort());
    }

    /// The bytes that come back until the service closes the connection.
    String raw(byte[] request) throws IOException {
        try (Socket socket = connect()) {
            socket.getOutputStream().write(request);
            socket.shutdownOutput();
            return read(socket);
        }
    }

    static String read(Socket socket) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            socket.getInputStream().transferTo(all);
        } catch (IOException reset) {
            // The bytes that came before are all.
        }
        return all.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        client().shutdownNow();
        service.close();
        trades.close();
        lines.close();
        bursts.close();
        passing.close();
    }
}
