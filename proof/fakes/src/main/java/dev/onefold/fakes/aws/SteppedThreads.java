package dev.onefold.fakes.aws;

import java.lang.reflect.Constructor;
import java.lang.reflect.InaccessibleObjectException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;

/// Virtual threads that run only when they are told to, one at a time: the caller's thread is their only carrier. Each
/// goes on until it waits, in the order in which they became ready. So equal orders to go on are equal runs, whatever
/// the machine does. A virtual thread that waits for ever is garbage.
public final class SteppedThreads implements Executor {
    private final Deque<Runnable> ready = new ArrayDeque<>();
    private final Thread.Builder.OfVirtual threads = threads(ready::add);

    /// The JDK's own builder of virtual threads takes a scheduler, but only from packages for which `java.lang` is
    /// open.
    private static Thread.Builder.OfVirtual threads(Executor scheduler) {
        try {
            Constructor<?> builder = Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
                    .getDeclaredConstructor(Executor.class);
            builder.setAccessible(true);
            return (Thread.Builder.OfVirtual) builder.newInstance(scheduler);
        } catch (ReflectiveOperationException | InaccessibleObjectException e) {
            throw new IllegalStateException(
                    "Virtual threads cannot be scheduled by this JDK, or java.lang is not open. Run JDK 25 with"
                            + " --add-opens java.base/java.lang=ALL-UNNAMED.",
                    e);
        }
    }

    /// Makes a thread that is ready to begin.
    @Override
    public void execute(Runnable task) {
        threads.start(task);
    }

    /// Lets each thread go on that can, until all wait or have ended.
    public void goOn() {
        for (Runnable next = ready.poll(); next != null; next = ready.poll()) {
            next.run();
        }
    }
}
