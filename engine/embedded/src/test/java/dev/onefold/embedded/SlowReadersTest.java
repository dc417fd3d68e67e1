package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Readers that have asked for an answer and do not take it.
class SlowReadersTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .id("id")
            .rollup("main", r -> r.levels("id").count("events"))
            .build();
    private static final int GROUPS = 10_000; // More than the buffers of a socket take.
    private static final int READERS = 16; // As many answers as there may be.

    @TempDir
    Path directory;

    @Test
    void readers_that_read_nothing_do_not_keep_others_from_their_answers() throws Exception {
        List<SocketChannel> readers = new ArrayList<>();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, PIPELINE, Settings.defaults())) {
            engine.append(
                    "s",
                    IntStream.range(0, GROUPS)
                            .mapToObj(i -> "{\"id\":" + i + "}")
                            .toList());
            try {
                for (int i = 0; i < READERS; i++) {
                    SocketChannel reader =
                            SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve("engine.socket")));
                    readers.add(reader);
                    reader.write(
                            ByteBuffer.wrap("GET /v1/p/totals HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
                    assertThat(reader.read(ByteBuffer.allocate(1)))
                            .as("the answer has begun")
                            .isEqualTo(1);
                }
                assertThat(engine.query(Query.all("main")).lines()).hasSize(GROUPS + 1);
            } finally {
                for (SocketChannel reader : readers) {
                    reader.close();
                }
            }
        }
    }
}
