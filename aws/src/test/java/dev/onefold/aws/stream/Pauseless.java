package dev.onefold.aws.stream;

import dev.onefold.aws.Connection;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.Threads;
import java.time.Duration;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

/// The threads of this machine, which never pause.
final class Pauseless implements Threads {
    static final Threads THREADS = new Pauseless();

    /// The same tables by another client, with pauses that take no time.
    static Store store(Store store, DynamoDbAsyncClient client) {
        return new Store(client, store.tables(), THREADS, store.random(), store.clock()).with(store.bucket());
    }

    @Override
    public void execute(Runnable task) {
        Connection.THREADS.execute(task);
    }

    @Override
    public void pause(Duration pause) {
        Thread.onSpinWait();
    }
}
