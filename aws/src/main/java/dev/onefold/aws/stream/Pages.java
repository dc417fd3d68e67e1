package dev.onefold.aws.stream;

import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.kinesis.model.ShardIteratorType;

/// One shard, page by page, as its service gives it. Each call makes one request. Any thread may call.
interface Pages {
    /// An iterator for a place in the shard.
    ///
    /// @param type as Kinesis names it
    /// @param sequence of the record, for the types that have one
    /// @param time for [ShardIteratorType#AT_TIMESTAMP]; a service that knows no times begins at the oldest record
    CompletableFuture<String> iterator(ShardIteratorType type, @Nullable String sequence, @Nullable Instant time);

    /// Where a reading begins: at a record or a time.
    default CompletableFuture<String> at(Position position) {
        return switch (position) {
            case Position.Sequence(var number) -> iterator(ShardIteratorType.AT_SEQUENCE_NUMBER, number, null);
            case Position.Time(var at) -> iterator(ShardIteratorType.AT_TIMESTAMP, null, at);
        };
    }

    /// Behind a record.
    default CompletableFuture<String> after(String sequence) {
        return iterator(ShardIteratorType.AFTER_SEQUENCE_NUMBER, sequence, null);
    }

    /// At the oldest record that the stream has not forgotten.
    default CompletableFuture<String> oldest() {
        return iterator(ShardIteratorType.TRIM_HORIZON, null, null);
    }

    /// Reads the page at an iterator.
    CompletableFuture<Page> read(String iterator);
}
