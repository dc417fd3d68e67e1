package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.Connection;
import dev.onefold.core.keyed.StepFunction.OverrunException;
import dev.onefold.core.keyed.Steps.Seen;
import dev.onefold.process.Step;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class BoundedCallsTest {
    @Test
    void hazard_69_a_call_that_does_not_return_is_left_alone_and_the_next_one_has_another_thread() {
        BoundedCalls calls = new BoundedCalls(Duration.ofMillis(50), 2);
        CountDownLatch never = new CountDownLatch(1);
        assertThatThrownBy(() -> calls.call(() -> {
                    while (never.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                    return Step.to(new Seen(0, 0));
                }))
                .isInstanceOf(OverrunException.class);
        Step<Seen> step = Step.to(new Seen(1, 1));
        assertThat(new BoundedCalls(Duration.ofMinutes(1), 2).call(() -> step)).isSameAs(step);
        assertThatThrownBy(() -> calls.call(() -> {
                    throw new IllegalArgumentException("no");
                }))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("no");
        never.countDown();
    }

    @Test
    void hazard_69_a_process_with_too_many_calls_that_do_not_return_is_to_end() throws InterruptedException {
        BoundedCalls calls = new BoundedCalls(Duration.ofMillis(5), 2);
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(BoundedCalls.LEFT_MAX);
        for (int i = 0; i < BoundedCalls.LEFT_MAX; i++) {
            assertThatThrownBy(() -> calls.call(() -> {
                        while (never.getCount() > 0) {
                            Thread.onSpinWait();
                        }
                        ended.countDown();
                        return Step.to(new Seen(0, 0));
                    }))
                    .isInstanceOf(OverrunException.class);
        }
        assertThat(BoundedCalls.isFull()).isTrue();
        never.countDown();
        ended.await();
        while (BoundedCalls.isFull()) { // The last of them is about to return.
            Thread.onSpinWait();
        }
    }

    private record Ended(int exitCode, String said) {}

    private static Ended child(int stuck) throws IOException, InterruptedException {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        StuckChild.class.getName(),
                        Integer.toString(stuck))
                .redirectErrorStream(true)
                .start();
        String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(child.waitFor(), said);
    }

    @Test
    void hazard_69_a_process_with_eight_calls_that_do_not_return_ends_without_an_answer()
            throws IOException, InterruptedException {
        Ended seven = child(BoundedCalls.LEFT_MAX - 1);
        assertThat(seven).isEqualTo(new Ended(0, "{\"batchItemFailures\":[]}"));
        Ended eight = child(BoundedCalls.LEFT_MAX);
        assertThat(eight.exitCode()).isEqualTo(1);
        assertThat(eight.said())
                .contains("ERROR 8 calls of the function have not returned")
                .doesNotContain("batchItemFailures");
    }

    @Test
    void of_a_thousand_keys_no_more_run_at_once_than_there_are_processors_and_the_wait_for_them_is_nobodys_second() {
        BoundedCalls calls = new BoundedCalls(Duration.ofSeconds(1), 2);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Step<?>> answers = Connection.THREADS.all(
                1_000,
                _ -> calls.call(() -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    LockSupport.parkNanos(Duration.ofMillis(3).toNanos());
                    running.decrementAndGet();
                    return Step.to(new Seen(1, 1));
                }));
        assertThat(answers).hasSize(1_000);
        assertThat(most).hasValueLessThanOrEqualTo(2);
    }
}
