package dev.onefold.aws.stream;

import java.util.concurrent.CompletableFuture;

/// One shard, page by page, as its service gives it. Each call makes one request. Any thread may call.
interface Pages {
    /// Where a reading begins: at a record or a time.
    CompletableFuture<String> at(Position position);

    /// Behind a record.
    CompletableFuture<String> after(String sequence);

    /// At the oldest record that the stream has not forgotten.
    CompletableFuture<String> oldest();

    /// What stands there.
    CompletableFuture<Page> read(String iterator);
}
