package dev.onefold.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Capabilities;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.EngineException;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.state.Row;
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
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What goes through the socket, and visitors who keep a thread of the engine's process waiting.
@Timeout(30)
class EngineSocketTest {
    private static final EngineSocket.Limits LIMITS =
            new EngineSocket.Limits(Duration.ofMillis(300), Duration.ofMillis(300));

    @TempDir
    Path directory;

    /// An engine whose answers have as many lines as are asked for, and whose verification takes its time.
    private static final class Slow implements Engine {
        private final CountDownLatch late = new CountDownLatch(1);
        private final CountDownLatch left = new CountDownLatch(1);
        private final List<String> asked = new CopyOnWriteArrayList<>(); // Names of sources, and lines.
        private volatile int lines = 3;
        private volatile boolean stopped;

        @Override
        public Pipeline pipeline() {
            if (stopped) {
                throw new EngineException(EngineException.Kind.STOPPED, "The engine has stopped");
            }
            return PipelineBuilder.named("trades")
                    .rollup(r -> r.count("trades"))
                    .build();
        }

        @Override
        public Capabilities capabilities() {
            return new Capabilities(Map.of());
        }

        @Override
        public Answer query(Query query) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <T> T query(Query query, Function<Answer, T> reader) {
            Answer.Line line = new Answer.Line(List.of("a \"\n\u2028b"), List.of(new BigDecimal("1.50")));
            Answer.Cut cut = new Answer.Cut(List.of(), Instant.EPOCH);
            try (Lines many = new Lines(line, lines)) {
                return reader.apply(new Answer("main", List.of("desk"), List.of("value"), many, cut));
            } finally {
                left.countDown();
            }
        }

        @Override
        public Optional<Row> get(List<String> key) {
            return Optional.empty();
        }

        @Override
        public Verification verify(Truth truth) {
            try {
                late.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return new Verification("7 rows", 1, List.of());
        }

        @Override
        public Verification rebuild(Truth truth) {
            throw new EngineException(EngineException.Kind.CORRUPT, "File is corrupt");
        }

        @Override
        public DeadLetters deadLetters() {
            throw new UnsupportedOperationException("no letters");
        }

        @Override
        public long append(String source, long firstRecord, byte[] lines, int length) {
            asked.add(new String(lines, 0, length, StandardCharsets.UTF_8));
            return 7;
        }

        @Override
        public long acknowledged(String source) {
            asked.add(source);
            return 7;
        }

        @Override
        public Counts counts() {
            return new Counts(1, 2, 3, 4, 5);
        }

        @Override
        public void close() {}
    }

    private static final class Lines extends AbstractList<Answer.Line> implements AutoCloseable {
        private final Answer.Line line;
        private final int count;

        Lines(Answer.Line line, int count) {
            this.line = line;
            this.count = count;
        }

        @Override
        public Answer.Line get(int index) {
            return line;
        }

        @Override
        public int size() {
            return count;
        }

        @Override
        public void close() {}
    }

    private SocketChannel connect() throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve("engine.socket")));
    }

    private static void send(SocketChannel visitor, String text) throws IOException {
        visitor.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    private String answer(String request) throws IOException {
        try (SocketChannel visitor = connect()) {
            send(visitor, request);
            return new String(Channels.newInputStream(visitor).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static boolean isClosed(SocketChannel visitor) {
        try {
            return visitor.read(ByteBuffer.allocate(1)) == -1;
        } catch (IOException reset) {
            return true;
        }
    }

    @Test
    void a_visitor_that_sends_half_a_head_is_gone_after_a_time_though_it_sends_more_and_more() throws Exception {
        try (EngineSocket _ = EngineSocket.open(directory, new Slow(), LIMITS);
                SocketChannel visitor = connect()) {
            long begin = System.nanoTime();
            assertThatThrownBy(() -> {
                        while (System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(20)) {
                            send(visitor, "x");
                        }
                    })
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void a_head_without_end_and_a_content_without_end_are_refused() throws Exception {
        try (EngineSocket _ = EngineSocket.open(directory, new Slow())) {
            assertThat(answer("GET /v1?" + "x".repeat(Head.BYTES_MAX))).startsWith("HTTP/1.1 431 ");
            assertThat(answer("GET /v1 HTTP/1.1\r\n" + "a: b\r\n".repeat(Head.BYTES_MAX / 4)))
                    .startsWith("HTTP/1.1 4");
            String post = "POST /v1/trades/change HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
            String chunk = Integer.toHexString(Exchange.BODY_BYTES_MAX) + "\r\n" + "x".repeat(Exchange.BODY_BYTES_MAX);
            assertThat(answer(post + chunk + "\r\n1\r\nx\r\n0\r\n\r\n")).startsWith("HTTP/1.1 413 ");
        }
    }

    @Test
    void a_visitor_that_reads_nothing_is_gone_after_a_time() throws Exception {
        Slow engine = new Slow();
        engine.lines = Integer.MAX_VALUE;
        try (EngineSocket _ = EngineSocket.open(directory, engine, LIMITS);
                SocketChannel visitor = connect()) {
            send(visitor, "GET /v1/trades/totals HTTP/1.1\r\n\r\n");
            assertThat(engine.left.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void work_that_takes_longer_than_any_limit_is_not_ended() throws Exception {
        Slow engine = new Slow();
        try (EngineSocket _ = EngineSocket.open(directory, engine, LIMITS);
                SocketChannel visitor = connect();
                SocketChannel idle = connect()) {
            send(visitor, "POST /v1/trades/verify HTTP/1.1\r\n\r\n");
            assertThat(isClosed(idle)).isTrue(); // The limit has passed.
            engine.late.countDown();
            assertThat(new String(Channels.newInputStream(visitor).readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 200 ")
                    .endsWith("{\"equal\":true,\"truth\":\"7 rows\",\"groups\":1,\"differences\":[]}\n");
        }
    }

    @Test
    void a_large_answer_streams_and_is_read_line_by_line() throws Exception {
        Slow engine = new Slow();
        engine.lines = 20_000;
        try (EngineSocket _ = EngineSocket.open(directory, engine)) {
            assertThat(answer("GET /v1/trades/totals HTTP/1.1\r\n\r\n").lines().limit(8))
                    .contains("Transfer-Encoding: chunked", "Connection: close");
            assertThat(answer("GET /v1/trades/totals?format=csv HTTP/1.0\r\n\r\n"))
                    .doesNotContain("Transfer-Encoding")
                    .hasLineCount(6 + 2 * engine.lines + 1);
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
        try (EngineSocket _ = EngineSocket.open(directory, new Slow())) {
            assertThat(answer("POST /v1/trades/rebuild HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 500 ")
                    .contains("Content-Type: application/problem+json", "\"kind\":\"CORRUPT\",\"exitCode\":3");
            assertThat(answer("GET /v1/other/totals HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 404 ")
                    .contains("There is no pipeline 'other' here; there is trades.", "\"exitCode\":2");
            assertThat(answer("GET /v1/trades/rows/a%2Fb/ HTTP/1.1\r\n\r\n")).contains("NO_ROW", "\"exitCode\":1");
            assertThat(answer("GET /v1/trades/totals?depht=1 HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 400 ")
                    .contains("There is no parameter 'depht' here");
            assertThat(answer("DELETE /v1/trades HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 405 ");
            assertThat(answer("GET /v1/trades/totals?depth=x HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 400 ");
            assertThat(answer("GET /v1/trades/%zz HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 400 ");
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
        EngineSocket socket = EngineSocket.open(directory, new Slow());
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
        Slow engine = new Slow();
        engine.stopped = true;
        try (EngineSocket _ = EngineSocket.open(directory, engine)) {
            assertThatThrownBy(() -> RemoteEngine.connect(directory)).hasMessage("The engine has stopped");
        }
    }

    @Test
    void with_from_a_line_that_is_cut_off_is_refused() throws Exception {
        Slow engine = new Slow();
        try (EngineSocket _ = EngineSocket.open(directory, engine)) {
            String post = "POST /v1/trades/records?source=s&from=1 HTTP/1.1\r\nContent-Length: 3\r\n\r\n";
            assertThat(answer(post + "a\nb")).startsWith("HTTP/1.1 400 ").contains("does not end with a line end");
            assertThat(engine.asked).isEmpty();
            assertThat(answer(post + "ab\n")).startsWith("HTTP/1.1 200 ");
            byte[] lines = "a\nbc".getBytes(StandardCharsets.UTF_8);
            RemoteEngine.connect(directory).orElseThrow().append("s", 2, lines, 3);
            assertThat(engine.asked).containsExactly("ab\n", "a\nb\n");
        }
    }

    @Test
    void a_parameter_that_a_route_does_not_know_or_that_is_out_of_range_is_refused() throws Exception {
        try (EngineSocket _ = EngineSocket.open(directory, new Slow())) {
            for (String get : List.of(
                    "?x=1",
                    "/trades?x=1",
                    "/trades/status?x=1",
                    "/trades/counts?x=1",
                    "/trades/journal?x=1",
                    "/trades/totals?group=a&group-json=%5B%5D",
                    "/trades/totals?depth=99999999999",
                    "/trades/totals?by=value&top=99999999999")) {
                assertThat(answer("GET /v1" + get + " HTTP/1.1\r\n\r\n"))
                        .as(get)
                        .startsWith("HTTP/1.1 400 ");
            }
            for (String post : List.of(
                    "dead-letters/purge?ids=5",
                    "checkpoint?x=1",
                    "journal/release?x=1",
                    "verify?sample=99999999999",
                    "verify?from=sources&sample=2")) {
                assertThat(answer("POST /v1/trades/" + post + " HTTP/1.1\r\n\r\n"))
                        .as(post)
                        .startsWith("HTTP/1.1 400 ");
            }
            for (String method : List.of("DELETE", "POST")) {
                assertThat(answer(method + " /v1 HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 405 ");
            }
        }
    }

    @Test
    void a_visitor_for_whom_no_thread_can_be_started_takes_no_place() throws Exception {
        AtomicInteger missing = new AtomicInteger(33);
        ThreadFactory threads = task -> {
            if (missing.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        };
        try (EngineSocket _ = EngineSocket.open(directory, new Slow(), LIMITS, threads)) {
            for (int i = 0; i < 33; i++) {
                try (SocketChannel visitor = connect()) {
                    assertThat(isClosed(visitor)).isTrue();
                }
            }
            assertThat(answer("GET /v1 HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 200 ");
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
        try (EngineSocket _ = EngineSocket.open(directory, new Slow(), LIMITS, threads)) {
            assertThat(answer("GET /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + "1".repeat(1_001)))
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
        try (EngineSocket _ = EngineSocket.open(directory, new Slow());
                SocketChannel a = connect();
                SocketChannel b = connect();
                SocketChannel c = connect();
                SocketChannel d = connect()) {
            for (SocketChannel each : List.of(a, b, c, d)) {
                send(each, post + Exchange.BODY_BYTES_MAX + "\r\n\r\n" + "x".repeat(Exchange.BODY_BYTES_MAX - 1));
            }
            assertThat(answer(post + "2\r\n\r\na\n")).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void two_names_that_differ_never_become_one() throws Exception {
        Slow engine = new Slow();
        try (EngineSocket _ = EngineSocket.open(directory, engine)) {
            String records = "GET /v1/trades/records?source=";
            for (String name : List.of(
                    "%FF", "%C3", "%ED%A0%80", "%C0%80", "%4", "%", "%+1", "K\u00f6ln", "a\u0001b", "a\u007f")) {
                assertThat(answer(records + name + " HTTP/1.1\r\n\r\n"))
                        .as(name)
                        .startsWith("HTTP/1.1 400 ");
            }
            assertThat(engine.asked).isEmpty();
            assertThat(answer(records + "K%C3%b6ln+%2B%25 HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 200 ");
            assertThat(answer("GET /v1/trades/rows/%FF HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 400 ");
            RemoteEngine remote = RemoteEngine.connect(directory).orElseThrow();
            assertThatThrownBy(() -> remote.acknowledged("\ud800")).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> remote.get(List.of("\udc00"))).isInstanceOf(IllegalArgumentException.class);
            assertThat(remote.acknowledged("\ud83d\ude00 +%/?&=")).isEqualTo(7);
            assertThat(engine.asked).containsExactly("K\u00f6ln +%", "\ud83d\ude00 +%/?&=");
        }
    }

    @Test
    void an_owner_that_ends_is_told_from_one_that_answers() throws Exception {
        Slow engine = new Slow();
        RemoteEngine remote;
        RemoteEngine heard;
        try (EngineSocket _ = EngineSocket.open(directory, engine)) {
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
