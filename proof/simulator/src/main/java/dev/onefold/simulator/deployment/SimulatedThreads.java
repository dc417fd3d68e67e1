package dev.onefold.simulator.deployment;

import dev.onefold.aws.store.Threads;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.VirtualTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/// The threads of a process in virtual time. When the process is killed, none of them goes on. A test, which is on no
/// such thread, waits by letting time pass.
record SimulatedThreads(VirtualTime time, SimulatedClient process) implements Threads {
    @Override
    public void execute(Runnable task) {
        time.start(task);
    }

    @Override
    public void pause(Duration pause) {
        await(process.after(pause).thenApply(_ -> true));
    }

    @Override
    public <T> T await(CompletableFuture<T> answer) {
        return Thread.currentThread().isVirtual() ? Threads.super.await(answer) : time.runUntil(answer);
    }
}
