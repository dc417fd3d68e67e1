package dev.onefold.aws.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.Connection;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ThreadsTest {
    private static final Threads THREADS = Connection.THREADS;

    @Test
    void what_is_done_at_once_is_under_way_at_once_and_comes_in_its_order() {
        CountDownLatch begun = new CountDownLatch(100);
        assertThat(THREADS.all(100, i -> {
                    begun.countDown();
                    try {
                        begun.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return i;
                }))
                .hasSize(100)
                .isSorted();
        assertThat(THREADS.all(List.of(), i -> i)).isEmpty();
    }

    @Test
    void a_failure_is_thrown_as_it_is_when_the_others_are_done() {
        AtomicInteger done = new AtomicInteger();
        CompletableFuture<Boolean> failed = new CompletableFuture<>();
        assertThatThrownBy(() -> THREADS.each(10, i -> {
                    if (i == 3) {
                        failed.complete(true);
                        throw new IllegalArgumentException("3");
                    }
                    failed.join();
                    done.incrementAndGet();
                }))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("3");
        assertThat(done).hasValue(9);
    }

    @Test
    void an_answer_that_does_not_come_is_thrown_for_its_own_reason() {
        CompletableFuture<String> refused =
                CompletableFuture.failedFuture(new CompletionException(new IllegalStateException("refused")));
        assertThatThrownBy(() -> THREADS.await(refused.thenApply(String::trim)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("refused");
        assertThatThrownBy(() -> THREADS.await(CompletableFuture.failedFuture(new IOException("checked"))))
                .isInstanceOf(CompletionException.class)
                .hasRootCauseMessage("checked");
    }
}
