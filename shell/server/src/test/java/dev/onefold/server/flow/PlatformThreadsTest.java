package dev.onefold.server.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class PlatformThreadsTest {
    @Test
    void a_caller_who_is_interrupted_returns_when_the_work_has_ended_and_stays_interrupted() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicBoolean hasEnded = new AtomicBoolean();
        AtomicBoolean hadEnded = new AtomicBoolean();
        AtomicBoolean stayedInterrupted = new AtomicBoolean();
        try (PlatformThreads threads = new PlatformThreads("work-")) {
            Thread caller = Thread.ofVirtual().start(() -> {
                try {
                    threads.run(() -> {
                        begun.countDown();
                        try {
                            mayEnd.await();
                        } catch (InterruptedException e) {
                            return; // Then it has not ended as it should.
                        }
                        hasEnded.set(true);
                    });
                } catch (java.io.IOException e) {
                    return;
                } finally {
                    hadEnded.set(hasEnded.get());
                    stayedInterrupted.set(Thread.currentThread().isInterrupted());
                }
            });
            begun.await();
            caller.interrupt();
            while (caller.isInterrupted()) {
                Thread.onSpinWait(); // Until it has met the interrupt.
            }
            mayEnd.countDown();
            caller.join();
        }
        assertThat(hadEnded).isTrue();
        assertThat(stayedInterrupted).isTrue();
    }

    @Test
    void what_the_work_throws_its_caller_gets() {
        try (PlatformThreads threads = new PlatformThreads("work-")) {
            assertThatThrownBy(() -> threads.run(() -> {
                        throw new EOFException("gone");
                    }))
                    .isInstanceOf(EOFException.class);
            assertThatThrownBy(() -> threads.run(() -> {
                        throw new IllegalArgumentException("wrong");
                    }))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
