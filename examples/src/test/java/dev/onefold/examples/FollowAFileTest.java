package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FollowAFileTest {
    private static final String MARK = "// follow\n";

    @Test
    void an_application_follows_a_file_through_its_rotation(@TempDir Path folder) throws Exception {
        Pipeline pipeline = PipelineBuilder.named("values")
                .rollup(rollup -> rollup.sum("value", "Value", 18, 2))
                .build();
        Path directory = folder.resolve("data");
        Path log = folder.resolve("trades.log");
        Files.writeString(log, "{\"Value\":1}\n{\"Value\":2}\n");
        FollowAFile.run(directory, pipeline, log, engine -> {
            await(engine, 2);
            rotate(log);
            await(engine, 3);
        });
        try (EmbeddedEngine engine = EmbeddedEngine.read(directory, Settings.defaults())) {
            assertThat(engine.query(Query.all("main")).lines())
                    .extracting(line -> line.values().getFirst())
                    .containsExactly(new BigDecimal("7.00"));
        }
    }

    private static void await(EmbeddedEngine engine, long records) {
        long deadline = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (engine.counts().records() < records) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static void rotate(Path log) {
        try {
            Files.move(log, log.resolveSibling("trades.log.1"));
            Files.writeString(log, "{\"Value\":4}\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void the_page_of_the_first_hour_shows_the_lines_that_are_tested() {
        String file = Clone.text("examples/src/test/java/dev/onefold/examples/FollowAFile.java");
        int from = file.indexOf(MARK) + MARK.length();
        String tested =
                file.substring(from, file.indexOf(MARK, from)).stripIndent().stripTrailing();
        assertThat(Clone.text("docs/start.md")).contains("```java\n" + tested + "\n```");
    }
}
