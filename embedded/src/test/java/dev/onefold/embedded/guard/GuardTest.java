package dev.onefold.embedded.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GuardTest {
    /// Held here, because the logging system holds a logger weakly.
    private static final Logger LOGGER = Logger.getLogger("dev.onefold.embedded");

    private final Guard guard = new Guard();
    private final List<LogRecord> logged = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            logged.add(record);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

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

    private static Supplier<Object> failing(RuntimeException failure) {
        return () -> {
            throw failure;
        };
    }

    @Test
    void a_broken_invariant_stops_the_engine_and_is_logged_once_without_the_record_that_it_quotes() {
        assertThatThrownBy(() -> guard.locked(failing(new NumberFormatException("For input string: \"secret\""))))
                .isInstanceOf(NumberFormatException.class);
        assertThatThrownBy(() -> guard.locked(() -> 1)).hasMessageContaining("The engine has stopped");
        assertThatThrownBy(() -> guard.beside(failing(new IllegalStateException("what follows"))))
                .isInstanceOf(IllegalStateException.class);
        assertThat(logged).singleElement().satisfies(record -> {
            assertThat(record.getLevel()).isEqualTo(Level.SEVERE);
            assertThat(record.getMessage())
                    .contains("An invariant broke", "NumberFormatException", "GuardTest")
                    .doesNotContain("secret");
        });
    }

    @Test
    void a_failed_disk_is_logged_with_its_file_and_a_refusal_is_not_logged() {
        EngineException refused =
                new EngineException(EngineException.Kind.ANSWER_REFUSED, "The answer has too many lines.");
        assertThatThrownBy(() -> guard.reading(failing(refused))).isSameAs(refused);
        assertThat(logged).isEmpty();
        assertThat(guard.<Integer>locked(() -> 1)).isEqualTo(1);
        EngineException failed =
                new EngineException(EngineException.Kind.STORAGE_FAILED, "journal-1 could not be forced.");
        assertThatThrownBy(() -> guard.locked(failing(failed))).isSameAs(failed);
        assertThat(logged)
                .singleElement()
                .satisfies(record -> assertThat(record.getMessage()).contains("journal-1 could not be forced."));
    }
}
