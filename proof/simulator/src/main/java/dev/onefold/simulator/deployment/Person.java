package dev.onefold.simulator.deployment;

import dev.onefold.aws.store.Threads;
import dev.onefold.fakes.aws.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Somebody at a terminal: what they call waits for its answer, while time passes and everybody else goes on.
public final class Person implements Threads, AutoCloseable {
    private final VirtualTime time;
    private final SortedMap<Long, CompletableFuture<?>> waits = new TreeMap<>();
    private long waited;
    private boolean leaves;
    private boolean gone;
    private @Nullable Throwable failure;

    /// Ends what a person does, wherever they are. Nothing but the end of the thread catches it.
    private static final class Left extends Error {
        private static final long serialVersionUID = 1L;

        Left() {
            super("The person has left", null, false, false);
        }
    }

    private Person(VirtualTime time) {
        this.time = time;
    }

    /// A person who begins as soon as time is run, and is gone when this is done.
    public static Person begin(VirtualTime time, Consumer<Person> life) {
        Person person = new Person(time);
        time.start(() -> person.live(life));
        return person;
    }

    private void live(Consumer<Person> life) {
        try {
            if (!leaves) {
                life.accept(this);
            }
        } catch (Left left) {
            failure = null;
        } catch (RuntimeException | Error failed) {
            failure = failed;
        } finally {
            gone = true;
        }
    }

    /// Whether there is nothing more to do.
    public boolean isGone() {
        return gone;
    }

    /// What ended this person and should not have; `null` if there is nothing.
    public @Nullable Throwable failure() {
        return failure;
    }

    @Override
    public void execute(Runnable task) {
        time.start(() -> {
            try {
                task.run();
            } catch (Left left) {
                gone = true;
            }
        });
    }

    @Override
    public void pause(Duration pause) {
        await(time.after(pause).thenApply(_ -> true));
    }

    @Override
    public <T> T await(CompletableFuture<T> answer) {
        if (leaves) {
            throw new Left();
        }
        CompletableFuture<T> wait = answer.copy();
        long number = waited++;
        waits.put(number, wait);
        try {
            return Threads.super.await(wait);
        } finally {
            waits.remove(number);
        }
    }

    /// Leaves in the middle of whatever it is.
    @Override
    public void close() {
        leaves = true;
        List.copyOf(waits.values()).forEach(wait -> wait.completeExceptionally(new Left()));
    }
}
