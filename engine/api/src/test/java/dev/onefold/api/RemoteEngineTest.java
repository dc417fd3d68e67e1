package dev.onefold.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.EngineException;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Row;
import java.math.BigDecimal;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The guarantees for a client while the other side changes.
@Timeout(30)
class RemoteEngineTest {
    @TempDir
    Path directory;

    private RemoteEngine connect() {
        return RemoteEngine.connect(directory).orElseThrow();
    }

    private static void assertKind(EngineException.Kind kind, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        EngineException.class, e -> assertThat(e.kind()).isEqualTo(kind));
    }

    @Test
    void what_began_with_an_owner_never_goes_on_with_its_successor() throws Exception {
        RemoteEngine heard;
        RemoteEngine unheard;
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), () -> false)) {
            heard = connect();
            unheard = connect();
            assertThat(heard.counts()).isEqualTo(new Counts(1, 2, 3, 4, 5));
        }
        SlowEngine successor = new SlowEngine();
        try (EngineSocket _ = EngineSocket.open(directory, successor, () -> false)) {
            for (RemoteEngine each : List.of(heard, unheard)) {
                assertKind(EngineException.Kind.STOPPED, () -> each.acknowledged("s"));
                assertThatThrownBy(each::rebuild)
                        .hasMessageContaining("Another process owns data directory " + directory + " now")
                        .hasMessageNotContaining("unknown");
            }
            assertThat(heard.isGoneUnheard()).isFalse();
            assertThat(unheard.isGoneUnheard()).as("the successor can be asked").isTrue();
            assertThat(successor.asked).isEmpty();
            assertThat(connect().acknowledged("s")).isEqualTo(7);
        }
    }

    @Test
    void an_owner_says_who_it_is_and_refuses_what_was_meant_for_another_one() throws Exception {
        SlowEngine engine = new SlowEngine();
        try (EngineSocket _ = EngineSocket.open(directory, engine, () -> false)) {
            String counts = "GET /v1/trades/counts HTTP/1.1\r\n";
            Visits visits = new Visits(directory);
            String answer = visits.answer(counts + "\r\n");
            String owner = answer.replaceFirst("(?s).*(onefold-owner: \\S+).*", "$1");
            assertThat(owner).hasSizeGreaterThan(32);
            assertThat(visits.answer(counts + owner + "\r\n\r\n")).startsWith("HTTP/1.1 200 ");
            assertThat(visits.answer(counts + owner + "x\r\n\r\n"))
                    .startsWith("HTTP/1.1 409 ")
                    .contains(owner, "\"kind\":\"OWNER_CHANGED\",\"exitCode\":4");
        }
    }

    @Test
    void an_interrupted_caller_learns_that_it_was_interrupted_and_whether_something_may_have_changed()
            throws Exception {
        RemoteEngine remote;
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), () -> false)) {
            remote = connect();
        }
        try (ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            silent.bind(UnixDomainSocketAddress.of(directory.resolve("engine.socket")));
            assertThat(whileAsking(silent, remote::rebuild))
                    .hasMessageContaining("interrupted")
                    .hasMessageContaining("It is unknown whether the change was made.");
            assertThat(whileAsking(silent, remote::verify))
                    .hasMessageContaining("interrupted")
                    .hasMessageNotContaining("unknown");
            Thread.currentThread().interrupt();
            assertThatThrownBy(remote::rebuild)
                    .hasMessageContaining("interrupted")
                    .hasMessageNotContaining("unknown");
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    /// Interrupts a call whose request has arrived, and returns its exception.
    private static EngineException whileAsking(ServerSocketChannel silent, ThrowingCallable call) throws Exception {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        CountDownLatch kept = new CountDownLatch(1);
        Thread caller = new Thread(() -> {
            try {
                call.call();
            } catch (Throwable e) {
                thrown.set(e);
            }
            if (Thread.currentThread().isInterrupted()) {
                kept.countDown();
            }
        });
        caller.start();
        try (SocketChannel visitor = silent.accept()) {
            visitor.read(ByteBuffer.allocate(1 << 16));
            caller.interrupt();
            caller.join();
        }
        assertThat(kept.getCount()).as("the interrupt is kept").isZero();
        assertKind(EngineException.Kind.INTERRUPTED, () -> {
            throw thrown.get();
        });
        return (EngineException) thrown.get();
    }

    private static final Pipeline BEFORE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup("one", r -> r.levels("desk").sum("value", "value", 10, 2))
            .build();

    private static final Pipeline AFTER = PipelineBuilder.named("trades")
            .key("id")
            .version("v", TimeType.ISO)
            .rollup("two", r -> r.levels("book").sum("value", "value", 10, 2))
            .build();

    private static Row row(Pipeline definition, String version, String group) {
        return new Row(
                List.of("a"),
                Version.parse(definition, version),
                new Contribution(
                        Event.Kind.COUNTED,
                        List.of(Tuple.of(List.of(group))),
                        List.of(new Amount.Number(new BigDecimal("1.00")))),
                "s",
                0);
    }

    /// An engine whose definition changes between any two calls, at a time that a test chooses.
    private static final class Changing extends SlowEngine {
        private int calls;
        private final int changesAt;

        Changing(int changesAt) {
            this.changesAt = changesAt;
        }

        private boolean isChanged() {
            return ++calls >= changesAt;
        }

        @Override
        public Pipeline pipeline() {
            return isChanged() ? AFTER : BEFORE;
        }

        @Override
        public Optional<Row> get(List<String> key) {
            return Optional.of(isChanged() ? row(AFTER, "2026-01-01T00:00:00Z", "y") : row(BEFORE, "1", "x"));
        }

        @Override
        public DeadLetters deadLetters() {
            isChanged();
            return new NoLetters();
        }
    }

    @Test
    void a_row_is_read_under_its_own_definition_whenever_that_changes() throws Exception {
        for (int changesAt = 1; changesAt < 16; changesAt++) {
            Path data = directory.resolve("at" + changesAt);
            Files.createDirectory(data);
            try (EngineSocket _ = EngineSocket.open(data, new Changing(changesAt), () -> false)) {
                String answer = new Visits(data).answer("GET /v1/trades/rows/a HTTP/1.1\r\n\r\n");
                assertThat(answer).containsAnyOf("{\"one\":[\"x\"]}", "{\"two\":[\"y\"]}");
                assertThat(RemoteEngine.connect(data).orElseThrow().get(List.of("a")))
                        .isPresent();
            }
        }
    }
}
