package dev.onefold.cli.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.call.Call;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Visitors who keep a thread of the owner waiting.
@Timeout(30)
class DoorTest {
    private static final Door.Limits LIMITS = new Door.Limits(Duration.ofMillis(300), Duration.ofMillis(300));
    private static final Door.Limits PATIENT = new Door.Limits(Duration.ofMillis(300), Duration.ofHours(1));

    @TempDir
    Path directory;

    /// Opens a door, lets somebody visit, and closes it.
    private void behind(Door.Limits limits, Call.Interpreter interpreter, Visit visit) throws Exception {
        Pipeline pipeline =
                PipelineBuilder.named("trades").rollup(r -> r.count("trades")).build();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline, Settings.defaults());
                Door _ = Door.open(new Door.Inside(directory, engine, interpreter), limits);
                SocketChannel visitor = connect()) {
            visit.by(visitor);
        }
    }

    private interface Visit {
        void by(SocketChannel visitor) throws Exception;
    }

    private SocketChannel connect() throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve("engine.socket")));
    }

    private byte[] request() {
        Cli cli = Cli.in(directory);
        return Request.of(
                        cli.caller(
                                InputStream.nullInputStream(),
                                new ByteArrayOutputStream(),
                                new ByteArrayOutputStream()),
                        List.of("query"))
                .json()
                .getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void a_visitor_that_sends_half_a_request_is_gone_after_a_time_also_if_nobody_else_comes() throws Exception {
        behind(LIMITS, (_, _, _) -> 0, visitor -> {
            visitor.write(ByteBuffer.wrap(new byte[] {Frames.COMMAND, 0, 0, 0, 9, '{'}));
            assertThat(visitor.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        });
    }

    @Test
    void a_visitor_that_reads_nothing_is_gone_after_a_time() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        byte[] much = new byte[1 << 16];
        Call.Interpreter endless = (caller, _, _) -> {
            while (!caller.out().checkError()) {
                caller.out().write(much, 0, much.length);
            }
            gone.countDown();
            return 0;
        };
        behind(LIMITS, endless, visitor -> {
            new Frames(visitor).send(Frames.COMMAND, request());
            assertThat(gone.await(20, TimeUnit.SECONDS)).isTrue();
        });
    }

    @Test
    void a_visitor_that_answers_no_question_is_gone_after_a_time() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        Call.Interpreter asking = (caller, _, _) -> {
            try {
                return caller.in().read();
            } catch (IOException e) {
                gone.countDown();
                return 1;
            }
        };
        behind(LIMITS, asking, visitor -> {
            new Frames(visitor).send(Frames.COMMAND, request());
            assertThat(gone.await(20, TimeUnit.SECONDS)).isTrue();
        });
    }

    @Test
    void a_command_that_works_for_longer_than_any_limit_is_not_ended() throws Exception {
        CountDownLatch late = new CountDownLatch(1);
        Call.Interpreter working = (_, _, _) -> {
            try {
                late.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return 7;
        };
        behind(LIMITS, working, visitor -> {
            Frames frames = new Frames(visitor);
            frames.send(Frames.COMMAND, request());
            try (SocketChannel idle = connect()) {
                assertThat(idle.read(ByteBuffer.allocate(1))).isEqualTo(-1); // The limit has passed.
            }
            late.countDown();
            Frames.Frame exit = frames.read();
            assertThat(exit).isNotNull();
            assertThat(exit.payload()).containsExactly(7);
        });
    }

    @Test
    void a_person_has_more_time_than_a_request() throws Exception {
        Call.Interpreter asking = (caller, _, _) -> {
            try {
                return caller.in().read();
            } catch (IOException e) {
                return 1;
            }
        };
        behind(PATIENT, asking, visitor -> {
            Frames frames = new Frames(visitor);
            frames.send(Frames.COMMAND, request());
            frames.read();
            try (SocketChannel idle = connect()) {
                assertThat(idle.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
            frames.send(Frames.GIVE, (byte) 9);
            Frames.Frame exit = frames.read();
            assertThat(exit).isNotNull();
            assertThat(exit.payload()).containsExactly(9);
        });
    }
}
