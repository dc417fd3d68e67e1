package dev.onefold.aws.stream;

import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.util.List;

/// A stream, as a replay reads it. Any thread may call.
sealed interface Shards permits KinesisShards, ChangeShards {
    /// Its name or ARN, for messages.
    String stream();

    /// All that it has not forgotten, closed ones, too.
    List<Shard> list(Store store);

    /// The records of one.
    Pages pages(String shard);

    /// How long it keeps records.
    Duration retention(Store store);

    /// Where a reading begins that is to miss nothing: the time of a record may be told less exactly than it was asked
    /// for.
    Position begin(Position from);

    /// A part of a stream.
    ///
    /// @param parents that it was split or merged from, or that it follows; they may be forgotten already
    record Shard(String id, List<String> parents) {
        public Shard {
            parents = List.copyOf(parents);
        }
    }
}
