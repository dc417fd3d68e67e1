package dev.onefold.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.OnefoldProcess;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `onefold serve` as a process of its own.
@Timeout(120)
class ServeCommandTest {
    private static final Pattern AT = Pattern.compile("Serving at (\\S+)\\. Ctrl-C");
    private static final String ORDERS = Cli.TRADES.replace("pipeline: trades", "pipeline: orders");

    @TempDir
    Path folder;

    private Cli cli;
    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeEach
    void write() {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        cli.write("orders.yaml", ORDERS);
    }

    @AfterEach
    void close() {
        client.shutdownNow();
    }

    private OnefoldProcess serve(String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of("serve", "--port", "0"));
        all.addAll(List.of(arguments));
        return OnefoldProcess.start(folder, all.toArray(new String[0]));
    }

    private static URI uri(OnefoldProcess service) {
        OnefoldProcess.await(
                "it serves",
                () -> AT.matcher(service.err()).find() || !service.process().isAlive());
        Matcher at = AT.matcher(service.err());
        assertThat(at.find()).as(service.err()).isTrue();
        return URI.create(at.group(1));
    }

    private HttpResponse<String> post(URI at, String path, String body) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(at.resolve(path))
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    private String get(URI at, String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(at.resolve(path)).build(), BodyHandlers.ofString())
                .body();
    }

    private static String withoutTime(String answer) {
        return answer.replaceFirst("\"at\":\"[^\"]*\"", "");
    }

    @Test
    @Tag("campaign")
    void several_pipelines_are_served_beside_the_other_commands_and_a_stop_loses_nothing() throws Exception {
        try (OnefoldProcess service = serve("trades.yaml", "orders.yaml")) {
            URI at = uri(service);
            assertThat(post(at, "/v1/trades/records", Cli.trade("t1", 1, "a", "x", "1.50"))
                            .body())
                    .contains("\"accepted\":1");
            assertThat(post(at, "/v1/orders/records", Cli.trade("o1", 1, "b", "y", "2.50"))
                            .body())
                    .contains("\"accepted\":1");
            for (String format : List.of("json", "csv")) {
                assertThat(withoutTime(get(at, "/v1/trades/totals?format=" + format)))
                        .isEqualTo(withoutTime(cli.run("query", "trades.yaml", "--format", format)
                                .out()))
                        .contains("1.50");
            }
            service.signal("TERM");
            assertThat(service.exitCode()).isZero();
        }
        assertThat(cli.run("query", "orders.yaml", "--format", "csv").out()).contains("2.50");
        assertThat(cli.run("verify", "trades.yaml").exitCode()).isZero();
    }

    @Test
    @Tag("campaign")
    void hazard_85_what_was_answered_is_there_after_a_kill_and_what_is_sent_again_counts_once() throws Exception {
        List<String> answered = new CopyOnWriteArrayList<>();
        AtomicInteger next = new AtomicInteger();
        for (int life = 0; life < 3; life++) {
            int until = next.get() + 20;
            try (OnefoldProcess service = serve("trades.yaml")) {
                URI at = uri(service);
                Thread sender = Thread.ofVirtual().start(() -> {
                    try {
                        while (true) {
                            String id = "t" + next.getAndIncrement();
                            if (post(at, "/v1/trades/records", Cli.trade(id, 1, "a", "x", "1"))
                                            .statusCode()
                                    == 200) {
                                answered.add(id);
                            }
                        }
                    } catch (IOException | InterruptedException killed) {
                        // The last request has no answer.
                    }
                });
                OnefoldProcess.await("some are answered", () -> next.get() > until);
                service.kill();
                sender.join();
            }
        }
        try (OnefoldProcess service = serve("trades.yaml")) {
            URI at = uri(service);
            for (String id : answered) {
                assertThat(get(at, "/v1/trades/rows/" + id)).contains("\"key\":[\"" + id + "\"]");
            }
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < next.get(); i++) {
                all.append(Cli.trade("t" + i, 1, "a", "x", "1"));
            }
            assertThat(post(at, "/v1/trades/records", all.toString()).statusCode())
                    .isEqualTo(200);
            assertThat(get(at, "/v1/trades/totals?depth=0&format=csv")).contains("," + next.get() + ".00,");
        }
    }

    @Test
    @Tag("campaign")
    void a_file_says_what_is_served_and_which_files_are_followed() throws Exception {
        Files.createDirectories(folder.resolve("conf"));
        cli.write("conf/trades.yaml", Cli.TRADES);
        cli.write("conf/trades.log", Cli.trade("t1", 1, "a", "x", "1.50"));
        cli.write("conf/onefold.yaml", """
            tokens: tokens.txt
            pipelines:
              - file: trades.yaml
                data: data/trades
                follow: [trades.log]
            """);
        Cli.Result token = cli.run("token", "desk", "--allow", "read", "--file", "conf/tokens.txt");
        assertThat(token.exitCode()).as(token.err()).isZero();
        assertThat(cli.run("token", "desk", "--allow", "read", "--file", "conf/tokens.txt")
                        .exitCode())
                .isEqualTo(2);
        assertThat(Files.readString(folder.resolve("conf/tokens.txt")))
                .doesNotContain(token.out().strip());
        try (OnefoldProcess service = serve("--config", "conf/onefold.yaml")) {
            URI at = uri(service);
            HttpRequest read = HttpRequest.newBuilder(at.resolve("/v1/trades/totals?depth=0&format=csv"))
                    .header("Authorization", "Bearer " + token.out().strip())
                    .build();
            OnefoldProcess.await("the file is folded", () -> {
                try {
                    return client.send(read, BodyHandlers.ofString()).body().contains("1.50");
                } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(post(at, "/v1/trades/records", "{}\n").statusCode()).isEqualTo(401);
        }
        assertThat(folder.resolve("conf/data/trades")).isDirectory();
    }

    @Test
    @Tag("campaign")
    void an_input_that_fails_makes_the_service_unready_and_requests_go_on() throws Exception {
        Path log = cli.write("trades.log", Cli.trade("t1", 1, "a", "x", "1.50") + Cli.trade("t2", 1, "a", "x", "1.50"));
        cli.write("onefold.yaml", "pipelines:\n  - {file: trades.yaml, follow: [trades.log]}\n");
        try (OnefoldProcess service = serve("--config", "onefold.yaml")) {
            URI at = uri(service);
            OnefoldProcess.await(
                    "the file is folded", () -> asked(at, "/v1/trades/counts").contains("\"accepted\":2"));
            assertThat(asked(at, "/health/ready")).contains("up");
            Files.writeString(log, Cli.trade("t3", 1, "a", "x", "9.99")); // In place, and shorter.
            OnefoldProcess.await(
                    "it is noticed", () -> asked(at, "/health/ready").contains("NOT_READY"));
            assertThat(service.err()).contains("trades.log of pipeline trades is not read any more");
            assertThat(asked(at, "/health/live")).contains("up");
            assertThat(post(at, "/v1/trades/records", Cli.trade("t4", 1, "a", "x", "1.00"))
                            .body())
                    .contains("\"accepted\":1");
            service.signal("INT");
            assertThat(service.exitCode()).isEqualTo(130);
        }
    }

    private String asked(URI at, String path) {
        try {
            return get(at, path);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void messages_are_json_lines_if_a_program_reads_them() throws Exception {
        try (OnefoldProcess service = serve("trades.yaml", "--log", "json")) {
            OnefoldProcess.await("it serves", () -> service.err().contains("Serving at "));
            service.signal("TERM");
            assertThat(service.exitCode()).isZero();
            assertThat(service.err().lines())
                    .isNotEmpty()
                    .allSatisfy(line -> assertThat(JsonText.read(line, new Problems()))
                            .as(line)
                            .isInstanceOf(Node.Mapping.class));
            assertThat(service.err())
                    .containsPattern("\\{\"at\":\"[^\"]+Z\",\"level\":\"INFO\",\"message\":\"Serving at http://");
        }
        for (String[] wrong : List.of(
                new String[] {"serve", "nothing.yaml", "--log", "json"},
                new String[] {"serve", "nothing.yaml", "--log", "json", "--debug"},
                new String[] {"serve", "--log=json", "trades.yaml", "--prot", "1"})) {
            String err = cli.run(wrong).err();
            assertThat(err).contains("\"ERROR\"").doesNotContain("\"INFO\"");
            assertThat(err.lines())
                    .isNotEmpty()
                    .allSatisfy(line -> assertThat(JsonText.read(line, new Problems()))
                            .as(line)
                            .isInstanceOf(Node.Mapping.class));
        }
    }

    @Test
    void what_others_could_reach_is_refused_without_tokens_and_without_tls() {
        assertThat(cli.run("serve", "trades.yaml", "--address", "0.0.0.0").err())
                .contains("--insecure");
        assertThat(cli.run("serve", "trades.yaml", "--address", "0.0.0.0", "--insecure")
                        .err())
                .contains("no tokens");
        assertThat(cli.run("serve", "trades.yaml", "--jwt-issuer", "https://login.example.com")
                        .err())
                .contains("--jwt-audience");
        assertThat(cli.run(
                                "serve",
                                "trades.yaml",
                                "--jwt-issuer",
                                "a",
                                "--jwt-audience",
                                "b",
                                "--jwt-keys",
                                "http://login.example.com/keys")
                        .err())
                .contains("https");
        assertThat(cli.run("serve").err()).contains("Say which pipelines");
        assertThat(cli.run("serve", "trades.yaml", "trades.yaml").err()).contains("Two pipelines");
        cli.write("wrong.yaml", "pipelines:\n  - {fiel: trades.yaml}\n");
        assertThat(cli.run("serve", "--config", "wrong.yaml").err()).contains("wrong.yaml:2:", "fiel");
        for (String twice : List.of(
                "port: 1\nport: 2\npipelines: [{file: trades.yaml}]\n",
                "pipelines: [{file: trades.yaml}]\npipelines: [{file: orders.yaml}]\n",
                "pipelines:\n  - {file: trades.yaml, data: a, data: b}\n",
                "tls: {key: a, key: b}\npipelines: [{file: trades.yaml}]\n")) {
            cli.write("twice.yaml", twice);
            assertThat(cli.run("serve", "--config", "twice.yaml").err()).contains("twice.yaml:", "twice");
        }
        assertThat(folder.resolve("onefold-data")).doesNotExist();
    }
}
