package dev.onefold.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.EngineException;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Requests through the socket, and visitors that keep a thread of the engine's process waiting.
@Timeout(30)
class EngineSocketTest {
    private static final EngineSocket.Limits LIMITS =
            new EngineSocket.Limits(Duration.ofMillis(300), Duration.ofMillis(300));

    @TempDir
    Path directory;

    private Visits visits() {
        return new Visits(directory);
    }

    @Test
    void a_visitor_that_sends_half_a_head_is_gone_after_a_time_though_it_sends_more_and_more() throws Exception {
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), LIMITS, Thread::new);
                SocketChannel visitor = visits().connect()) {
            long begin = System.nanoTime();
            assertThatThrownBy(() -> {
                        while (System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(20)) {
                            Visits.send(visitor, "x");
                        }
                    })
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void a_head_without_end_and_a_content_without_end_are_refused() throws Exception {
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), () -> false)) {
            assertThat(visits().answer("GET /v1?" + "x".repeat(Head.BYTES_MAX))).startsWith("HTTP/1.1 431 ");
            assertThat(visits().answer("GET /v1 HTTP/1.1\r\n" + "a: b\r\n".repeat(Head.BYTES_MAX / 4)))
                    .startsWith("HTTP/1.1 4");
            String post = "POST /v1/trades/change HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
            String chunk = Integer.toHexString(Exchange.BODY_BYTES_MAX) + "\r\n" + "x".repeat(Exchange.BODY_BYTES_MAX);
            assertThat(visits().answer(post + chunk + "\r\n1\r\nx\r\n0\r\n\r\n"))
                    .startsWith("HTTP/1.1 413 ");
        }
    }

    @Test
    void a_visitor_that_reads_nothing_is_gone_after_a_time() throws Exception {
        SlowEngine engine = new SlowEngine();
        engine.lines = Integer.MAX_VALUE;
        try (EngineSocket _ = EngineSocket.open(directory, engine, LIMITS, Thread::new);
                SocketChannel visitor = visits().connect()) {
            Visits.send(visitor, "GET /v1/trades/totals HTTP/1.1\r\n\r\n");
            assertThat(engine.left.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void work_that_takes_longer_than_any_limit_is_not_ended() throws Exception {
        SlowEngine engine = new SlowEngine();
        try (EngineSocket _ = EngineSocket.open(directory, engine, LIMITS, Thread::new);
                SocketChannel visitor = visits().connect();
                SocketChannel idle = visits().connect()) {
            Visits.send(visitor, "POST /v1/trades/verify HTTP/1.1\r\n\r\n");
            assertThat(Visits.isClosed(idle)).isTrue(); // The limit has passed.
            engine.late.countDown();
            assertThat(new String(Channels.newInputStream(visitor).readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 200 ")
                    .endsWith(
                            "{\"equal\":true,\"truth\":\"7 rows\",\"groups\":1,\"differences\":[],\"keys\":0,\"keyDifferences\":[]}\n");
        }
    }

    @Test
    void a_large_answer_streams_and_is_read_line_by_line() throws Exception {
        SlowEngine engine = new SlowEngine();
        engine.lines = 20_000;
        try (EngineSocket _ = EngineSocket.open(directory, engine, () -> false)) {
            assertThat(visits().answer("GET /v1/trades/totals HTTP/1.1\r\n\r\n")
                            .lines()
                            .limit(9))
                    .contains("Transfer-Encoding: chunked", "Connection: close");
            assertThat(visits().answer("GET /v1/trades/totals?format=csv HTTP/1.0\r\n\r\n"))
                    .doesNotContain("Transfer-Encoding")
                    .hasLineCount(7 + 2 * engine.lines + 1);
            RemoteEngine remote = RemoteEngine.connect(directory).orElseThrow();
            int read = remote.query(Query.all("main"), answer -> {
                assertThat(answer.levels()).containsExactly("desk");
                assertThat(answer.cut().at()).isEqualTo(Instant.EPOCH);
                answer.lines()
                        .forEach(line -> assertThat(line)
                                .isEqualTo(new Answer.Line(List.of("a \"\n\u2028b"), List.of(new BigDecimal("1.50")))));
                return answer.lines().size();
            });
            assertThat(read).isEqualTo(engine.lines);
            engine.lines = 0;
            assertThat(remote.query(Query.all("main")).lines()).isEmpty();
        }
    }

    @Test
    void a_failure_is_a_problem_with_the_exit_code_of_the_command_line() throws Exception {
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), () -> false)) {
            assertThat(visits().answer("POST /v1/trades/rebuild HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 500 ")
                    .contains("Content-Type: application/problem+json", "\"kind\":\"CORRUPT\",\"exitCode\":3");
            assertThat(visits().answer("GET /v1/other/totals HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 404 ")
                    .contains("There is no pipeline 'other' here; there is trades.", "\"exitCode\":2");
            assertThat(visits().answer("GET /v1/trades/rows/a%2Fb/ HTTP/1.1\r\n\r\n"))
                    .contains("NO_ROW", "\"exitCode\":1");
            assertThat(visits().answer("GET /v1/trades/totals?depht=1 HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 400 ")
                    .contains("There is no parameter 'depht' here");
            assertThat(visits().answer("DELETE /v1/trades HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 405 ");
            assertThat(visits().answer("GET /v1/trades/totals?depth=x HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 400 ");
            assertThat(visits().answer("GET /v1/trades/%zz HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 400 ");
            RemoteEngine remote = RemoteEngine.connect(directory).orElseThrow();
            assertThatThrownBy(remote::rebuild)
                    .isInstanceOfSatisfying(
                            EngineException.class, e -> assertThat(e.kind()).isEqualTo(EngineException.Kind.CORRUPT))
                    .hasMessage("File is corrupt");
            assertThatThrownBy(() -> remote.deadLetters().size())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no letters");
        }
    }

    @Test
    void an_owner_that_ends_after_a_change_was_sent_leaves_its_outcome_unknown() throws Exception {
        EngineSocket socket = EngineSocket.open(directory, new SlowEngine(), () -> false);
        List<RemoteEngine> remotes = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            remotes.add(RemoteEngine.connect(directory).orElseThrow());
        }
        assertThatThrownBy(remotes.get(3)::rebuild).hasMessage("File is corrupt");
        socket.close();
        assertThatThrownBy(remotes.get(0)::rebuild).hasMessageNotContaining("unknown"); // Nobody was reached.
        assertThat(remotes.get(0).isGoneUnheard()).isTrue();
        try (ServerSocketChannel dying = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                ExecutorService owner = Executors.newSingleThreadExecutor()) {
            dying.bind(UnixDomainSocketAddress.of(directory.resolve("engine.socket")));
            var _ = owner.submit(() -> {
                for (int i = 0; i < 3; i++) {
                    try (SocketChannel visitor = dying.accept()) {
                        visitor.read(ByteBuffer.allocate(1 << 16));
                    }
                }
                return true;
            });
            assertThatThrownBy(remotes.get(1)::rebuild)
                    .hasMessageContaining("It is unknown whether the change was made.");
            assertThatThrownBy(remotes.get(2)::verify).hasMessageNotContaining("unknown");
            assertThatThrownBy(remotes.get(3)::verify).isInstanceOf(EngineException.class);
        }
        assertThat(remotes.get(1).isGoneUnheard()).isFalse();
        assertThat(remotes.get(2).isGoneUnheard()).isTrue();
        assertThat(remotes.get(3).isGoneUnheard()).as("a problem is an answer").isFalse();
    }

    @Test
    void an_owner_whose_engine_has_stopped_is_not_taken_for_none() throws Exception {
        SlowEngine engine = new SlowEngine();
        engine.stopped = true;
        try (EngineSocket _ = EngineSocket.open(directory, engine, () -> false)) {
            assertThatThrownBy(() -> RemoteEngine.connect(directory)).hasMessage("The engine has stopped");
        }
    }

    @Test
    void with_from_a_line_that_is_cut_off_is_refused() throws Exception {
        SlowEngine engine = new SlowEngine();
        try (EngineSocket _ = EngineSocket.open(directory, engine, () -> false)) {
            String post = "POST /v1/trades/records?source=s&from=1 HTTP/1.1\r\nContent-Length: 3\r\n\r\n";
            assertThat(visits().answer(post + "a\nb"))
                    .startsWith("HTTP/1.1 400 ")
                    .contains("does not end with a line end");
            assertThat(engine.asked).isEmpty();
            assertThat(visits().answer(post + "ab\n")).startsWith("HTTP/1.1 200 ");
            byte[] lines = "a\nbc".getBytes(StandardCharsets.UTF_8);
            RemoteEngine.connect(directory).orElseThrow().append("s", 2, lines, 3);
            assertThat(engine.asked).containsExactly("ab\n", "a\nb\n");
        }
    }

    @Test
    void a_parameter_that_a_route_does_not_know_or_that_is_out_of_range_is_refused() throws Exception {
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), () -> false)) {
            for (String get : List.of(
                    "?x=1",
                    "/trades?x=1",
                    "/trades/status?x=1",
                    "/trades/counts?x=1",
                    "/trades/journal?x=1",
                    "/trades/totals?group=a&group-json=%5B%5D",
                    "/trades/totals?depth=99999999999",
                    "/trades/totals?by=value&top=99999999999")) {
                assertThat(visits().answer("GET /v1" + get + " HTTP/1.1\r\n\r\n"))
                        .as(get)
                        .startsWith("HTTP/1.1 400 ");
            }
            for (String post : List.of(
                    "dead-letters/purge?ids=5",
                    "checkpoint?x=1",
                    "journal/release?x=1",
                    "verify?sample=99999999999",
                    "verify?from=sources&sample=2")) {
                assertThat(visits().answer("POST /v1/trades/" + post + " HTTP/1.1\r\n\r\n"))
                        .as(post)
                        .startsWith("HTTP/1.1 400 ");
            }
            for (String method : List.of("DELETE", "POST")) {
                assertThat(visits().answer(method + " /v1 HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 405 ");
            }
        }
    }

    @Test
    void content_that_a_request_has_no_use_for_is_refused_and_nothing_is_done() throws Exception {
        SlowEngine engine = new SlowEngine();
        engine.late.countDown();
        try (EngineSocket _ = EngineSocket.open(directory, engine, () -> false)) {
            for (String post :
                    List.of("dead-letters/7/redrive?edited=false", "dead-letters/purge?id=7", "checkpoint", "verify")) {
                String head = "POST /v1/trades/" + post + " HTTP/1.1\r\n";
                assertThat(visits().answer(head + "Content-Length: 2\r\n\r\nab"))
                        .as(post)
                        .startsWith("HTTP/1.1 400 ")
                        .contains("There is no use for content here");
            }
            assertThat(visits().answer("POST /v1/trades/verify HTTP/1.1\r\nContent-Length: 0\r\n\r\n"))
                    .startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void a_content_that_cannot_be_read_is_refused_with_a_problem() throws Exception {
        String post = "POST /v1/trades/records?source=s HTTP/1.1\r\n";
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), () -> false)) {
            for (String size : List.of("-1", "+1", "0x1", "zz", "", "f".repeat(20), "1".repeat(1_001))) {
                assertThat(visits().answer(post + "Transfer-Encoding: chunked\r\n\r\n" + size + "\r\nx\r\n0\r\n\r\n"))
                        .as(size)
                        .startsWith("HTTP/1.1 400 Bad request\r\n")
                        .contains(" chunk");
            }
            assertThat(visits().answer(post + "Content-Length:\r\n\r\nx\n")).startsWith("HTTP/1.1 400 ");
            assertThat(visits().answer(post + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nx\n"))
                    .startsWith("HTTP/1.1 415 ");
            assertThat(visits().answer(post + "Expect: 200-ok\r\nContent-Length: 2\r\n\r\nx\n"))
                    .startsWith("HTTP/1.1 417 ");
            assertThat(visits().answer(post + "Expect: 100-continue\r\nContent-Length: 16777217\r\n\r\n"))
                    .startsWith("HTTP/1.1 413 Content too large\r\n");
            assertThat(visits().answer(post.replace("=s", "=s&from=%D9%A1") + "Content-Length: 2\r\n\r\nx\n"))
                    .startsWith("HTTP/1.1 400 ");
        }
    }

    @Test
    void a_limit_of_letters_that_is_out_of_range_is_refused() throws Exception {
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), () -> false)) {
            for (String limit : List.of("-1", "1001", "99999999999")) {
                assertThat(visits().answer("GET /v1/trades/dead-letters?limit=" + limit + " HTTP/1.1\r\n\r\n"))
                        .as(limit)
                        .startsWith("HTTP/1.1 400 ");
            }
        }
    }

    @Test
    @Tag("campaign")
    void a_visitor_for_whom_no_thread_can_be_started_takes_no_place() throws Exception {
        AtomicInteger missing = new AtomicInteger(33);
        ThreadFactory threads = task -> {
            if (missing.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        };
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), LIMITS, threads)) {
            for (int i = 0; i < 33; i++) {
                try (SocketChannel visitor = visits().connect()) {
                    assertThat(Visits.isClosed(visitor)).isTrue();
                }
            }
            assertThat(visits().answer("GET /v1 HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void a_chunk_that_cannot_be_read_ends_its_connection_and_no_thread_fails() throws Exception {
        List<Throwable> uncaught = new CopyOnWriteArrayList<>();
        List<Thread> visits = new CopyOnWriteArrayList<>();
        ThreadFactory threads = task -> {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((_, e) -> uncaught.add(e));
            visits.add(thread);
            return thread;
        };
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), LIMITS, threads)) {
            assertThat(visits().answer("GET /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + "1".repeat(1_001)))
                    .startsWith("HTTP/1.1 200 ");
            for (Thread visit : visits) {
                visit.join();
            }
        }
        assertThat(visits).hasSize(1);
        assertThat(uncaught).isEmpty();
    }

    @Test
    void visitors_that_stall_with_large_contents_do_not_keep_others_from_sending_theirs() throws Exception {
        String post = "POST /v1/trades/records?source=s&from=1 HTTP/1.1\r\nContent-Length: ";
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), () -> false);
                SocketChannel a = visits().connect();
                SocketChannel b = visits().connect();
                SocketChannel c = visits().connect();
                SocketChannel d = visits().connect()) {
            for (SocketChannel each : List.of(a, b, c, d)) {
                Visits.send(
                        each, post + Exchange.BODY_BYTES_MAX + "\r\n\r\n" + "x".repeat(Exchange.BODY_BYTES_MAX - 1));
            }
            assertThat(visits().answer(post + "2\r\n\r\na\n")).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void two_names_that_differ_never_become_one() throws Exception {
        SlowEngine engine = new SlowEngine();
        try (EngineSocket _ = EngineSocket.open(directory, engine, () -> false)) {
            String records = "GET /v1/trades/records?source=";
            for (String name : List.of(
                    "%FF", "%C3", "%ED%A0%80", "%C0%80", "%4", "%", "%+1", "K\u00f6ln", "a\u0001b", "a\u007f")) {
                assertThat(visits().answer(records + name + " HTTP/1.1\r\n\r\n"))
                        .as(name)
                        .startsWith("HTTP/1.1 400 ");
            }
            assertThat(engine.asked).isEmpty();
            assertThat(visits().answer(records + "K%C3%b6ln+%2B%25 HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 200 ");
            assertThat(visits().answer("GET /v1/trades/rows/%FF HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 400 ");
            RemoteEngine remote = RemoteEngine.connect(directory).orElseThrow();
            assertThatThrownBy(() -> remote.acknowledged("\ud800")).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> remote.get(List.of("\udc00"))).isInstanceOf(IllegalArgumentException.class);
            assertThat(remote.acknowledged("\ud83d\ude00 +%/?&=")).isEqualTo(7);
            assertThat(engine.asked).containsExactly("K\u00f6ln +%", "\ud83d\ude00 +%/?&=");
        }
    }

    @Test
    void an_owner_that_ends_is_told_from_one_that_answers() throws Exception {
        SlowEngine engine = new SlowEngine();
        RemoteEngine remote;
        RemoteEngine heard;
        try (EngineSocket _ = EngineSocket.open(directory, engine, () -> false)) {
            remote = RemoteEngine.connect(directory).orElseThrow();
            heard = RemoteEngine.connect(directory).orElseThrow();
            assertThat(heard.counts()).isEqualTo(new Counts(1, 2, 3, 4, 5));
            assertThat(heard.pipeline()).isEqualTo(engine.pipeline());
        }
        for (RemoteEngine each : List.of(remote, heard)) {
            assertThatThrownBy(each::counts)
                    .isInstanceOfSatisfying(
                            EngineException.class, e -> assertThat(e.kind()).isEqualTo(EngineException.Kind.STOPPED));
        }
        assertThat(remote.isGoneUnheard()).isTrue();
        assertThat(heard.isGoneUnheard()).isFalse();
        assertThat(RemoteEngine.connect(directory)).isEmpty();
    }
}
