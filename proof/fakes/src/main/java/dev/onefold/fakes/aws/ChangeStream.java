package dev.onefold.fakes.aws;

import dev.onefold.fakes.aws.table.Change;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.IntStream;

/// The changes of one table, in shards: the changes of one item are in one shard and in order; nothing else has an
/// order. What is older than 24 hours is forgotten, read or not.
public final class ChangeStream {
    private static final Duration AGE_MAX = Duration.ofHours(24);

    private final InstantSource clock;
    private final List<NavigableMap<Long, Change>> shards;

    ChangeStream(InstantSource clock, int shards) {
        this.clock = clock;
        this.shards = IntStream.range(0, shards)
                .<NavigableMap<Long, Change>>mapToObj(_ -> new TreeMap<>())
                .toList();
    }

    void add(Change change) {
        NavigableMap<Long, Change> changes = shards.get(change.place().part(shards.size()));
        forget(changes);
        changes.put(change.number(), change);
    }

    private void forget(NavigableMap<Long, Change> changes) {
        while (!changes.isEmpty()
                && changes.firstEntry().getValue().at().plus(AGE_MAX).isBefore(clock.instant())) {
            changes.pollFirstEntry();
        }
    }

    public int shards() {
        return shards.size();
    }

    /// The next changes of a shard, at most so many.
    ///
    /// @param number of the last change that was read; 0 at the beginning
    public List<Change> read(int shard, long number, int countMax) {
        NavigableMap<Long, Change> changes = shards.get(shard);
        forget(changes);
        return changes.tailMap(number, false).values().stream().limit(countMax).toList();
    }
}
