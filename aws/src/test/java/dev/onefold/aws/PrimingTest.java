package dev.onefold.aws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What is done before a snapshot. `PrimedStartTest` of the module `local` counts what a copy need not do.
class PrimingTest {
    private static final Duration POLL = Duration.ofMillis(20);
    private static final int POLLS_MAX = 500;
    private static final Pipeline PIPELINE = PipelineBuilder.named("primed")
            .key("id")
            .version("v")
            .rollup(rollup -> rollup.levels("desk").sum("value", "value", 18, 2))
            .build();

    private static long sockets() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.filter(Files::exists).filter(PrimingTest::isSocket).count();
        }
    }

    private static boolean isSocket(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
        } catch (IOException closed) {
            return false;
        }
    }

    @Test
    void requests_are_answered_in_the_process_and_no_socket_is_left() throws IOException {
        long most = sockets() + 1; // The JDK opens one of its own for the first channel.
        for (int runs = 0; runs < 3; runs++) {
            assertThat(Priming.run(PIPELINE)).isEqualTo(3);
        }
        for (int polls = 0; sockets() > most && polls < POLLS_MAX; polls++) {
            Connection.THREADS.pause(POLL);
        }
        assertThat(sockets()).isLessThanOrEqualTo(most);
    }
}
