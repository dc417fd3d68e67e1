package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.onefold.api.RemoteEngine;
import dev.onefold.api.Scope;
import dev.onefold.core.EngineException;
import dev.onefold.core.EngineException.Kind;
import dev.onefold.core.Sync;
import dev.onefold.core.query.Query;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A client of a service is told why it gets no answer, and what to do.
@Timeout(60)
class RemoteServiceTest {
    @TempDir
    Path directory;

    private static void assertFailure(Kind kind, String message, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        EngineException.class, e -> assertThat(e.kind()).isEqualTo(kind))
                .hasMessageContaining(message)
                .hasMessageNotContaining("s3cr3t");
    }

    private static RemoteEngine trades(RunningService on, @Nullable String token) {
        return RemoteEngine.connect(on.service.uri(), "trades", token);
    }

    @Test
    void a_token_may_do_what_its_scopes_allow_and_the_scope_that_is_missing_is_named() throws Exception {
        Tokens tokens = Tokens.read(List.of(
                Tokens.line("reader", "s3cr3t", EnumSet.of(Scope.READ), List.of("trades")),
                Tokens.line("feeder", "s3cr3t-2", EnumSet.of(Scope.WRITE), List.of("trades"))));
        try (RunningService on = new RunningService(directory, tokens);
                RemoteEngine reader = trades(on, "s3cr3t")) {
            on.trades.append("one", List.of(RunningService.record(1, "2.50").strip()));
            assertThat(reader.query(Query.all("main")).lines()).hasSize(2);
            assertThat(reader.status().rows()).isEqualTo(1);
            assertFailure(
                    Kind.INACCESSIBLE,
                    "The token does not allow to operate in pipeline trades. Add the scope 'operate' to its line",
                    () -> reader.deadLetters().size());
            assertFailure(Kind.INACCESSIBLE, "does not allow to write", () -> reader.append("one", List.of("garbage")));
            try (RemoteEngine feeder = trades(on, "s3cr3t-2")) {
                assertThat(feeder.append(
                                        "two",
                                        List.of(RunningService.record(2, "1").strip()))
                                .acknowledged())
                        .isEqualTo(1);
            }
            assertFailure(Kind.INACCESSIBLE, "Give a valid token, by --token-file", () -> trades(on, "s3cr3t-3"));
            assertFailure(Kind.INACCESSIBLE, "The request has no token.", () -> trades(on, null));
            assertFailure(
                    Kind.DEFINITION_CHANGED,
                    "has no pipeline lines for this caller; it has trades.",
                    () -> RemoteEngine.connect(on.service.uri(), "lines", "s3cr3t"));
        }
    }

    @Test
    void a_block_of_rows_that_no_request_takes_goes_in_several() throws Exception {
        try (RunningService on = new RunningService(directory, null, Settings.Limits.USUAL);
                RemoteEngine remote = trades(on, null);
                Sync.Run run = remote.sync().seed("a file", Optional.empty(), false)) {
            StringBuilder rows = new StringBuilder();
            String note = "x".repeat(6 << 20);
            for (int id = 1; id <= 3; id++) {
                rows.append(RunningService.record(id, "1").replaceFirst("\\{", "{\"note\":\"" + note + "\","));
            }
            byte[] block = RunningService.bytes(rows.toString());
            assertThat(block).hasSizeGreaterThan(16 << 20);
            assertThat(run.append(block, block.length).counts().accepted()).isEqualTo(3);
        }
    }

    @Test
    void a_seeding_goes_on_at_its_marks_and_the_service_draws_its_number() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            long first;
            byte[] rows = RunningService.bytes(RunningService.record(1, "2.50") + RunningService.record(2, "1"));
            try (RemoteEngine remote = trades(on, null);
                    Sync.Run run = remote.sync().seed("a file", Optional.empty(), false)) {
                first = run.number();
                assertThat(run.continued()).isZero();
                assertThat(run.append(rows, rows.length - 1).counts().accepted())
                        .isEqualTo(2);
                run.save(Map.of("0", "half", "\u00e4 \"", "end"));
                assertThat(remote.sync().isRunning(Long.MAX_VALUE)).isTrue();
                assertThat(remote.sync().isRunning(first)).isFalse();
                assertThat(on.trades.sync().isRunning(Long.MAX_VALUE)).isTrue();
                try (Sync.Run beside = remote.sync().seed("a file", Optional.empty(), false)) {
                    assertThat(beside.marks()).isEmpty();
                    beside.finish();
                }
                try (Sync.Run _ = remote.sync().repair()) {
                    assertFailure(
                            Kind.IN_USE,
                            "one repairs at a time",
                            () -> remote.sync().repair());
                }
            }
            assertThat(on.trades.sync().isRunning(Long.MAX_VALUE)).isFalse();
            try (RemoteEngine remote = trades(on, null)) {
                try (Sync.Run interrupted = remote.sync().seed("another file", Optional.empty(), false)) {
                    interrupted.append(rows, rows.length);
                    interrupted.save(Map.of("0", "half"));
                }
                try (Sync.Run again = remote.sync().seed("another file", Optional.empty(), false)) {
                    assertThat(again.number()).isGreaterThan(first);
                    assertThat(again.continued()).isPositive();
                    assertThat(again.marks()).isEqualTo(Map.of("0", "half"));
                    on.post("/v1/trades/sync/" + again.number() + "/end", "");
                    assertFailure(Kind.STOPPED, "Run the command again", () -> again.append(rows, rows.length));
                }
            }
            assertThat(on.trades.counts().accepted()).isEqualTo(2);
        }
    }

    @Test
    void a_token_without_the_scope_administer_is_told_the_scope_and_what_to_write() throws Exception {
        Tokens tokens = Tokens.read(List.of(Tokens.line(
                "before", "s3cr3t", EnumSet.of(Scope.READ, Scope.WRITE, Scope.OPERATE), List.of(Tokens.ALL))));
        try (RunningService on = new RunningService(directory, tokens);
                RemoteEngine remote = trades(on, "s3cr3t")) {
            for (ThrowingCallable each : List.<ThrowingCallable>of(
                    () -> remote.sync().seed("a file", Optional.empty(), false),
                    () -> remote.sync().repair(),
                    () -> remote.sync().isRunning(1),
                    remote::rangeSums,
                    () -> remote.rowMarks(new BitSet()),
                    () -> remote.journal().release())) {
                assertFailure(
                        Kind.INACCESSIBLE,
                        "does not allow to administer in pipeline trades. Add the scope 'administer' to its line in the"
                                + " file of tokens",
                        each);
            }
        }
    }

    @Test
    void rows_under_a_number_of_the_client_are_taken_on_the_socket_alone() throws Exception {
        try (RunningService on = new RunningService(directory);
                RemoteEngine remote = trades(on, null)) {
            assertFailure(Kind.FORMAT, "does not offer this", () -> remote.appendRows("seed/1", 1, new byte[0], 0));
        }
    }

    @Test
    void a_service_that_was_started_again_takes_nothing_from_a_client_of_before() throws Exception {
        RemoteEngine before;
        int port;
        try (RunningService on = new RunningService(directory)) {
            before = trades(on, null);
            port = on.service.uri().getPort();
        }
        assertFailure(Kind.STOPPED, "cannot be reached: the connection was refused.", before::counts);
        assertThatThrownBy(before::rebuild).hasMessageNotContaining("unknown");
        try (RunningService on = new RunningService(directory);
                HttpService again = HttpService.open(
                        new Settings(InetAddress.getLoopbackAddress(), port, null, null, RunningService.LIMITS),
                        List.of(Served.of(on.trades, null)))) {
            assertFailure(Kind.STOPPED, "The service was started again", before::rebuild);
            try (RemoteEngine after = RemoteEngine.connect(again.uri(), "trades", null)) {
                assertThat(after.counts().records()).isZero();
            }
        }
    }

    @Test
    void a_change_whose_answer_was_lost_says_that_its_outcome_is_unknown() throws Exception {
        RemoteEngine remote;
        int port;
        try (RunningService on = new RunningService(directory)) {
            remote = trades(on, null);
            port = on.service.uri().getPort();
        }
        Thread hangingUp;
        try (ServerSocket silent = new ServerSocket(port, 9, InetAddress.getLoopbackAddress())) {
            hangingUp = Thread.ofVirtual().start(() -> {
                try {
                    while (true) {
                        silent.accept().close();
                    }
                } catch (IOException closed) {
                    // The test has ended.
                }
            });
            assertFailure(Kind.STOPPED, "It is unknown whether the change was made.", remote::rebuild);
            assertThatThrownBy(remote::verify)
                    .hasMessageContaining("ended the connection before its whole answer")
                    .hasMessageNotContaining("unknown");
        }
        hangingUp.join();
    }

    @Test
    void a_page_that_is_not_of_a_service_is_reported_and_never_taken_for_an_answer() throws Exception {
        HttpServer other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.createContext("/", exchange -> {
            byte[] page = "<html>Log in</html>".getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "text/html");
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        other.createContext("/moved", exchange -> {
            exchange.getResponseHeaders().add("Location", "/");
            exchange.sendResponseHeaders(302, -1);
            exchange.close();
        });
        other.createContext("/json", exchange -> {
            exchange.getResponseHeaders().add("Content-Type", "application/json; charset=utf-8");
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("{}".getBytes(StandardCharsets.UTF_8));
            exchange.close();
        });
        other.start();
        try {
            URI at = URI.create("http://localhost:" + other.getAddress().getPort());
            assertFailure(
                    Kind.FORMAT,
                    at + " answered with status 200 and content of type text/html, which no service of Onefold does.",
                    () -> RemoteEngine.connect(at, "trades", "s3cr3t"));
            assertFailure(
                    Kind.FORMAT,
                    "answered with status 302 and nothing",
                    () -> RemoteEngine.connect(at.resolve("/moved"), "trades", "s3cr3t"));
            assertFailure(
                    Kind.FORMAT,
                    "answers, but not as a service of Onefold does: ",
                    () -> RemoteEngine.connect(at.resolve("/json"), "trades", "s3cr3t"));
        } finally {
            other.stop(0);
        }
    }

    @Test
    void a_certificate_that_is_not_trusted_and_a_host_without_a_name_are_named() throws Exception {
        Settings settings = new Settings(
                InetAddress.getLoopbackAddress(),
                0,
                Certificate.make(directory, "EC").tls(),
                null,
                RunningService.LIMITS);
        try (HttpService secure = HttpService.open(settings, List.of());
                RunningService plain = new RunningService(directory)) {
            assertFailure(
                    Kind.INACCESSIBLE,
                    "The certificate must name this host",
                    () -> RemoteEngine.connect(
                            URI.create("https://localhost:" + secure.uri().getPort()), "trades", "s3cr3t"));
            assertFailure(
                    Kind.INACCESSIBLE,
                    "The TLS connection to",
                    () -> RemoteEngine.connect(
                            URI.create(
                                    "https://localhost:" + plain.service.uri().getPort()),
                            "trades",
                            "s3cr3t"));
        }
        assertFailure(
                Kind.STOPPED,
                "because the name of its host is not known",
                () -> RemoteEngine.connect(URI.create("http://nobody.invalid:1"), "trades", null));
    }

    @Test
    void an_address_or_a_token_that_cannot_be_one_is_refused_without_the_secret() {
        for (String each : List.of("ftp://host", "localhost:8080", "https://s3cr3t@host", "http://host?token=s3cr3t")) {
            assertThatThrownBy(() -> RemoteEngine.connect(URI.create(each), "trades", null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("https://HOST or http://HOST:PORT")
                    .hasMessageNotContaining("s3cr3t");
        }
        assertThatThrownBy(() -> RemoteEngine.connect(URI.create("http://nobody.invalid:1"), "trades", "s3cr3t"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("use https://")
                .hasMessageNotContaining("s3cr3t");
        for (String each : List.of("", "s3cr3t\n", "s3cr3t s3cr3t")) {
            assertThatThrownBy(() -> RemoteEngine.connect(URI.create("http://localhost"), "trades", each))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("The token is empty")
                    .hasMessageNotContaining("s3cr3t");
        }
    }
}
