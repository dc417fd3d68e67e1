package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.fakes.aws.VirtualTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Somebody at a terminal: what they call waits for its answer, while time passes and everybody else goes on. A thread
/// of its own, which runs only while the one that runs the time stands still; so equal seeds are equal runs.
final class Person implements AwsEngine.Await, AutoCloseable {
    private final VirtualTime time;
    private final Semaphore mine = new Semaphore(0);
    private final Semaphore theirs = new Semaphore(0);
    private boolean begun;
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
    static Person begin(VirtualTime time, Consumer<Person> life) {
        Person person = new Person(time);
        time.schedule(Duration.ZERO, () -> {
            if (!person.leaves) {
                person.begun = true;
                Thread.ofVirtual().start(() -> person.live(life));
                person.theirs.acquireUninterruptibly();
            }
        });
        return person;
    }

    private void live(Consumer<Person> life) {
        try {
            life.accept(this);
        } catch (Left left) {
            failure = null;
        } catch (RuntimeException | Error failed) {
            failure = failed;
        } finally {
            gone = true;
            theirs.release();
        }
    }

    /// Whether there is nothing more to do.
    boolean isGone() {
        return gone;
    }

    /// What ended this person and should not have; `null` if there is nothing.
    @Nullable
    Throwable failure() {
        return failure;
    }

    /// Waits; for the person alone.
    @Override
    public <T> T of(CompletableFuture<T> future) {
        if (!future.isDone()) {
            var _ = future.whenComplete((_, _) -> time.schedule(Duration.ZERO, this::goOn));
            theirs.release();
            mine.acquireUninterruptibly();
            if (leaves) {
                throw new Left();
            }
        }
        try {
            return future.join();
        } catch (CompletionException failed) {
            switch (failed.getCause()) {
                case RuntimeException unchecked -> throw unchecked;
                case Error error -> throw error;
                case null, default -> throw failed;
            }
        }
    }

    /// Does nothing for a while; for the person alone.
    void pause(Duration pause) {
        of(time.after(pause).thenApply(_ -> true));
    }

    private void goOn() {
        if (!gone) {
            mine.release();
            theirs.acquireUninterruptibly();
        }
    }

    /// Leaves in the middle of whatever it is; for the one that runs the time, and not from within the person.
    @Override
    public void close() {
        leaves = true;
        if (begun) {
            goOn();
        }
    }
}
