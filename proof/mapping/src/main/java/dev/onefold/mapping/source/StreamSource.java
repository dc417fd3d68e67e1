package dev.onefold.mapping.source;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// A stream, as a mapping reads it. Answers may come on any thread. A position that the stream has forgotten gives the
/// oldest record that it has; an iterator that it has forgotten fails with [ForgottenIterator].
public interface StreamSource {
    /// Of the stream; events name it.
    String arn();

    /// The member of a failure's message that says where its records are.
    String batchInfo();

    /// How often a shard is asked that had nothing more to give.
    Duration pollInterval();

    /// All shards that the stream knows, closed ones, too.
    CompletableFuture<List<Shard>> shards();

    /// Where to go on reading.
    CompletableFuture<String> iterator(String shardId, Position position);

    /// The next records.
    CompletableFuture<Page> records(String shardId, String iterator);

    /// A part of a stream.
    ///
    /// @param first sequence number of its records; under the same id, another one tells of another shard, of a
    ///     stream that was deleted and recreated
    /// @param parents that it was split or merged from; they may be forgotten already
    /// @param isClosed nothing comes into it any more
    record Shard(String id, String first, List<String> parents, boolean isClosed) {
        public Shard {
            parents = List.copyOf(parents);
        }
    }

    /// Where reading begins.
    sealed interface Position {
        /// At the oldest record.
        record TrimHorizon() implements Position {}

        /// At what comes from now on.
        record Latest() implements Position {}

        /// At the first record that came then or later; a table's stream does not know this.
        record AtTimestamp(Instant time) implements Position {}

        /// Behind a record.
        record After(String sequence) implements Position {}
    }

    /// What one request gave.
    ///
    /// @param next iterator of the next request; `null` at the end of a closed shard
    /// @param isBehind whether the shard had more
    record Page(List<StreamRecord> records, @Nullable String next, boolean isBehind) {
        public Page {
            records = List.copyOf(records);
        }
    }

    /// An iterator is too old, or points at what the stream has forgotten: it must be taken again.
    final class ForgottenIterator extends RuntimeException {
        ForgottenIterator(Throwable cause) {
            super(cause.getMessage(), cause);
        }
    }
}
