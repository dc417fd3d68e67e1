package dev.onefold.aws.stream;

import dev.onefold.aws.Connection;
import dev.onefold.aws.store.Threads;
import java.time.Duration;

/// The threads of this machine, which never pause.
final class Pauseless implements Threads {
    static final Threads THREADS = new Pauseless();

    @Override
    public void execute(Runnable task) {
        Connection.THREADS.execute(task);
    }

    @Override
    public void pause(Duration pause) {
        Thread.onSpinWait();
    }
}
