package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The log says which new dead letters there are and where the first lies, and nothing of a record.
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
            synchronized (logged) {
                logged.add(record.getLevel() + " " + record.getMessage());
                logged.notifyAll();
            }
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

    private void awaitLines(int count) throws InterruptedException {
        synchronized (logged) {
            for (long end = System.nanoTime() + 30_000_000_000L; logged.size() < count; ) {
                long left = (end - System.nanoTime()) / 1_000_000;
                assertThat(left).as("milliseconds left; logged: " + logged).isPositive();
                logged.wait(left);
            }
        }
    }

    @Test
    void new_letters_have_one_line_within_seconds_with_reasons_and_the_place_of_the_first() throws Exception {
        try (EmbeddedEngine engine = open()) {
            engine.append("lines", List.of("{\"k\":\"1\",\"v\":1}"));
            engine.append("a\nb", List.of("{\"k\":\"2\",\"v\":1}", "{\"k\":\"secret\"}", "{"));
            engine.append("lines", List.of("{\"k\":\"4\"}"));
            awaitLines(1);
            assertThat(logged)
                    .containsExactly("WARNING New dead letters of pipeline p: 1 malformed, 2 refused; the first is 1,"
                            + " line 2 of a\\nb, at offset 16");
        }
        assertThat(logged).hasSize(1);
    }

    @Test
    void letters_are_logged_when_the_engine_is_closed_and_not_again_by_the_next_one() {
        try (EmbeddedEngine engine = open()) {
            engine.append("lines", List.of("{\"k\":\"3\"}"));
        }
        String line = "WARNING New dead letters of pipeline p: 1 refused; the first is 1, line 1 of lines, at offset 0";
        assertThat(logged).containsExactly(line);
        try (EmbeddedEngine engine = open()) {
            engine.deadLetters().redrive(1, null); // It is rejected again, and is no new one.
        }
        assertThat(logged).containsExactly(line);
    }

    @Test
    void letters_since_the_last_checkpoint_are_logged_after_a_crash(@TempDir Path copies) throws Exception {
        Path copy = copies.resolve("copy");
        try (EmbeddedEngine engine = open()) {
            engine.checkpointNow();
            engine.append("lines", List.of("{\"k\":\"3\"}"));
            try (Stream<Path> files = Files.walk(data)) {
                for (Path each :
                        files.filter(file -> !file.endsWith("engine.socket")).toList()) {
                    Files.copy(each, copy.resolve(data.relativize(each)));
                }
            }
        }
        EmbeddedEngine.read(copy, Settings.defaults()).close();
        assertThat(logged).as("a reader logs nothing").hasSize(1);
        EmbeddedEngine.open(copy, PIPELINE, Settings.defaults()).close();
        assertThat(logged).hasSize(2).containsOnly(logged.getFirst());
    }
}
