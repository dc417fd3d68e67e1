package dev.onefold.local.function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class SandboxTest {
    private static final Duration LONG = Duration.ofMinutes(2);

    /// Runs in the sandbox: does what it is told.
    public static final class Told implements RequestStreamHandler {
        @Override
        public void handleRequest(InputStream in, OutputStream out, Context context) throws IOException {
            switch (new String(in.readAllBytes(), StandardCharsets.UTF_8)) {
                case "say" ->
                    out.write((System.getenv("WORD") + " "
                                    + ProcessHandle.current().pid())
                            .getBytes(StandardCharsets.UTF_8));
                case "throw" -> throw new IOException("as told");
                case "wait" -> {
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        throw new IOException(e);
                    }
                }
                default -> System.exit(3);
            }
        }
    }

    private static FunctionSettings settings(Duration timeout) {
        return new FunctionSettings("told", Told.class.getName(), Map.of("WORD", "hello"), timeout, 256, 2, List.of());
    }

    private static List<Path> classPath() throws URISyntaxException {
        return List.of(Path.of(SandboxTest.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI()));
    }

    private static CompletableFuture<byte[]> tell(Sandbox sandbox, String word) {
        return sandbox.invoke(word.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(CompletableFuture<byte[]> answer) {
        return new String(answer.join(), StandardCharsets.UTF_8);
    }

    @Test
    void a_process_answers_again_and_again_also_after_its_handler_has_failed() throws Exception {
        try (Sandbox sandbox = Sandbox.start(settings(LONG), classPath())) {
            String first = text(tell(sandbox, "say"));
            assertThat(first).startsWith("hello ");
            assertThatThrownBy(tell(sandbox, "throw")::join)
                    .hasCauseInstanceOf(FunctionFailure.class)
                    .hasMessageContaining("as told");
            assertThat(text(tell(sandbox, "say"))).isEqualTo(first);
        }
    }

    @Test
    void a_process_that_is_killed_or_ends_by_itself_answers_no_more() throws Exception {
        try (Sandbox sandbox = Sandbox.start(settings(LONG), classPath())) {
            sandbox.ready().join();
            CompletableFuture<byte[]> waiting = tell(sandbox, "wait");
            sandbox.kill();
            assertThatThrownBy(waiting::join)
                    .isInstanceOf(CompletionException.class)
                    .hasMessageContaining("exit code 137");
            assertThat(sandbox.isAlive()).isFalse();
        }
        try (Sandbox sandbox = Sandbox.start(settings(LONG), classPath())) {
            assertThatThrownBy(tell(sandbox, "exit")::join).hasMessageContaining("exit code 3");
        }
    }

    @Test
    void an_invocation_that_takes_too_long_fails_and_its_process_is_killed() throws Exception {
        try (Sandbox sandbox = Sandbox.start(settings(Duration.ofMillis(1)), classPath())) {
            assertThatThrownBy(tell(sandbox, "wait")::join).hasCauseInstanceOf(TimeoutException.class);
            assertThatThrownBy(tell(sandbox, "say")::join).isNotNull();
        }
    }

    @Test
    void what_fails_by_chance_fails_as_often_as_it_should_and_a_dead_process_is_replaced() throws Exception {
        try (Sandboxes sandboxes = new Sandboxes(settings(LONG), classPath(), new FunctionFaults(0, 0, 0, 1), 42)) {
            byte[] say = "say".getBytes(StandardCharsets.UTF_8);
            String first = text(sandboxes.invoke(say));
            String second = text(sandboxes.invoke(say)); // After each answer a process is killed.
            assertThat(second).isNotEqualTo(first);
            assertThat(sandboxes.counts().killed()).isPositive();
            assertThat(sandboxes.counts().coldStarts()).isEqualTo(2);
        }
        try (Sandboxes sandboxes = new Sandboxes(settings(LONG), classPath(), new FunctionFaults(1_000, 0, 0, 0), 42)) {
            assertThatThrownBy(sandboxes.invoke(new byte[0])::join).hasMessageContaining("before it began");
            assertThat(sandboxes.counts().failed()).isEqualTo(1);
        }
    }
}
