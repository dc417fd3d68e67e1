package dev.onefold.aws.store;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/// How a process waits for the services, and does several things at once: each of them on a virtual thread of its own.
/// A virtual thread that waits costs next to nothing, so all code is written as if one request followed the other.
/// A simulation lets its threads run one at a time, in its own time. Any thread may call.
public interface Threads extends Executor {
    /// Does nothing for a while.
    void pause(Duration pause);

    /// The time that passes, in nanoseconds since any moment.
    default long nanoTime() {
        return System.nanoTime();
    }

    /// Waits for an answer.
    ///
    /// @return the answer; if there is none, the reason is thrown as it is
    default <T> T await(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException failed) {
            Throwable cause = failed.getCause();
            while (cause instanceof CompletionException && cause.getCause() != null) {
                cause = cause.getCause();
            }
            switch (cause) {
                case RuntimeException unchecked -> throw unchecked;
                case Error error -> throw error;
                case null, default -> throw failed;
            }
        }
    }

    /// Does something with each item, with all of them at once, and waits until all are done.
    ///
    /// @return what each came to, in their order; if one has failed, its failure is thrown when all are done
    default <A, R> List<R> all(Collection<A> items, Function<? super A, ? extends R> action) {
        if (items.size() == 1) {
            return List.of(action.apply(items.iterator().next()));
        }
        List<CompletableFuture<R>> started = items.stream()
                .map(item -> CompletableFuture.<R>supplyAsync(() -> action.apply(item), this))
                .toList();
        await(CompletableFuture.allOf(started.toArray(CompletableFuture[]::new)));
        return started.stream().map(CompletableFuture::join).toList();
    }

    /// The same with the numbers from 0 to below `count`.
    default <R> List<R> all(int count, IntFunction<? extends R> action) {
        return all(IntStream.range(0, count).boxed().toList(), action::apply);
    }

    /// The same where nothing comes of it.
    default <A> void each(Collection<A> items, Consumer<? super A> action) {
        all(items, item -> {
            action.accept(item);
            return true;
        });
    }

    /// The same with the numbers from 0 to below `count`.
    default void each(int count, IntConsumer action) {
        each(IntStream.range(0, count).boxed().toList(), action::accept);
    }
}
