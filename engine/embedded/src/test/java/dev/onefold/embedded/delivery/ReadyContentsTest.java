package dev.onefold.embedded.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.embedded.batches.Sealed;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The making of a content that several threads need.
@Timeout(60)
class ReadyContentsTest {
    private static final int ASKERS = 4;

    private final AtomicInteger begun = new AtomicInteger();
    private final CountDownLatch mayEnd = new CountDownLatch(1);

    private static Contents.Prepared made(BatchNumber number) {
        return new Contents.Prepared(
                new Sealed(number.number(), 0, 1, 1, 1, 0, 0, 0, 0), "hash", 1, 1, InputStream::nullInputStream);
    }

    /// A maker that ends when the test lets it end.
    private Contents.Prepared make(BatchNumber number) {
        begun.incrementAndGet();
        try {
            mayEnd.await();
        } catch (InterruptedException e) {
            throw new EngineException(EngineException.Kind.STOPPED, "interrupted");
        }
        return made(number);
    }

    /// A thread that asks.
    private record Asker<T>(Thread thread, FutureTask<T> answer) {
        static <T> Asker<T> of(Callable<T> question) {
            FutureTask<T> answer = new FutureTask<>(question);
            return new Asker<>(Thread.ofPlatform().daemon().start(answer), answer);
        }

        Asker<T> waits() {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            return this;
        }
    }

    @Test
    void a_content_that_many_threads_need_whole_or_for_its_hash_is_made_once() throws Exception {
        ReadyContents ready = new ReadyContents((number, _) -> make(number), true);
        ready.makeAhead(7, 7, Runnable::run, () -> {});
        List<Asker<String>> askers = IntStream.range(0, ASKERS)
                .mapToObj(i -> Asker.of(() -> i % 2 == 0
                        ? ready.hash(7)
                        : ready.get(BatchNumber.of(7), null).sha256()))
                .toList();
        askers.forEach(Asker::waits);
        mayEnd.countDown();
        for (Asker<String> asker : askers) {
            assertThat(asker.answer.get()).isEqualTo("hash");
        }
        assertThat(begun).hasValue(1);
        ready.close(10);
    }

    @Test
    void a_content_that_could_not_be_made_fails_for_all_who_wait_and_is_made_again_for_the_next_caller()
            throws Exception {
        OutOfMemoryError failure = new OutOfMemoryError("too small");
        ReadyContents ready = new ReadyContents(
                (number, _) -> {
                    Contents.Prepared made = make(number);
                    if (begun.get() == 1) {
                        throw failure;
                    }
                    return made;
                },
                false);
        List<Asker<String>> askers = IntStream.range(0, ASKERS)
                .mapToObj(_ -> Asker.of(() -> ready.hash(7)))
                .toList();
        askers.forEach(Asker::waits);
        mayEnd.countDown();
        for (Asker<String> asker : askers) {
            assertThatThrownBy(asker.answer::get)
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isSameAs(failure);
        }
        assertThat(begun).hasValue(1);
        assertThat(ready.hash(7)).isEqualTo("hash");
        assertThat(begun).hasValue(2);
    }

    @Test
    void a_thread_that_is_interrupted_while_it_waits_stops_and_the_maker_goes_on() throws Exception {
        ReadyContents ready = new ReadyContents((number, _) -> make(number), false);
        Asker<String> maker = Asker.of(() -> ready.hash(7)).waits();
        Asker<String> other = Asker.of(() -> ready.hash(7)).waits();
        other.thread.interrupt();
        assertThatThrownBy(other.answer::get)
                .cause()
                .isInstanceOfSatisfying(
                        EngineException.class,
                        stopped -> assertThat(stopped.kind()).isEqualTo(EngineException.Kind.STOPPED));
        mayEnd.countDown();
        assertThat(maker.answer.get()).isEqualTo("hash");
        assertThat(begun).hasValue(1);
    }

    @Test
    void a_content_whose_turn_among_those_made_ahead_has_not_come_is_made_by_the_thread_that_needs_it() {
        ReadyContents ready = new ReadyContents((number, _) -> make(number), true);
        int makers = Runtime.getRuntime().availableProcessors();
        ready.makeAhead(1, makers + 1, Runnable::run, () -> {}); // All makers are busy with those before the last.
        while (begun.get() < makers) {
            Thread.onSpinWait();
        }
        Asker<Contents.Prepared> asker =
                Asker.of(() -> ready.get(BatchNumber.of(makers + 1), null)).waits();
        assertThat(begun).hasValue(makers + 1);
        mayEnd.countDown();
        ready.close(10);
        assertThat(asker.answer).succeedsWithin(Duration.ofSeconds(50));
    }

    @Test
    void a_content_for_which_there_was_no_thread_is_made_at_the_next_turn() throws InterruptedException {
        CountDownLatch isMade = new CountDownLatch(1);
        AtomicInteger tries = new AtomicInteger();
        ExecutorService threads = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>()) {
            @Override
            public void execute(Runnable task) {
                if (tries.getAndIncrement() == 0) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
                super.execute(task);
            }
        };
        ReadyContents contents = new ReadyContents((number, _) -> made(number), threads);
        assertThatThrownBy(() -> contents.makeAhead(1, 1, Runnable::run, isMade::countDown))
                .isInstanceOf(OutOfMemoryError.class);
        contents.makeAhead(1, 1, Runnable::run, isMade::countDown);
        isMade.await();
        assertThat(contents.has(1)).isTrue();
        contents.close(1);
    }
}
