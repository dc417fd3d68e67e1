package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The heap that a small append allocates beside its force.
class AppendAllocationTest {
    private static final int CALLS = 200;
    private static final int BYTES_A_CALL_MAX = 64_000;

    @TempDir
    private Path directory;

    @Test
    @Tag("campaign")
    void an_append_of_one_line_allocates_little_however_many_shards_there_are() {
        Pipeline pipeline = PipelineBuilder.named("p")
                .key("id")
                .version("v")
                .rollup(r -> r.count("n"))
                .build();
        Settings settings = Settings.defaults()
                .withShards(64)
                .withThreads(0)
                .withStateBytesMax(1L << 31)
                .withCheckpointInterval(Duration.ofDays(1));
        ThreadMXBean memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline, settings)) {
            append(engine, 1);
            long before = memory.getCurrentThreadAllocatedBytes();
            append(engine, CALLS + 1);
            long bytes = memory.getCurrentThreadAllocatedBytes() - before;
            assertThat(bytes / CALLS).isLessThan(BYTES_A_CALL_MAX);
        }
    }

    private static void append(EmbeddedEngine engine, int from) {
        for (int record = from; record < from + CALLS; record++) {
            byte[] line = ("{\"id\":" + record % 50 + ",\"v\":1}\n").getBytes(StandardCharsets.UTF_8);
            engine.append("s", record, line, line.length);
        }
    }
}
