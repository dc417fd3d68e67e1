package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The log says where the first new dead letter of a checkpoint lies, and nothing of the record.
class LoggedLettersTest {
    /// Held here, because the logging system holds a logger weakly.
    private static final Logger LOGGER = Logger.getLogger("dev.onefold.embedded.letters");

    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .key("k")
            .version("v")
            .rollup(rollup -> rollup.count("n"))
            .build();

    private final List<String> logged = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            logged.add(record.getLevel() + " " + record.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @TempDir
    private Path data;

    @BeforeEach
    void listen() {
        LOGGER.addHandler(handler);
        LOGGER.setUseParentHandlers(false);
    }

    @AfterEach
    void stopListening() {
        LOGGER.removeHandler(handler);
        LOGGER.setUseParentHandlers(true);
    }

    private EmbeddedEngine open() {
        return EmbeddedEngine.open(data, PIPELINE, Settings.defaults());
    }

    @Test
    void each_checkpoint_with_new_letters_has_one_line_with_the_place_of_the_first() {
        try (EmbeddedEngine engine = open()) {
            engine.append("lines", List.of("{\"k\":\"1\",\"v\":1}"));
            engine.checkpointNow();
            assertThat(logged).isEmpty();
            engine.append("a\nb", List.of("{\"k\":\"2\",\"v\":1}", "{\"k\":\"secret\"}", "{"));
            engine.checkpointNow();
            assertThat(logged)
                    .containsExactly("WARNING Dead letter 1, refused, is line 2 of a\\nb, at byte 16;"
                            + " there are others up to number 2");
            engine.checkpointNow();
            assertThat(logged).hasSize(1);
        }
        try (EmbeddedEngine engine = open()) {
            engine.append("lines", List.of("{\"k\":\"3\"}"));
        }
        assertThat(logged)
                .hasSize(2)
                .last()
                .isEqualTo("WARNING Dead letter 3, refused, is line 2 of lines, at byte 16");
        open().close();
        assertThat(logged).hasSize(2);
    }
}
