package dev.onefold.embedded.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class GuardTest {
    /// Held here, because the logging system holds a logger weakly.
    private static final Logger LOGGER = Logger.getLogger("dev.onefold.embedded");

    private final Guard guard = new Guard(true);
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

    private static void awaitWaiting(Thread thread) {
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }

    @Test
    @Timeout(30)
    void hazard_88_a_change_waits_for_at_most_one_of_the_readers_that_were_there_before_it()
            throws InterruptedException {
        List<String> order = new CopyOnWriteArrayList<>();
        List<Thread> threads = new ArrayList<>();
        guard.locked(() -> {
            for (int i = 0; i < 20; i++) {
                threads.add(Thread.ofPlatform().start(() -> guard.reading(() -> order.add("reader"))));
                awaitWaiting(threads.getLast());
            }
            threads.add(Thread.ofPlatform().start(() -> guard.locked(() -> order.add("change"))));
            awaitWaiting(threads.getLast());
            return true;
        });
        for (Thread each : threads) {
            each.join();
        }
        assertThat(order).hasSize(21);
        assertThat(order.indexOf("change")).isLessThan(2);
    }

    @Test
    @Timeout(30)
    void hazard_88_a_virtual_thread_without_a_carrier_keeps_the_lock_from_nobody() throws InterruptedException {
        AtomicBoolean isOver = new AtomicBoolean();
        List<Thread> busy = new ArrayList<>();
        CountDownLatch carriers = new CountDownLatch(Runtime.getRuntime().availableProcessors());
        Thread reader = guard.locked(() -> {
            Thread waiting = Thread.ofVirtual().start(() -> guard.reading(() -> true));
            awaitWaiting(waiting);
            for (long i = carriers.getCount(); i > 0; i--) {
                busy.add(Thread.ofVirtual().start(() -> {
                    carriers.countDown();
                    while (!isOver.get()) {
                        Thread.onSpinWait();
                    }
                }));
            }
            return waiting;
        });
        carriers.await();
        try {
            assertThat(CompletableFuture.supplyAsync(
                            () -> guard.<Boolean>locked(() -> true),
                            task -> Thread.ofPlatform().daemon().start(task)))
                    .succeedsWithin(Duration.ofSeconds(5));
        } finally {
            isOver.set(true);
        }
        for (Thread each : busy) {
            each.join();
        }
        reader.join();
    }

    @Test
    void what_is_published_behind_changes_is_there_when_a_change_has_returned() {
        AtomicInteger state = new AtomicInteger();
        AtomicInteger published = new AtomicInteger();
        guard.behindChanges(() -> published.set(state.get()));
        guard.locked(state::incrementAndGet);
        assertThat(published).hasValue(1);
        guard.reading(state::incrementAndGet);
        assertThat(published).as("a reader changes nothing").hasValue(1);
    }
}
